//! Predictions of whole sequences in raw units, from the trained network or from the runtime, and the score of a single
//! predicted value.

mod scored_value;
mod sequence;

pub use scored_value::central_probability;
pub(crate) use scored_value::{ScoredValue, is_normal};
pub(crate) use sequence::write_batch;
pub use sequence::{SequencePrediction, predict_by_network, predict_by_runtime};
