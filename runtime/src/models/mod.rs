//! What a user holds: models with their streams.

mod forward;
mod input;
mod latent;
mod likelihood;
mod model;
#[cfg(feature = "float")]
mod network;
mod outputs;
mod prediction;
mod predictor;
#[cfg(feature = "quantized")]
mod quantized;
#[cfg(feature = "quantized")]
mod quantized_state;
mod row_inputs;
mod state;
mod surprise;
mod words;

pub use latent::{Denoiser, FeedMode, LatentModel, Rollouts, Sampler};
pub use model::Model;
pub use prediction::{Output, Prediction, Surprise};
pub use predictor::Predictor;
pub use state::State;
