//! Predictions of whole sequences in raw units, by the trained network or by the runtime, and the score of a
//! single predicted value; and sequences reduced to points and classes.

mod adaptive;
mod drawn;
mod entropy;
mod novelty;
mod reduction;
mod scored_value;
mod sequence;
mod step_score;

pub use adaptive::predict_adaptively;
pub use drawn::predict_by_draw;
pub(crate) use novelty::excess_distances;
pub use reduction::{ClassPredictions, Reduction, TaughtPrototypes, reduce_by_runtime};
pub(crate) use scored_value::ScoredValue;
pub use scored_value::central_probability;
pub(crate) use sequence::write_batch;
pub use sequence::{SequencePrediction, predict_by_network, predict_by_runtime, predict_observing};
pub use step_score::StepScore;
pub(crate) use step_score::class_entropy;
