//! RMSProp and Adadelta with Nesterov momentum, the optimisers of the published experiments (Bayer 2015,
//! thesis, 1.3.3 and 2.5.2).
//!
//! Nesterov's gradient is taken at the lookahead point w − γs, where s is the last step. The stored
//! parameters are the lookahead point itself: a step δ of the rule gives s ← γs + δ, and the lookahead point
//! moves by δ + γs. This needs one gradient per step, and the parameters that are validated and saved are
//! those at which gradients are taken.

use serde::{Deserialize, Serialize};

use super::optimiser::{Accumulators, zeros};
use crate::nn::Parameters;

/// Keeps a step finite where gradients have been close to zero.
const EPSILON: f32 = 1e-6;

/// RMSProp (Tieleman and Hinton 2012): `δ = η g / √E[g²]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rmsprop {
    momentum: f32,
    decay: f32,
    /// Moving averages of the squared gradients.
    square: Accumulators,
    /// Last steps.
    velocity: Accumulators,
}

/// Adadelta (Zeiler 2012): `δ = η g √E[δ²] / √E[g²]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adadelta {
    momentum: f32,
    decay: f32,
    /// Moving averages of the squared gradients.
    square: Accumulators,
    /// Moving averages of the squared steps, without momentum and learning rate.
    moved: Accumulators,
    /// Last steps.
    velocity: Accumulators,
}

impl Rmsprop {
    /// The initial state of the optimiser.
    pub fn new(parameters: &Parameters, momentum: f32, decay: f32) -> Self {
        Rmsprop { momentum, decay, square: zeros(parameters), velocity: zeros(parameters) }
    }

    pub(super) fn accumulators(&self) -> [&Accumulators; 2] {
        [&self.square, &self.velocity]
    }

    pub(super) fn step(&mut self, parameters: &mut Parameters, gradients: &[Vec<f32>], learning_rate: f32) {
        let memory = self.square.iter_mut().flatten().zip(self.velocity.iter_mut().flatten());
        for ((value, gradient), (square, velocity)) in numbers(parameters, gradients).zip(memory) {
            average(square, gradient * gradient, self.decay);
            let step = learning_rate * gradient / (*square + EPSILON).sqrt();
            *value -= ahead(velocity, step, self.momentum);
        }
    }
}

impl Adadelta {
    /// The initial state of the optimiser.
    pub fn new(parameters: &Parameters, momentum: f32, decay: f32) -> Self {
        let zeros = || zeros(parameters);
        Adadelta { momentum, decay, square: zeros(), moved: zeros(), velocity: zeros() }
    }

    pub(super) fn accumulators(&self) -> [&Accumulators; 3] {
        [&self.square, &self.moved, &self.velocity]
    }

    pub(super) fn step(&mut self, parameters: &mut Parameters, gradients: &[Vec<f32>], learning_rate: f32) {
        let averages = self.square.iter_mut().flatten().zip(self.moved.iter_mut().flatten());
        let memory = averages.zip(self.velocity.iter_mut().flatten());
        for ((value, gradient), ((square, moved), velocity)) in numbers(parameters, gradients).zip(memory) {
            average(square, gradient * gradient, self.decay);
            let step = gradient * ((*moved + EPSILON) / (*square + EPSILON)).sqrt();
            average(moved, step * step, self.decay);
            *value -= ahead(velocity, learning_rate * step, self.momentum);
        }
    }
}

/// All parameters with their gradients.
fn numbers<'a>(
    parameters: &'a mut Parameters,
    gradients: &'a [Vec<f32>],
) -> impl Iterator<Item = (&'a mut f32, f32)> {
    let values = parameters.tensors.iter_mut().flat_map(|tensor| &mut tensor.values);
    values.zip(gradients.iter().flatten().copied())
}

/// Updates a moving average.
fn average(mean: &mut f32, value: f32, decay: f32) {
    *mean = decay * *mean + (1.0 - decay) * value;
}

/// Updates the velocity and returns the step of the lookahead point.
fn ahead(velocity: &mut f32, step: f32, momentum: f32) -> f32 {
    *velocity = momentum * *velocity + step;
    step + momentum * *velocity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::NamedTensor;

    const MOMENTUM: f64 = 0.8;
    const DECAY: f64 = 0.9;
    const RATE: f64 = 0.02;

    /// ∂/∂w of ¼w⁴.
    fn loss_and_gradient(w: f64) -> f64 {
        w * w * w
    }

    /// The rule as it is printed, in f64: go where momentum leads, take the gradient there, correct.
    fn by_the_book(steps: usize, mut rule: impl FnMut(f64) -> f64) -> f64 {
        let (mut w, mut last) = (1.5_f64, 0.0);
        for _ in 0..steps {
            let correction = rule(loss_and_gradient(w - MOMENTUM * last));
            last = MOMENTUM * last + correction;
            w -= last;
        }
        w - MOMENTUM * last
    }

    fn found(steps: usize, mut step: impl FnMut(&mut Parameters, &[Vec<f32>])) -> f64 {
        let mut parameters = start();
        for _ in 0..steps {
            let gradient = loss_and_gradient(parameters.tensors[0].values[0].into()) as f32;
            step(&mut parameters, &[vec![gradient]]);
        }
        parameters.tensors[0].values[0].into()
    }

    fn start() -> Parameters {
        Parameters::of(vec![NamedTensor { name: "w".into(), shape: vec![1], values: vec![1.5], kept: None }])
    }

    #[test]
    fn rmsprop_follows_the_printed_rule() {
        for steps in [1, 2, 30] {
            let mut square = 0.0;
            let expected = by_the_book(steps, |g| {
                square = DECAY * square + (1.0 - DECAY) * g * g;
                RATE * g / (square + f64::from(EPSILON)).sqrt()
            });
            let mut rmsprop = Rmsprop::new(&start(), MOMENTUM as f32, DECAY as f32);
            let found = found(steps, |w, g| rmsprop.step(w, g, RATE as f32));
            assert!((found - expected).abs() < 1e-5, "{steps} steps: {found} against {expected}");
        }
    }

    #[test]
    fn adadelta_follows_the_printed_rule() {
        for steps in [1, 2, 30] {
            let (mut square, mut moved) = (0.0, 0.0);
            let expected = by_the_book(steps, |g| {
                square = DECAY * square + (1.0 - DECAY) * g * g;
                let step = g * ((moved + f64::from(EPSILON)) / (square + f64::from(EPSILON))).sqrt();
                moved = DECAY * moved + (1.0 - DECAY) * step * step;
                step
            });
            let mut adadelta = Adadelta::new(&start(), MOMENTUM as f32, DECAY as f32);
            let found = found(steps, |w, g| adadelta.step(w, g, 1.0));
            assert!((found - expected).abs() < 1e-5, "{steps} steps: {found} against {expected}");
        }
    }
}
