//! Models with latent variables: two networks, run as one stream.
//!
//! A stream's memory is `LatentState`, the inputs of its networks are `Inputs`. The steps that denoiser,
//! sampler and rollouts are made of are in `steps`.

mod average;
mod decoder_input;
mod denoiser;
mod futures;
mod model;
mod network_inputs;
mod prior;
mod rollouts;
mod sampler;
mod saved;
mod state;
mod steps;

pub use denoiser::Denoiser;
pub use futures::Futures;
pub use model::LatentModel;
pub(super) use model::latent_words;
pub use rollouts::Rollouts;
pub use sampler::{FeedMode, Sampler};
