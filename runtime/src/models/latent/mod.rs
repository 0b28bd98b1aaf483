//! Models with latent variables: two networks, run as one stream.
//!
//! A stream's memory is `LatentState`, the inputs of its networks are `Inputs`. The steps that denoiser,
//! sampler and rollouts are made of are in `steps`.

mod average;
mod decoder_input;
mod denoiser;
mod embedded;
mod futures;
mod model;
mod network_inputs;
mod parts;
mod prior;
mod rollouts;
mod sampler;
mod saved;
mod state;
mod steps;

pub use denoiser::Denoiser;
pub use embedded::{EmbeddedLatent, is_denoiser, is_sampler};
pub use futures::Futures;
pub use model::LatentModel;
pub(super) use model::latent_words;
pub use parts::{KnownLatent, LoadedLatent};
pub use rollouts::Rollouts;
pub use sampler::{FeedMode, Sampler};
