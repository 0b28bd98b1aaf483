//! From a trained net to a checkpoint, and what that costs.

mod constants;
mod contents;
mod cost;
mod instruction_weights;
mod instructions;
mod storage;

pub use constants::rust_constants;
pub use contents::contents;
pub use cost::{Cost, cost};
pub use instructions::{Instructions, generating_passes, instructions, latent_instructions};
pub use storage::{Storage, encode};
