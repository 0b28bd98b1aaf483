//! How data use a net's weights: what the bytes that stand for them are chosen by.

use anyhow::{Result, anyhow};
use quaver::Model;
use quaver::checkpoint::{
    Affine, Contents, GramMatrices, LayerSpec, Likelihood, OutputMode, UnitNoise, WeightFormat, write,
};

use super::contents;
use crate::data::{Scaler, Sequence};
use crate::fit::RunState;

/// Steps that are looked at, at most: spread over all data.
const STEPS: usize = 2000;
/// A variance below this need not be right to a few per cent, where no noise was learned that drowns it.
const NEGLIGIBLE: f64 = 1e-4;

/// Mean and variance of a column, noise included.
type ColumnMoments = (f64, f64);

/// Runs the net in f32 over `sequences` and adds up what each of its maps is fed: the layers', then the output's.
///
/// # Errors
/// When the net cannot be stored at all.
pub fn gram_matrices(state: &RunState, sequences: &[Sequence]) -> Result<Vec<GramMatrices>> {
    let RunState { spec, parameters, scaling, input_names, target_names, .. } = state;
    let contents = contents(spec, WeightFormat::F32, parameters, scaling, input_names, target_names);
    let bytes = write(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))?;
    let model = Model::load(&bytes)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut stream = model.start_in(&mut words)?;
    let mut before = vec![0.0; model.spec().saved_words()];
    let mut after = before.clone();
    let mut accumulators = accumulators(&contents);
    let every = sequences.iter().map(Sequence::len).sum::<usize>().div_ceil(STEPS);
    let mut step = 0;
    for sequence in sequences {
        model.reset(&mut stream);
        model.save(&stream, &mut after)?;
        for row in sequence.inputs.iter() {
            std::mem::swap(&mut before, &mut after);
            model.step(&mut stream, row);
            model.save(&stream, &mut after)?;
            step += 1;
            // What stands in for a gap is the runtime's affair; there are rows without one.
            if step % every == 0 && row.iter().all(|value| value.is_finite()) {
                accumulate(
                    &mut accumulators,
                    &contents,
                    standardised(&scaling.inputs, row),
                    [&before, &after],
                );
            }
        }
    }
    Ok(accumulators.into_iter().map(|accumulate| accumulate.gram_matrices).collect())
}

fn standardised(scaler: &Scaler, row: &[f32]) -> Vec<ColumnMoments> {
    row.iter().enumerate().map(|(channel, value)| (scaler.standardise(channel, *value).into(), 0.0)).collect()
}

/// Enters one step, from the saved states before and after it.
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

/// The units h of each layer in a saved state: means, then variances, then what the cell remembers beside them.
fn units(layers: &[LayerSpec], saved: &[f32]) -> Vec<Vec<ColumnMoments>> {
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

/// Noise on a unit (Bayer 2015, thesis, 2.3.4 and 2.5).
fn noisy(noise: UnitNoise, (mean, var): ColumnMoments) -> ColumnMoments {
    match noise {
        UnitNoise::None => (mean, var),
        UnitNoise::Dropout { keep } => {
            let keep = f64::from(keep);
            (keep * mean, keep * (1.0 - keep) * mean * mean + keep * var)
        }
        UnitNoise::Multiplicative { var: factor } => (mean, var + f64::from(factor) * (mean * mean + var)),
        UnitNoise::Additive { var: summand } => (mean, var + f64::from(summand)),
    }
}

/// The usage of one map as it grows.
struct GramAccumulator {
    gram_matrices: GramMatrices,
    /// Mean over the rows of each column's squared weight.
    squares: Vec<f64>,
    /// Variance that comes on top of the rows', or that nobody would miss.
    floor: f64,
}

fn accumulators(contents: &Contents) -> Vec<GramAccumulator> {
    let noise = &contents.noise_var;
    let learned = noise.iter().map(|var| f64::from(*var)).sum::<f64>() / noise.len().max(1) as f64;
    let gaussian = contents.spec.likelihood == Likelihood::Gaussian;
    let output = GramAccumulator::new(&contents.output, if gaussian { learned } else { NEGLIGIBLE });
    contents.layers.iter().map(|layer| GramAccumulator::new(layer, NEGLIGIBLE)).chain([output]).collect()
}

impl GramAccumulator {
    fn new(affine: &Affine, floor: f64) -> Self {
        let rows = affine.bias.len();
        let cols = affine.weight.len() / rows;
        let mut squares = vec![0.0; cols];
        for row in affine.weight.chunks(cols) {
            squares.iter_mut().zip(row).for_each(|(sum, w)| *sum += f64::from(w * w) / rows as f64);
        }
        let matrix = || vec![0.0; cols * cols];
        GramAccumulator { gram_matrices: GramMatrices { means: matrix(), vars: matrix() }, squares, floor }
    }

    /// Enters what the columns held at one step. Variances count in proportion to their sum: they range over orders of magnitude, and
    /// the likelihood sees their logarithm.
    fn add(&mut self, columns: &[ColumnMoments]) {
        let rows_var: f64 = self.squares.iter().zip(columns).map(|(square, (_, var))| square * var).sum();
        let weight = 1.0 / (rows_var + self.floor).powi(2);
        let (means, vars): (Vec<f64>, Vec<f64>) = columns.iter().copied().unzip();
        add_outer(&mut self.gram_matrices.means, &means, 1.0);
        add_outer(&mut self.gram_matrices.vars, &vars, weight);
    }
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
    use crate::data::{Rows, Scaling};
    use crate::nn::test_spec;

    #[test]
    fn maps_are_fed_inputs_and_the_units_before_them() {
        let spec = test_spec(2, 1, &[(CellKind::Lstm, 3)]);
        let parameters = InitConfig::default().parameters(&spec, 1);
        let scaling = Scaling {
            inputs: Scaler { mean: vec![1.0, 0.0], std_dev: vec![2.0, 1.0] },
            targets: Scaler::identity(1),
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
        assert!(one[0].means[2..5].iter().all(|product| *product == 0.0));
        // The output reads the units after the step.
        assert!(one[1].means[0] > 0.0);
        let two = gram_matrices(&state, &[sequence(&[5.0, -3.0, 1.0, 0.0])]).unwrap();
        let remembered = one[1].means[0] - two[0].means[2 * 5 + 2];
        assert!(remembered.abs() < 1e-12, "h before a step is h after the last: {remembered}");
        // A row with a gap is passed over.
        let gap = gram_matrices(&state, &[sequence(&[f32::NAN, 1.0])]).unwrap();
        assert!(gap.iter().all(|gram_matrices| gram_matrices.means.iter().all(|product| *product == 0.0)));
    }
}
