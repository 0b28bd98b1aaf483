//! Scores of classifications: what was predicted for labelled samples, by a model or a baseline.

mod confusion;
mod known;
mod rejection;
mod reliability;
mod rows;
mod scores;
#[cfg(test)]
mod tests;

pub use confusion::{ClassScore, ConfusionMatrix};
pub use known::{KnownScores, known_scores};
pub use rejection::{RejectionPoint, rejection_curve};
pub use reliability::{Reliability, ReliabilityBin, reliability};
pub use rows::row_class_scores;
pub use scores::{ClassificationScores, Classified, PROBABILITY_FLOOR, class_nlls, most_probable};
