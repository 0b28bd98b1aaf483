//! What a user holds: models with their streams.

mod input;
mod likelihood;
#[cfg(feature = "plain")]
mod network;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "packed")]
mod packed_state;
mod prediction;
mod predictor;
mod state;
mod surprise;

pub use prediction::{Output, Prediction, Surprise};
pub use predictor::{Model, Predictor};
pub use state::State;
