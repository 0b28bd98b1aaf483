//! Gram matrices of the inputs of every affine map on training data, which guide the rounding of its weights.

use anyhow::{Result, anyhow};
use quaver::checkpoint::{
    Affine, Contents, LayerSpec, Likelihood, OutputMode, UnitNoise, WeightFormat, write,
};
use quaver::export::GramMatrices;
use quaver::noise::NoiseCoefficients;
use quaver::{Model, Prediction};

use super::contents;
use crate::data::{Rows, Sequence};
use crate::fit::RunState;
use crate::nn::parameters::{AffineShape, maps};

/// Maximum number of steps, spread over all data.
const STEPS: usize = 2000;
/// A variance below this need not be accurate to a few per cent, where no learned noise dominates it.
const NEGLIGIBLE: f64 = 1e-4;

/// Mean and variance of a column, including noise.
pub(super) type ColumnMoments = (f64, f64);

/// Runs the network in f32 over `sequences` and accumulates the Gram matrices of the inputs of each affine
/// map: the layers', then the output's.
///
/// # Errors
/// When the network cannot be stored.
pub fn gram_matrices(state: &RunState, sequences: &[Sequence]) -> Result<Vec<GramMatrices>> {
    let RunState { spec, parameters, scaling, input_names, target_names, .. } = state;
    let contents = contents(spec, WeightFormat::F32, parameters, scaling, input_names, target_names);
    let rows: Vec<InputRows<'_>> =
        sequences.iter().map(|sequence| InputRows { mean: &sequence.inputs, var: None }).collect();
    gram_matrices_of(&contents, &rows)
}

/// The rows of one sequence that a network reads, in raw units, with their variances if they have any.
#[derive(Clone, Copy)]
pub(super) struct InputRows<'a> {
    pub(super) mean: &'a Rows,
    pub(super) var: Option<&'a Rows>,
}

/// The same for the contents of a checkpoint in f32. Rows with missing values are stepped over: their
/// imputation is up to the runtime.
pub(super) fn gram_matrices_of(
    contents: &Contents,
    sequences: &[InputRows<'_>],
) -> Result<Vec<GramMatrices>> {
    if contents.spec.layers.is_empty() {
        // Nothing is rounded: the output map has no columns, and a linear part is stored in f32.
        return Ok(Vec::new());
    }
    let mut accumulators = accumulators(contents);
    let every = sequences.iter().map(|rows| rows.mean.len()).sum::<usize>().div_ceil(STEPS);
    let mut step = 0;
    run_network(contents, sequences, |row, states, _| {
        step += 1;
        if step % every == 0 && row.mean.iter().all(|value| value.is_finite()) {
            accumulate(&mut accumulators, contents, standardised(contents, row), states);
        }
    })?;
    Ok(accumulators.into_iter().map(|accumulate| accumulate.gram_matrices).collect())
}

/// One row that a network reads; without variances it is certain.
#[derive(Clone, Copy)]
pub(super) struct InputRow<'a> {
    pub(super) mean: &'a [f32],
    var: &'a [f32],
}

/// Streams sequences through a network in f32. `see` gets every row, the saved states before and after it,
/// and the outputs.
pub(super) fn run_network(
    contents: &Contents,
    sequences: &[InputRows<'_>],
    mut see: impl FnMut(InputRow<'_>, [&[f32]; 2], &Prediction<'_>),
) -> Result<()> {
    let bytes = write(contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))?;
    let model = Model::load(&bytes)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut stream = model.start_in(&mut words)?;
    let mut before = vec![0.0; model.spec().saved_words()];
    let mut after = before.clone();
    for rows in sequences {
        model.reset(&mut stream);
        model.save(&stream, &mut after)?;
        for (step, mean) in rows.mean.iter().enumerate() {
            std::mem::swap(&mut before, &mut after);
            let row = InputRow { mean, var: rows.var.map_or(&[], |var| var.row(step)) };
            model.step_uncertain(&mut stream, row.mean, row.var);
            model.save(&stream, &mut after)?;
            see(row, [&before, &after], &model.prediction(&stream));
        }
    }
    Ok(())
}

fn standardised(contents: &Contents, row: InputRow<'_>) -> Vec<ColumnMoments> {
    let quaver::checkpoint::Scaler { mean, std_dev } = &contents.input_scaler;
    let vars = row.var.iter().copied().chain(std::iter::repeat(0.0));
    let scalers = mean.iter().zip(std_dev);
    let columns = row.mean.iter().zip(vars).zip(scalers);
    let moments = |((value, var), (mean, std_dev)): ((&f32, f32), (&f32, &f32))| {
        (f64::from((value - mean) / std_dev), f64::from(var / (std_dev * std_dev)))
    };
    columns.map(moments).collect()
}

/// Adds one step, from the saved states before and after it.
fn accumulate(
    accumulators: &mut [GramAccumulator],
    contents: &Contents,
    input: Vec<ColumnMoments>,
    states: [&[f32]; 2],
) {
    let [before, after] = states.map(|state| units(&contents.spec.layers, state));
    let mut below = input;
    for (index, layer) in contents.spec.layers.iter().enumerate() {
        let fed = below.iter().map(|column| noisy(layer.input_noise, *column));
        let own = before[index].iter().filter(|_| layer.cell.is_recurrent());
        let own = own.map(|column| noisy(layer.recurrent_noise, *column));
        accumulators[index].add(&fed.chain(own).collect::<Vec<_>>());
        below = after[index].clone();
    }
    let output = &contents.spec.output;
    let noise = if output.mode == OutputMode::MeanOnly { UnitNoise::None } else { output.noise };
    let fed: Vec<ColumnMoments> = below.iter().map(|column| noisy(noise, *column)).collect();
    accumulators[contents.spec.layers.len()].add(&fed);
}

/// The states h of each layer in a saved stream: means, then variances, then further state of the cell.
pub(super) fn units(layers: &[LayerSpec], saved: &[f32]) -> Vec<Vec<ColumnMoments>> {
    let mut rest = saved;
    let mut layer_units = |layer: &LayerSpec| {
        let units = usize::from(layer.units);
        let (state, left) = rest.split_at(2 * units * layer.cell.states());
        rest = left;
        let (means, vars) = state[..2 * units].split_at(units);
        means.iter().zip(vars).map(|(mean, var)| (f64::from(*mean), f64::from(*var))).collect()
    };
    layers.iter().map(&mut layer_units).collect()
}

/// Moments of a column after unit noise.
fn noisy(noise: UnitNoise, (mean, var): ColumnMoments) -> ColumnMoments {
    NoiseCoefficients::new(noise).apply(mean, var)
}

/// The Gram matrices of one affine map under accumulation.
struct GramAccumulator {
    gram_matrices: GramMatrices,
    /// Mean over the rows of each column's squared weight: μ² + τ with weight variances.
    squares: Vec<f64>,
    /// Mean over the rows of each column's weight variance; empty without weight variances.
    weight_vars: Vec<f64>,
    /// Variance that adds to that of the rows, or below which accuracy does not matter.
    floor: f64,
}

fn accumulators(contents: &Contents) -> Vec<GramAccumulator> {
    let noise = &contents.noise_var;
    let learned = noise.iter().map(|var| f64::from(*var)).sum::<f64>() / noise.len().max(1) as f64;
    let gaussian = contents.spec.likelihood == Likelihood::Gaussian;
    let layers = contents.layers.iter().map(|layer| (layer, NEGLIGIBLE));
    let affines = layers.chain([(&contents.output, if gaussian { learned } else { NEGLIGIBLE })]);
    maps(&contents.spec)
        .zip(affines)
        .map(|(map, (affine, floor))| GramAccumulator::new(&map, affine, floor))
        .collect()
}

impl GramAccumulator {
    fn new(map: &AffineShape, affine: &Affine, floor: f64) -> Self {
        let (rows, cols) = (map.rows, map.columns);
        let column_means = |values: &[f32], of: fn(f32) -> f32| {
            let mut means = vec![0.0; if values.is_empty() { 0 } else { cols }];
            for row in values.chunks(cols) {
                means
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += f64::from(of(*value)) / rows as f64);
            }
            means
        };
        let mut squares = column_means(&affine.weight, |w| w * w);
        let weight_vars = column_means(&affine.weight_var, |var| var);
        squares.iter_mut().zip(&weight_vars).for_each(|(square, var)| *square += var);
        let matrix = || vec![0.0; cols * cols];
        let mean_squares = vec![0.0; weight_vars.len() * cols];
        let gram_matrices = GramMatrices { means: matrix(), vars: matrix(), mean_squares };
        GramAccumulator { gram_matrices, squares, weight_vars, floor }
    }

    /// Adds the inputs of one step. Variances are weighted by the inverse of their sum: they range over
    /// orders of magnitude, and the likelihood depends on their logarithm.
    fn add(&mut self, columns: &[ColumnMoments]) {
        let (means, vars): (Vec<f64>, Vec<f64>) = columns.iter().copied().unzip();
        let mean_squares: Vec<f64> = means.iter().map(|mean| mean * mean).collect();
        let rows_var = dot(&self.squares, &vars) + dot(&self.weight_vars, &mean_squares);
        let weight = 1.0 / (rows_var + self.floor).powi(2);
        add_outer(&mut self.gram_matrices.means, &means, 1.0);
        add_outer(&mut self.gram_matrices.vars, &vars, weight);
        add_outer(&mut self.gram_matrices.mean_squares, &mean_squares, weight);
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Adds weight · x xᵀ.
fn add_outer(matrix: &mut [f64], x: &[f64], weight: f64) {
    for (row, left) in matrix.chunks_mut(x.len()).zip(x) {
        let factor = weight * left;
        row.iter_mut().zip(x).for_each(|(sum, right)| *sum += factor * right);
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::config::{InitConfig, TrainingConfig};
    use crate::data::{Scaler, Scaling};
    use crate::nn::{test_cells, test_spec};

    #[test]
    fn maps_are_fed_inputs_and_the_units_before_them() {
        for cell in test_cells().into_iter().filter(|cell| cell.is_recurrent()) {
            assert_maps_are_fed(cell);
        }
    }

    fn assert_maps_are_fed(cell: CellKind) {
        // So many that no draw of their weights leaves all of them at zero with ReLU.
        const UNITS: usize = 8;
        let spec = test_spec(2, 1, &[(cell, UNITS as u16)]);
        let parameters = InitConfig::default().parameters(&spec, 1);
        let scaling = Scaling {
            inputs: Scaler { mean: vec![1.0, 0.0], std_dev: vec![2.0, 1.0] },
            targets: Scaler::identity(1),
            density: None,
            linear: None,
        };
        let names = [vec!["a".into(), "b".into()], vec!["y".into()]];
        let state = RunState::first(spec, parameters, &TrainingConfig::default(), scaling, names);
        let sequence = |rows: &[f32]| {
            let rows = Rows { channels: 2, values: rows.to_vec() };
            let targets = Rows { channels: 1, values: vec![0.0; rows.len()] };
            Sequence::columns(rows, targets)
        };
        let one = gram_matrices(&state, &[sequence(&[5.0, -3.0])]).unwrap();
        // (5 − 1)/2 = 2; the units have not seen anything yet.
        assert_eq!(one[0].means[..3], [4.0, -6.0, 0.0]);
        assert!(one[0].means[2..2 + UNITS].iter().all(|product| *product == 0.0));
        // The output reads the units after the step.
        assert!(one[1].means.iter().any(|product| *product > 0.0));
        let two = gram_matrices(&state, &[sequence(&[5.0, -3.0, 1.0, 0.0])]).unwrap();
        let remembered = one[1].means[0] - two[0].means[2 * (2 + UNITS) + 2];
        assert!(remembered.abs() < 1e-12, "h before a step is h after the last: {remembered}");
        // A row with a gap is passed over.
        let gap = gram_matrices(&state, &[sequence(&[f32::NAN, 1.0])]).unwrap();
        assert!(gap.iter().all(|gram_matrices| gram_matrices.means.iter().all(|product| *product == 0.0)));
    }
}
