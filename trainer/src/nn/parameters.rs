//! Everything that training adjusts, as named lists of numbers.

use quaver::checkpoint::{Likelihood, ModelSpec};
use serde::{Deserialize, Serialize};

/// Bounds of the logarithm of a noise variance, in standardised units.
///
/// A target that can be predicted exactly would otherwise drive it to −∞. The bounds lie well inside what a
/// checkpoint may hold.
const LOG_NOISE_LIMIT: f32 = 18.0;

/// All trainable numbers of a network, in an order given by its [`ModelSpec`].
///
/// For each layer k `layer{k}.weight` [rows, inputs + units] with columns [x, h] and `layer{k}.bias` [rows]; then
/// `output.weight` [outputs, units], `output.bias` [outputs] and, for a Gaussian likelihood, `output.log_noise`
/// [outputs]: the logarithm of the noise variance of each output in standardised units. An LSTM has four rows
/// per unit, one after the other: input gate, forget gate, cell input, output gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The lists, in order.
    pub tensors: Vec<Named>,
}

/// A list of numbers with its name and shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// What it is.
    pub name: String,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Values, last dimension fastest.
    pub values: Vec<f32>,
}

impl Parameters {
    /// All numbers zero.
    pub fn zeros(spec: &ModelSpec) -> Self {
        let mut tensors = Vec::new();
        let mut push = |name: String, shape: &[usize]| {
            let values = vec![0.0; shape.iter().product()];
            tensors.push(Named { name, shape: shape.to_vec(), values });
        };
        for (index, layer) in spec.layers.iter().enumerate() {
            let (rows, units) = (usize::from(layer.units) * layer.cell.gates(), usize::from(layer.units));
            push(format!("layer{index}.weight"), &[rows, layer_inputs(spec, index) + units]);
            push(format!("layer{index}.bias"), &[rows]);
        }
        let outputs = usize::from(spec.outputs);
        push("output.weight".into(), &[outputs, layer_inputs(spec, spec.layers.len())]);
        push("output.bias".into(), &[outputs]);
        if spec.likelihood == Likelihood::Gaussian {
            push("output.log_noise".into(), &[outputs]);
        }
        Parameters { tensors }
    }

    /// Lists that belong to no network.
    #[cfg(test)]
    pub(crate) fn of(tensors: Vec<Named>) -> Self {
        Parameters { tensors }
    }

    /// The list of this name, if the network has it.
    pub fn get(&self, name: &str) -> Option<&Named> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Like [`Parameters::get`], for writing.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Named> {
        self.tensors.iter_mut().find(|tensor| tensor.name == name)
    }

    /// Noise variance of each output in standardised units; empty unless the likelihood is Gaussian.
    pub fn noise_var(&self) -> Vec<f32> {
        let log_noise = self.get("output.log_noise").map_or(&[][..], |tensor| &tensor.values);
        log_noise.iter().map(|log| libm::expf(*log)).collect()
    }

    /// Whether these are the numbers of such a network: every name and shape in its place.
    pub fn fits(&self, spec: &ModelSpec) -> bool {
        let expected = Parameters::zeros(spec).tensors;
        self.tensors.len() == expected.len()
            && self.tensors.iter().zip(&expected).all(|(tensor, expected)| {
                tensor.name == expected.name
                    && tensor.shape == expected.shape
                    && tensor.values.len() == expected.values.len()
            })
    }

    /// The largest magnitude; not a number if any parameter is none.
    pub fn largest(&self) -> f32 {
        let magnitudes = self.tensors.iter().flat_map(|tensor| &tensor.values).map(|value| value.abs());
        magnitudes.fold(0.0, |largest, value| if value > largest || value.is_nan() { value } else { largest })
    }

    /// Brings numbers that an optimiser has moved out of their range back into it.
    pub fn confine(&mut self) {
        if let Some(log_noise) = self.get_mut("output.log_noise") {
            for log in &mut log_noise.values {
                *log = log.clamp(-LOG_NOISE_LIMIT, LOG_NOISE_LIMIT);
            }
        }
    }
}

/// Inputs of layer `index`; one past the last layer stands for the output map.
pub(crate) fn layer_inputs(spec: &ModelSpec, index: usize) -> usize {
    match index.checked_sub(1).map(|below| &spec.layers[below]) {
        Some(below) => below.units.into(),
        None => spec.inputs.into(),
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::nn::test_spec;

    #[test]
    fn shapes_follow_the_specification() {
        let spec =
            test_spec(3, 2, &[(CellKind::Lstm, 5), (CellKind::Elman(quaver::checkpoint::Transfer::Tanh), 4)]);
        let parameters = Parameters::zeros(&spec);
        let shapes: Vec<(&str, &[usize])> =
            parameters.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice())).collect();
        let expected: [(&str, &[usize]); 7] = [
            ("layer0.weight", &[20, 8]),
            ("layer0.bias", &[20]),
            ("layer1.weight", &[4, 9]),
            ("layer1.bias", &[4]),
            ("output.weight", &[2, 4]),
            ("output.bias", &[2]),
            ("output.log_noise", &[2]),
        ];
        assert_eq!(shapes, expected);
        assert!(parameters.fits(&spec));
    }

    #[test]
    fn a_bernoulli_net_has_no_noise_and_fits_no_gaussian_specification() {
        let gaussian = test_spec(1, 1, &[(CellKind::Lstm, 1)]);
        let bernoulli = ModelSpec { likelihood: Likelihood::Bernoulli, ..gaussian.clone() };
        let parameters = Parameters::zeros(&bernoulli);
        assert!(parameters.noise_var().is_empty());
        assert!(!parameters.fits(&gaussian));
        assert_eq!(Parameters::zeros(&gaussian).noise_var(), [1.0]);
    }

    #[test]
    fn the_largest_parameter_is_found_unless_one_is_no_number() {
        let mut parameters = Parameters::zeros(&test_spec(1, 1, &[(CellKind::Lstm, 1)]));
        parameters.tensors[0].values[..2].copy_from_slice(&[2.0, -3.0]);
        assert_eq!(parameters.largest(), 3.0);
        parameters.tensors[1].values[0] = f32::NAN;
        assert!(parameters.largest().is_nan());
    }

    #[test]
    fn noise_is_kept_within_its_bounds() {
        let mut parameters = Parameters::zeros(&test_spec(1, 1, &[(CellKind::Lstm, 1)]));
        parameters.get_mut("output.log_noise").unwrap().values[0] = -100.0;
        parameters.confine();
        assert_eq!(parameters.get("output.log_noise").unwrap().values, [-LOG_NOISE_LIMIT]);
    }
}
