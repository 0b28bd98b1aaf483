//! Polyak averaging: a moving average of the parameters over training (Polyak and Juditsky 1992).
//!
//! With steps that are large enough to make progress, the parameters do not converge but circle around a
//! point that is better than any they visit. Their average is close to it, at any learning rate.

use serde::{Deserialize, Serialize};

use crate::nn::Parameters;

/// The average so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterAverage {
    /// The average.
    pub parameters: Parameters,
    /// Number of steps averaged.
    pub steps: u64,
}

impl ParameterAverage {
    /// An average that consists of the initial parameters.
    pub(super) fn new(first: &Parameters) -> Self {
        ParameterAverage { parameters: first.clone(), steps: 0 }
    }

    /// Updates the average after a step with decay rate `memory`, limited to (1 + n)/(10 + n) after n steps
    /// so that the initial parameters are forgotten quickly.
    pub(super) fn add(&mut self, parameters: &Parameters, memory: f32) {
        let grown = (1.0 + self.steps as f64) / (10.0 + self.steps as f64);
        let share = 1.0 - memory.min(grown as f32);
        self.steps += 1;
        for (average, tensor) in self.parameters.tensors.iter_mut().zip(&parameters.tensors) {
            for (mean, value) in average.values.iter_mut().zip(&tensor.values) {
                *mean += share * (value - *mean);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::config::InitConfig;
    use crate::nn::test_spec;

    fn parameters(value: f32) -> Parameters {
        let mut parameters = InitConfig::default().parameters(&test_spec(2, 1, &[(CellKind::Lstm, 2)]), 1);
        parameters.tensors.iter_mut().for_each(|tensor| tensor.values.fill(value));
        parameters
    }

    fn value(average: &ParameterAverage) -> f64 {
        f64::from(average.parameters.tensors[0].values[0])
    }

    #[test]
    fn where_training_began_is_soon_forgotten() {
        let mut average = ParameterAverage::new(&parameters(1000.0));
        (0..100).for_each(|_| average.add(&parameters(1.0), 0.999));
        // The product of (1 + n)/(10 + n) over 100 steps, 9!·100!/109!, is 2.3e-13 of what there was.
        assert!((value(&average) - 1.0).abs() < 1e-6, "{}", value(&average));
    }

    #[test]
    fn a_long_average_of_two_places_lies_between_them() {
        let mut average = ParameterAverage::new(&parameters(0.0));
        for step in 0..20_000 {
            average.add(&parameters(if step % 2 == 0 { 1.0 } else { 3.0 }), 0.999);
        }
        // The last value has a share of 0.001 more than it should: within 0.0005 of 2, and some rounding.
        assert!((value(&average) - 2.0).abs() < 2e-3, "{}", value(&average));
    }
}
