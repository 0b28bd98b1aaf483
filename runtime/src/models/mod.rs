//! What a user holds: models with their streams.

mod input;
mod network;
mod prediction;
mod predictor;
mod state;
mod surprise;

#[cfg(test)]
mod tests;

pub use prediction::{Output, Prediction, Surprise};
pub use predictor::{Model, Predictor};
pub use state::State;
