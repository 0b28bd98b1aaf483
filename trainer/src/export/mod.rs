//! From a trained net to a checkpoint, and what that costs.

mod constants;
mod contents;
mod cost;
mod instruction_weights;
mod instructions;
mod latent;
mod matching;
mod storage;
mod usage;

pub use constants::{latent_constants, rust_constants};
pub use contents::contents;
pub use cost::{Cost, cost};
pub use instructions::{Instructions, generating_passes, instructions, latent_instructions};
pub use latent::{LatentCost, LatentStorage, encode_latent, latent_cost};
pub use matching::matching_factors;
pub(crate) use storage::PRICE_OF_SPEED;
pub use storage::{Storage, encode};
pub use usage::usage;
