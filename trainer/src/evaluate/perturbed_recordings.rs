//! What evaluations with missing channels and with faults start from.

use quaver::checkpoint::Likelihood;

use super::selected_scores::ScoredTargets;
use crate::data::{Scaling, Sequence};

/// A model and recordings to perturb.
#[derive(Clone, Copy, Debug)]
pub struct PerturbedRecordings<'a> {
    /// Likelihood of the outputs.
    pub likelihood: Likelihood,
    /// Names of the inputs.
    pub input_names: &'a [String],
    /// Names of the targets; the same as those of the inputs for a model of its own inputs.
    pub target_names: &'a [String],
    /// Moments of training data.
    pub scaling: &'a Scaling,
    /// The recordings.
    pub sequences: &'a [Sequence],
    /// Seed of everything that is drawn: channels, places in time, noise.
    pub seed: u64,
}

impl<'a> PerturbedRecordings<'a> {
    /// Recordings with Gaussian outputs, for tests.
    #[cfg(test)]
    pub(super) fn gaussian(
        [input_names, target_names]: [&'a [String]; 2],
        scaling: &'a Scaling,
        sequences: &'a [Sequence],
    ) -> Self {
        let likelihood = Likelihood::Gaussian;
        PerturbedRecordings { likelihood, input_names, target_names, scaling, sequences, seed: 1 }
    }

    /// What predictions are scored against.
    pub(super) fn targets(&self) -> ScoredTargets<'a> {
        ScoredTargets {
            has_intervals: self.likelihood.is_normal(),
            names: self.target_names,
            scaler: &self.scaling.targets,
            sequences: self.sequences,
        }
    }

    /// Whether the model predicts its own inputs.
    pub(super) fn are_predicted(&self) -> bool {
        self.input_names == self.target_names
    }
}
