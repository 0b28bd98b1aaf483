//! From a trained net to a checkpoint, and what that costs.

mod constants;
mod contents;
mod cost;
mod gram;
mod instruction_weights;
mod instructions;
mod latent;
mod storage;
mod variance_correction;

pub use constants::{latent_constants, rust_constants};
pub use contents::contents;
pub use cost::{Cost, cost};
pub use gram::usage;
pub use instructions::{Instructions, generative_passes, instructions, latent_instructions};
pub use latent::{LatentCost, LatentStorage, encode_latent, latent_cost};
pub(crate) use storage::PRICE_OF_SPEED;
pub use storage::{Storage, encode};
pub use variance_correction::variance_correction;
