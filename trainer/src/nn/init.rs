//! Initial values of a network's parameters.

use nalgebra::DMatrix;
use quaver::checkpoint::{CellKind, LayerSpec, Likelihood, ModelSpec, UnitNoise};
use rand_core::Rng;

use super::method::TrainingMethod;
use super::parameters::{AffineShape, Parameters, RATE_SUFFIX, layer_inputs, maps, noises, output_columns};
use super::weight_spread::WeightSpread;
use crate::config::InitConfig;
use crate::random::{Purpose, choose, normal, stream};

/// Position of the forget gate among the rows of an LSTM unit.
const FORGET_GATE: usize = 1;

impl InitConfig {
    /// Initial parameters of a network with point weights.
    pub fn parameters(&self, spec: &ModelSpec, seed: u64) -> Parameters {
        self.parameters_for(spec, TrainingMethod::default(), seed)
    }

    /// Initial parameters of a network; a seed gives the same numbers on every machine.
    ///
    /// Biases are zero by default, except those of forget gates, which are 1: a new LSTM then does not forget
    /// before it has learned what to remember. The noise variance starts at 1, the variance of the targets.
    pub fn parameters_for(&self, spec: &ModelSpec, method: TrainingMethod, seed: u64) -> Parameters {
        let mut rng = stream(seed, Purpose::Initialisation);
        let mut parameters = Parameters::zeros_for(spec, method);
        let mut tensors = parameters.tensors.iter_mut();
        let mut next =
            || &mut tensors.next().expect("a weight and a bias for every layer and the output").values;
        for (index, layer) in spec.layers.iter().enumerate() {
            self.fill_weight(next(), layer, layer_inputs(spec, index), &mut rng);
            self.fill_bias(next(), layer.cell, &mut rng);
        }
        let units = output_columns(spec);
        // A residual network starts by predicting no change.
        let output_std_dev = if spec.target.is_residual() { 0.0 } else { 1.0 / (units as f64).sqrt() };
        let (weight, bias) = (next(), next());
        weight.fill_with(|| (output_std_dev * normal(&mut rng)) as f32);
        bias.fill(self.output_bias);
        if spec.likelihood == Likelihood::Heteroscedastic {
            // The rows of log-variances: a noise variance of 1 whatever the input.
            weight.chunks_mut(units.max(1)).skip(1).step_by(2).for_each(|row| row.fill(0.0));
            bias.iter_mut().skip(1).step_by(2).for_each(|bias| *bias = 0.0);
        }
        if let Some(spread) = method.posterior.spread() {
            self.fill_variances(spec, spread, &mut parameters);
        }
        if method.posterior.sharpening().is_some() {
            let rates = parameters.tensors.iter_mut().filter(|list| list.name.ends_with(RATE_SUFFIX));
            rates.for_each(|list| list.values.fill(self.sharpen_rate));
        }
        if let Some(least) = method.scale_min {
            let log_scale = libm::logf(1.0 - least);
            for AffineShape { name, .. } in maps(spec) {
                fill(&mut parameters, &format!("{name}.log_scale"), log_scale);
            }
        }
        if method.learned_keep {
            for (name, noise) in noises(spec) {
                if let UnitNoise::Dropout { keep } = noise {
                    fill(&mut parameters, &name, libm::logf(keep / (1.0 - keep)));
                }
            }
        }
        parameters
    }

    /// Variances of the weights, equal within one affine map, and the learned prior that fits them best, if
    /// there is one: the one with their moments.
    fn fill_variances(&self, spec: &ModelSpec, spread: WeightSpread, parameters: &mut Parameters) {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for AffineShape { name, columns, .. } in maps(spec) {
            let var = self.weight_std_dev * self.weight_std_dev / columns.max(1) as f32;
            for part in ["weight", "bias"] {
                let named = format!("{name}.{part}");
                fill(parameters, &format!("{named}{}", spread.suffix()), spread.stored(var));
                for mean in parameters.get(&named).map_or(&[][..], |tensor| &tensor.values) {
                    count += 1.0;
                    sum += f64::from(*mean);
                    squares += f64::from(mean * mean + var);
                }
            }
        }
        let mean = sum / count;
        fill(parameters, "prior.mean", mean as f32);
        fill(parameters, "prior.log_var", libm::log(squares / count - mean * mean) as f32);
    }

    /// Weights of one layer, [rows, inputs + units], or [units, inputs] without recurrence.
    fn fill_weight(&self, weight: &mut [f32], layer: &LayerSpec, inputs: usize, rng: &mut impl Rng) {
        let (units, gates) = (usize::from(layer.units), layer.cell.gates());
        let input_std_dev = self.input_std_dev.map_or(1.0 / (inputs as f64).sqrt(), f64::from);
        let own = if layer.cell.is_recurrent() { units } else { 0 };
        let recurrent: Vec<DMatrix<f64>> = (0..gates).map(|_| self.recurrent(own, rng)).collect();
        for (row, weight) in weight.chunks_mut(inputs + own).enumerate() {
            let (from_input, from_state) = weight.split_at_mut(inputs);
            from_input.fill_with(|| (input_std_dev * normal(rng)) as f32);
            for (column, value) in from_state.iter_mut().enumerate() {
                *value = recurrent[row % gates][(row / gates, column)] as f32;
            }
        }
    }

    /// A sparse Gaussian matrix, scaled to the spectral radius if one is set (Bayer 2015, thesis, 1.3.3 and
    /// 2.5.2).
    fn recurrent(&self, units: usize, rng: &mut impl Rng) -> DMatrix<f64> {
        let used = if self.sparse == 0 { units } else { units.min(self.sparse.into()) };
        let std_dev = self.recurrent_std_dev.map_or(1.0 / (used as f64).sqrt(), f64::from);
        let mut matrix = DMatrix::zeros(units, units);
        for row in 0..units {
            for column in choose(rng, used, units) {
                matrix[(row, column)] = std_dev * normal(rng);
            }
        }
        if let Some(wanted) = self.spectral_radius.filter(|_| units > 0) {
            let radius = spectral_radius(&matrix);
            // A matrix without cycles is nilpotent: its radius is 0, and no factor changes that.
            if radius > 0.0 {
                matrix *= f64::from(wanted) / radius;
            }
        }
        matrix
    }

    fn fill_bias(&self, bias: &mut [f32], cell: CellKind, rng: &mut impl Rng) {
        match cell {
            // Drawn only if configured: an additional draw would change all later ones.
            CellKind::Dense(_) if self.bias_std_dev > 0.0 => {
                bias.fill_with(|| (f64::from(self.bias_std_dev) * normal(rng)) as f32);
            }
            CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Gru => {}
            CellKind::Lstm => {
                bias.iter_mut().skip(FORGET_GATE).step_by(cell.biases()).for_each(|bias| *bias = 1.0)
            }
        }
    }
}

/// Largest absolute eigenvalue.
fn spectral_radius(matrix: &DMatrix<f64>) -> f64 {
    matrix.complex_eigenvalues().iter().map(|value| value.norm()).fold(0.0, f64::max)
}

/// Sets all numbers of a list to one value.
fn fill(parameters: &mut Parameters, name: &str, value: f32) {
    if let Some(named) = parameters.get_mut(name) {
        named.values.fill(value);
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::Activation;

    use super::*;
    use crate::nn::{test_cells, test_spec};

    #[test]
    fn draws_depend_on_the_seed_alone() {
        let spec = test_spec(3, 2, &[(CellKind::Lstm, 5)]);
        let default = InitConfig::default();
        assert_eq!(default.parameters(&spec, 1), default.parameters(&spec, 1));
        assert_ne!(default.parameters(&spec, 1), default.parameters(&spec, 2));
        assert!(default.parameters(&spec, 1).fits(&spec));
    }

    #[test]
    fn recurrent_weights_are_sparse_and_have_the_spectral_radius() {
        let init = InitConfig { spectral_radius: Some(1.1), sparse: 7, ..InitConfig::default() };
        for cell in test_cells().into_iter().filter(|cell| cell.is_recurrent()) {
            let parameters = init.parameters(&test_spec(3, 2, &[(cell, 30)]), 3);
            let weight = &parameters.get("layer0.weight").unwrap().values;
            for gate in 0..cell.gates() {
                let recurrent = DMatrix::from_fn(30, 30, |unit, column| {
                    f64::from(weight[(unit * cell.gates() + gate) * 33 + 3 + column])
                });
                for row in recurrent.row_iter() {
                    assert_eq!(row.iter().filter(|value| **value != 0.0).count(), 7);
                }
                assert!((spectral_radius(&recurrent) - 1.1).abs() < 1e-4, "{cell:?}, gate {gate}");
            }
        }
    }

    #[test]
    fn a_gru_keeps_half_of_its_state_to_begin_with() {
        let parameters = InitConfig::default().parameters(&test_spec(3, 2, &[(CellKind::Gru, 5)]), 1);
        assert_eq!(parameters.get("layer0.bias").unwrap().values, [0.0; 20]);
    }

    #[test]
    fn a_net_for_changes_begins_with_none() {
        let mut spec = test_spec(3, 3, &[(CellKind::Lstm, 5)]);
        spec.target = quaver::checkpoint::Target::ResidualNext;
        let parameters = InitConfig::default().parameters(&spec, 1);
        assert!(parameters.get("output.weight").unwrap().values.iter().all(|weight| *weight == 0.0));
        assert!(parameters.get("layer0.weight").unwrap().values.iter().all(|weight| *weight != 0.0));
    }

    #[test]
    fn std_devs_and_biases_are_as_configured() {
        let spec = test_spec(50, 2, &[(CellKind::Lstm, 40)]);
        let init = InitConfig {
            input_std_dev: Some(0.3),
            recurrent_std_dev: Some(0.01),
            output_bias: -0.8,
            ..InitConfig::default()
        };
        let parameters = init.parameters(&spec, 1);
        let weight = &parameters.get("layer0.weight").unwrap().values;
        let std_dev =
            |values: Vec<f32>| (values.iter().map(|v| v * v).sum::<f32>() / values.len() as f32).sqrt();
        let columns = |range: std::ops::Range<usize>| -> Vec<f32> {
            weight.chunks(90).flat_map(|row| row[range.clone()].to_vec()).collect()
        };
        assert!((std_dev(columns(0..50)) - 0.3).abs() < 0.01);
        assert!((std_dev(columns(50..90)) - 0.01).abs() < 0.001);
        assert_eq!(parameters.get("layer0.bias").unwrap().values[..5], [0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(parameters.get("output.bias").unwrap().values, [-0.8, -0.8]);
        let spec = test_spec(1, 1, &[(CellKind::Dense(Activation::Tanh), 400)]);
        let parameters = InitConfig { bias_std_dev: 2.0, ..InitConfig::default() }.parameters(&spec, 1);
        assert!((std_dev(parameters.get("layer0.bias").unwrap().values.clone()) - 2.0).abs() < 0.2);
    }
}
