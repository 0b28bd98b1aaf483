//! Adaptation on the device: the output layer learns from labelled samples while the model runs.
//!
//! The layers stay as exported. A correction of the outputs, linear in the units of the last layer, is
//! learned by recursive Bayesian regression in f32.

mod covariance;
mod options;
mod predictor;
mod readout;
mod saved;

pub use covariance::Covariance;
pub use options::AdaptOptions;
pub use predictor::AdaptivePredictor;
pub(super) use readout::readout_words;
