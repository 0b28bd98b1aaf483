//! From a trained net to a checkpoint, and what that costs.

mod constants;
mod contents;
mod cost;
mod instruction_weights;
mod instructions;
mod latent;

pub use constants::{latent_constants, rust_constants};
pub use contents::contents;
pub use cost::{Cost, cost};
pub use instructions::{Instructions, instructions};
pub use latent::{LatentCost, LatentStorage, encode_latent, latent_cost};
