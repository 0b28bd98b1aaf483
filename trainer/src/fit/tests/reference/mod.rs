//! The training objective once more, one number at a time from the equations: what gradients are compared
//! with.
//!
//! Nothing is shared with the trainer but the descriptions of the net and of the method. In f64, its
//! differences are good to ten digits, so that a gradient is not held to the rounding of a loss; in numbers
//! that Burn records, its derivatives come from plain autodiff.

mod activation;
mod divergence;
mod head;
mod network;
mod number;

use std::collections::BTreeMap;

use quaver::checkpoint::ModelSpec;

pub(crate) use self::activation::{MomentsOfActivation, fitted, printed};
pub(crate) use self::number::{Number, Recorded};
use crate::data::batch::Batch;
use crate::nn::{NamedTensor, Parameters, TrainingMethod, WeightSample};

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
    /// The lists of a draw of the weights by the names of their means, if weights are drawn.
    draw: BTreeMap<String, DrawnList>,
}

/// The constants of a draw of a list of weights.
#[derive(Clone, Default)]
struct DrawnList {
    noise: Vec<f32>,
    /// σ₀²g_φ, ε₀ and σ₀.
    sharpened: Option<(Vec<f32>, Vec<f32>, f32)>,
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
        let draw = BTreeMap::new();
        Reference { spec, method: parameters.method, activation_moments, values: values.collect(), draw }
    }

    /// The net with these weights.
    pub(crate) fn drawn(mut self, parameters: &Parameters, sample: &WeightSample) -> Self {
        let list = |(index, named): (usize, &NamedTensor)| {
            let sharpened = sample.sharpened.as_ref();
            let drawn = DrawnList {
                noise: sample.noise[index].clone(),
                sharpened: sharpened.map(|it| (it.shift[index].clone(), it.noise[index].clone(), it.std_dev)),
            };
            (named.name.clone(), drawn)
        };
        self.draw = parameters.weight_lists().enumerate().map(list).collect();
        self
    }

    /// Nats per time step that counts, and the weights' divergence from their prior divided by
    /// `observations`.
    pub(crate) fn objective(&self, batch: &Batch, observations: usize) -> N {
        let outputs = usize::from(self.spec.outputs);
        let steps = batch.mask.chunks(outputs).filter(|row| row.contains(&1.0)).count();
        let rows = (0..batch.rows).map(|row| self.row_loss(batch, row));
        let loss = rows.fold(N::constant(0.0), |sum, loss| sum + loss) + self.sharpening_divergence();
        let loss = loss / N::constant(steps as f64);
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

    fn number(&self, name: &str) -> Option<N> {
        self.values.get(name).map(|values| values[0].clone())
    }
}
