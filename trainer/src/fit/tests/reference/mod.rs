//! The training objective once more, one number at a time from the equations: what gradients are compared
//! with.
//!
//! Nothing is shared with the trainer but the descriptions of the net and of the method. In f64, its
//! differences are good to ten digits, so that a gradient is not held to the rounding of a loss; in numbers
//! that Burn records, its derivatives come from plain autodiff.

mod activation;
mod head;
mod network;
mod number;

use std::collections::BTreeMap;

use quaver::checkpoint::ModelSpec;

use self::activation::MomentsOfActivation;
pub(crate) use self::activation::{fitted, printed};
use self::number::Number;
pub(crate) use self::number::Recorded;
use crate::data::batch::Batch;
use crate::nn::{Parameters, TrainingMethod};

/// Mean and variance.
pub(crate) type Pair<N> = (N, N);

/// A net with its parameters.
#[derive(Clone)]
pub(crate) struct Reference<'a, N> {
    spec: &'a ModelSpec,
    method: TrainingMethod,
    activation_moments: MomentsOfActivation<N>,
    /// The parameters by name.
    pub(crate) values: BTreeMap<String, Vec<N>>,
}

impl<'a, N: Number> Reference<'a, N> {
    /// `number` turns every parameter into a number to differentiate by.
    pub(crate) fn new(
        spec: &'a ModelSpec,
        parameters: &Parameters,
        activation_moments: MomentsOfActivation<N>,
        number: impl Fn(f32) -> N,
    ) -> Self {
        let values = parameters
            .tensors
            .iter()
            .map(|tensor| (tensor.name.clone(), tensor.values.iter().map(|value| number(*value)).collect()));
        Reference { spec, method: parameters.method, activation_moments, values: values.collect() }
    }

    /// Nats per time step that counts, and the weights' divergence from their prior divided by
    /// `observations`.
    pub(crate) fn objective(&self, batch: &Batch, observations: usize) -> N {
        let outputs = usize::from(self.spec.outputs);
        let steps = batch.mask.chunks(outputs).filter(|row| row.contains(&1.0)).count();
        let rows = (0..batch.rows).map(|row| self.row_loss(batch, row));
        let loss = rows.fold(N::constant(0.0), |sum, loss| sum + loss) / N::constant(steps as f64);
        match self.divergence() {
            Some(divergence) => loss + divergence / N::constant(observations as f64),
            None => loss,
        }
    }

    /// The loss of one sequence, summed over its steps.
    fn row_loss(&self, batch: &Batch, row: usize) -> N {
        let outputs = usize::from(self.spec.outputs);
        let mut sum = N::constant(0.0);
        for (step, output) in self.run(batch, row).into_iter().enumerate() {
            let at = (step * batch.rows + row) * outputs;
            let (targets, mask) = (&batch.targets[at..][..outputs], &batch.mask[at..][..outputs]);
            sum = sum + self.step_loss(&output, targets, mask);
        }
        sum
    }

    /// Σ ln(σ̃/σ) + (σ² + (μ − μ̃)²)/(2σ̃²) − ½ over all weights that are distributions (Bayer 2015, thesis,
    /// 2.6.2).
    fn divergence(&self) -> Option<N> {
        let (prior_mean, prior_log_var) = (self.number("prior.mean")?, self.number("prior.log_var")?);
        let half = N::constant(0.5);
        let mut sum = N::constant(0.0);
        for (name, means) in &self.values {
            let Some(logs) = self.values.get(&format!("{name}_log_var")) else { continue };
            for (mean, log_var) in means.iter().zip(logs) {
                let away = (mean.clone() - prior_mean.clone()).squared();
                let spread = (log_var.clone().exp() + away) / prior_log_var.clone().exp();
                let term = prior_log_var.clone() - log_var.clone() + spread - N::constant(1.0);
                sum = sum + half.clone() * term;
            }
        }
        Some(sum)
    }

    fn number(&self, name: &str) -> Option<N> {
        self.values.get(name).map(|values| values[0].clone())
    }
}
