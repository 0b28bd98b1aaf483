//! Models with latent variables: two networks, run as one stream.
//!
//! A stream's memory is [`LatentState`]; what goes from it into a network is [`Inputs`]. The steps that denoiser, sampler and
//! fan are made of are in `steps`.

mod average;
mod denoiser;
mod fan;
mod fed;
mod inputs;
mod model;
mod sampler;
mod saved;
mod state;
mod steps;

pub use denoiser::Denoiser;
pub use fan::Fan;
pub(super) use fed::Fed;
pub use model::LatentModel;
pub use sampler::{Feedback, Sampler};
