//! Optimisers.

use serde::{Deserialize, Serialize};

use super::nesterov::{Adadelta, Rmsprop};
use crate::config::{self, TrainingConfig};
use crate::nn::Parameters;

/// One number per parameter, in the order of the parameters.
pub(super) type Accumulators = Vec<Vec<f32>>;

/// An optimiser with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Optimiser {
    /// Adam.
    Adam(Adam),
    /// RMSProp with Nesterov momentum.
    Rmsprop(Rmsprop),
    /// Adadelta with Nesterov momentum.
    Adadelta(Adadelta),
    /// Stochastic gradient descent, which has no state.
    Sgd,
}

/// Adam (Kingma and Ba 2015, algorithm 1) with its usual constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    steps: u64,
    /// Moving averages of the gradients.
    mean: Accumulators,
    /// Moving averages of the squared gradients.
    square: Accumulators,
}

impl Optimiser {
    /// The optimiser of a config, in its initial state.
    pub fn new(training: &TrainingConfig, parameters: &Parameters) -> Self {
        let TrainingConfig { momentum, square_decay, .. } = *training;
        match training.optimiser {
            config::OptimiserKind::Adam => Optimiser::Adam(Adam::new(parameters)),
            config::OptimiserKind::Rmsprop => {
                Optimiser::Rmsprop(Rmsprop::new(parameters, momentum, square_decay))
            }
            config::OptimiserKind::Adadelta => {
                Optimiser::Adadelta(Adadelta::new(parameters, momentum, square_decay))
            }
            config::OptimiserKind::Sgd => Optimiser::Sgd,
        }
    }

    /// Updates parameters by gradients in the same order.
    pub fn step(&mut self, parameters: &mut Parameters, gradients: &[Vec<f32>], learning_rate: f32) {
        match self {
            Optimiser::Adam(adam) => adam.step(parameters, gradients, learning_rate),
            Optimiser::Rmsprop(rmsprop) => rmsprop.step(parameters, gradients, learning_rate),
            Optimiser::Adadelta(adadelta) => adadelta.step(parameters, gradients, learning_rate),
            Optimiser::Sgd => descend(parameters, gradients, learning_rate),
        }
        parameters.clamp_to_limits();
    }

    /// Whether the state belongs to such parameters.
    pub fn fits(&self, parameters: &Parameters) -> bool {
        let accumulators = match self {
            Optimiser::Adam(adam) => vec![&adam.mean, &adam.square],
            Optimiser::Rmsprop(rmsprop) => rmsprop.accumulators().to_vec(),
            Optimiser::Adadelta(adadelta) => adadelta.accumulators().to_vec(),
            Optimiser::Sgd => Vec::new(),
        };
        accumulators.into_iter().all(|memory| {
            memory.len() == parameters.tensors.len()
                && memory
                    .iter()
                    .zip(&parameters.tensors)
                    .all(|(memory, tensor)| memory.len() == tensor.values.len())
        })
    }
}

impl Adam {
    const MEAN_DECAY: f32 = 0.9;
    const SQUARE_DECAY: f32 = 0.999;
    /// Keeps a step finite where gradients have been close to zero.
    const EPSILON: f32 = 1e-8;

    /// The initial state.
    pub fn new(parameters: &Parameters) -> Self {
        let zeros = zeros(parameters);
        Adam { steps: 0, mean: zeros.clone(), square: zeros }
    }

    fn step(&mut self, parameters: &mut Parameters, gradients: &[Vec<f32>], learning_rate: f32) {
        self.steps += 1;
        // The averages start at zero; these factors correct the bias.
        let unbias = |decay: f32| (1.0 / (1.0 - libm::pow(f64::from(decay), self.steps as f64))) as f32;
        let (unbias_mean, unbias_square) = (unbias(Self::MEAN_DECAY), unbias(Self::SQUARE_DECAY));
        let memory = self.mean.iter_mut().zip(&mut self.square);
        for ((tensor, gradient), (means, squares)) in parameters.tensors.iter_mut().zip(gradients).zip(memory)
        {
            let averages = means.iter_mut().zip(squares);
            for ((value, gradient), (mean, square)) in tensor.values.iter_mut().zip(gradient).zip(averages) {
                *mean = Self::MEAN_DECAY * *mean + (1.0 - Self::MEAN_DECAY) * gradient;
                *square = Self::SQUARE_DECAY * *square + (1.0 - Self::SQUARE_DECAY) * gradient * gradient;
                let spread = (*square * unbias_square).sqrt() + Self::EPSILON;
                *value -= learning_rate * *mean * unbias_mean / spread;
            }
        }
    }
}

/// One step against the gradients.
fn descend(parameters: &mut Parameters, gradients: &[Vec<f32>], learning_rate: f32) {
    for (tensor, gradient) in parameters.tensors.iter_mut().zip(gradients) {
        for (value, gradient) in tensor.values.iter_mut().zip(gradient) {
            *value -= learning_rate * gradient;
        }
    }
}

/// A zero for every parameter.
pub(super) fn zeros(parameters: &Parameters) -> Accumulators {
    parameters.tensors.iter().map(|tensor| vec![0.0; tensor.values.len()]).collect()
}

/// Scales gradients down to a global norm of at most `limit` and returns their norm before (Pascanu 2013;
/// Bayer 2015, thesis, 1.3.3).
pub fn clip(gradients: &mut [Vec<f32>], limit: f32) -> f64 {
    let norm = square_sum(gradients).sqrt();
    if let Some(factor) = clip_factor(norm, limit) {
        for values in gradients.iter_mut() {
            values.iter_mut().for_each(|gradient| *gradient *= factor);
        }
    }
    norm
}

/// What gradients with this norm are multiplied by to have one of at most `limit`; nothing if they have.
pub(super) fn clip_factor(norm: f64, limit: f32) -> Option<f32> {
    (norm > f64::from(limit)).then(|| (f64::from(limit) / norm) as f32)
}

/// The sum of all squares, in the order of the gradients.
fn square_sum(gradients: &[Vec<f32>]) -> f64 {
    // Most rows of an embedding have no gradient. Zeros change no sum, and finding them is faster than adding
    // them one after the other.
    let blocks = gradients.iter().flat_map(|values| values.chunks(64)).filter(|block| !all_zero(block));
    let add = |sum: f64, gradient: &f32| sum + f64::from(*gradient).powi(2);
    blocks.fold(0.0, |sum, block| block.iter().fold(sum, add))
}

/// Whether all numbers are zero, without a branch for each.
pub(super) fn all_zero(values: &[f32]) -> bool {
    values.iter().fold(0, |bits, value| bits | (value.to_bits() << 1)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::NamedTensor;

    fn one(values: &[f32]) -> Parameters {
        let (name, shape) = ("w".to_string(), vec![values.len()]);
        Parameters::of(vec![NamedTensor { name, shape, values: values.to_vec(), kept: None }])
    }

    #[test]
    fn the_first_steps_by_hand() {
        let mut parameters = one(&[1.0, 1.0]);
        let mut optimiser = Optimiser::Adam(Adam::new(&parameters));
        assert!(optimiser.fits(&parameters));
        // With the bias corrected, the first step is the learning rate times the sign, whatever the size.
        optimiser.step(&mut parameters, &[vec![0.5, -20.0]], 0.1);
        for (value, expected) in parameters.tensors[0].values.iter().zip([0.9, 1.1]) {
            assert!((value - expected).abs() < 1e-6);
        }
        // Second step of the first parameter with gradient 0: mean 0.045 / 0.19, square 2.4975e-4 / 1.999e-3.
        optimiser.step(&mut parameters, &[vec![0.0, 0.0]], 0.1);
        let expected = 0.9 - 0.1 * (0.045 / 0.19) / (2.497_5e-4_f32 / 1.999e-3).sqrt();
        assert!((parameters.tensors[0].values[0] - expected).abs() < 1e-5);
    }

    #[test]
    fn every_rule_finds_the_minimum_of_a_bowl() {
        use crate::config::OptimiserKind::{Adadelta, Adam, Rmsprop, Sgd};
        for (rule, rate) in [(Adam, 0.05), (Rmsprop, 0.0005), (Adadelta, 1.0), (Sgd, 0.02)] {
            let mut parameters = one(&[5.0, -3.0]);
            let training = TrainingConfig { optimiser: rule, ..TrainingConfig::default() };
            let mut optimiser = Optimiser::new(&training, &parameters);
            assert!(optimiser.fits(&parameters));
            assert_eq!(optimiser.fits(&one(&[1.0])), rule == Sgd, "only plain descent keeps no memory");
            for _ in 0..5000 {
                let values = &parameters.tensors[0].values;
                let gradient = vec![2.0 * (values[0] - 1.0), 40.0 * (values[1] - 2.0)];
                optimiser.step(&mut parameters, &[gradient], rate);
            }
            let values = &parameters.tensors[0].values;
            assert!((values[0] - 1.0).abs() < 2e-2 && (values[1] - 2.0).abs() < 2e-2, "{rule:?}: {values:?}");
        }
    }

    #[test]
    fn clipping_goes_by_the_norm_of_all_gradients_together() {
        let mut gradients = vec![vec![3.0], vec![0.0, -4.0]];
        assert_eq!(clip(&mut gradients, 10.0), 5.0);
        assert_eq!(gradients, [vec![3.0], vec![0.0, -4.0]]);
        assert_eq!(clip(&mut gradients, 2.5), 5.0);
        assert_eq!(gradients, [vec![1.5], vec![0.0, -2.0]]);
        assert!(clip(&mut [vec![f32::NAN]], 1.0).is_nan());
    }
}
