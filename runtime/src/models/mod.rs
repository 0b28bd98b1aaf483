//! What a user holds: models with their streams.

mod forward;
mod input;
mod latent;
mod likelihood;
mod model;
#[cfg(feature = "plain")]
mod network;
mod outputs;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "packed")]
mod packed_state;
mod prediction;
mod predictor;
mod row_inputs;
mod state;
mod surprise;
mod words;

pub use latent::{Denoiser, Fan, Feedback, LatentModel, Sampler};
pub use model::Model;
pub use prediction::{Output, Prediction, Surprise};
pub use predictor::Predictor;
pub use state::State;
