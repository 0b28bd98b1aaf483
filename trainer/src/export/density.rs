//! How a checkpoint uses the density of its inputs: chosen on training and validation data.

use anyhow::Result;
use quaver::Model;
use quaver::checkpoint::{Contents, DensitySpec, Imputation, Layout, Likelihood, WeightFormat};
use quaver::density;

use super::storage::{Encoding, encode};
use crate::data::{InputDensity, Rows, Scaler, Sequence};
use crate::fit::RunState;
use crate::golden_section;
use crate::prediction::{ScoredValue, excess_distances, predict_by_runtime};

/// Fraction of the training rows that count as familiar.
const FAMILIAR: f64 = 0.99;

/// Rows of validation data on which imputation is chosen, and channels that are left out in turn.
const MOST_ROWS: usize = 3000;
const MOST_CHANNELS: usize = 6;

/// Lengths of the gaps; those longer than half of the rows are left out.
const LENGTHS: [usize; 4] = [3, 30, 300, 3000];

const DECAYS: [f32; 4] = [0.0003, 0.003, 0.03, 0.3];
const INFLATIONS: [f32; 5] = [1.0, 1.1, 1.3, 2.0, 4.0];

/// The same for estimates of the row before, which grow old more slowly than predictions.
const ESTIMATE_DECAYS: [f32; 7] = [0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03];
const ESTIMATE_INFLATIONS: [f32; 7] = [1.0, 1.01, 1.02, 1.03, 1.05, 1.1, 1.3];
const SHARES: [f32; 5] = [0.0, 0.5, 0.8, 0.9, 1.0];

/// Unfamiliar validation rows from which the growth of variances can be estimated.
const FEWEST_UNFAMILIAR: usize = 30;

/// A use of the density by which every missing channel is imputed and no row is unfamiliar.
pub(super) fn unsettled(state: &RunState) -> DensitySpec {
    let normal = state.spec.likelihood.is_normal();
    let imputation = if state.spec.target.is_next() && normal {
        Imputation::Combined { decay: 0.01, inflation: 1.0 }
    } else if estimates_inputs(state) {
        Imputation::LastEstimate { decay: 0.01, inflation: 1.0, share: 1.0 }
    } else {
        Imputation::Conditional
    };
    DensitySpec { imputation, familiar: 1e6, widening: 0.0 }
}

/// Whether the outputs are the inputs without their noise.
fn estimates_inputs(state: &RunState) -> bool {
    let RunState { spec, input_names, target_names, .. } = state;
    !spec.target.is_next() && spec.likelihood.is_normal() && input_names == target_names
}

/// Puts a density into the contents of a checkpoint.
pub(super) fn write_density(contents: &mut Contents, density: &InputDensity, spec: DensitySpec) {
    contents.spec.extensions.density = Some(spec);
    contents.input_precision.clone_from(&density.precision);
    contents.input_low.clone_from(&density.low);
    contents.input_high.clone_from(&density.high);
}

/// Chooses how missing channels are imputed, and which rows are familiar. Nothing for a state without a
/// density.
///
/// A model of other columns imputes conditionals. For a model of its own next input, or of its inputs without
/// noise, decay and inflation are those with the smallest NLL of values hidden in validation rows, averaged
/// over lengths of gaps; a model that gains nothing from its predictions there imputes conditionals, too.
///
/// # Errors
/// When the network cannot be encoded.
pub fn settle_density(
    state: &RunState,
    train: &[Sequence],
    valid: &[Sequence],
) -> Result<Option<DensitySpec>> {
    let Some(density) = &state.scaling.density else { return Ok(None) };
    let base = unsettled(state);
    let imputation = match base.imputation {
        Imputation::Conditional => Imputation::Conditional,
        Imputation::Combined { .. } | Imputation::LastEstimate { .. } => settle_imputation(state, valid)?,
    };
    let familiar = familiar_distance(density, &state.scaling.inputs, train);
    Ok(Some(DensitySpec { imputation, familiar, ..base }))
}

fn settle_imputation(state: &RunState, valid: &[Sequence]) -> Result<Imputation> {
    let hidden = hidden_values(valid);
    let loss = |imputation| -> Result<f64> {
        let density = Some(DensitySpec { imputation, ..unsettled(state) });
        let encoding = Encoding { density, ..Encoding::default() };
        let bytes = encode(state, WeightFormat::F32, Layout::Float, &encoding)?;
        let losses: Result<Vec<f64>> = hidden.iter().map(|hidden| hidden.nll(&bytes)).collect();
        let losses = losses?;
        Ok(losses.iter().sum::<f64>() / losses.len().max(1) as f64)
    };
    let mut best = Settling { best: (loss(Imputation::Conditional)?, Imputation::Conditional), loss };
    if estimates_inputs(state) {
        let last = |decay, inflation, share| Imputation::LastEstimate { decay, inflation, share };
        best.try_all(ESTIMATE_DECAYS.map(|decay| last(decay, 1.02, 1.0)))?;
        for _ in 0..2 {
            let Imputation::LastEstimate { decay, share, .. } = best.best.1 else { break };
            best.try_all(ESTIMATE_INFLATIONS.map(|inflation| last(decay, inflation, share)))?;
            let Imputation::LastEstimate { decay, inflation, .. } = best.best.1 else { break };
            best.try_all(SHARES.map(|share| last(decay, inflation, share)))?;
            let Imputation::LastEstimate { inflation, share, .. } = best.best.1 else { break };
            best.try_all(ESTIMATE_DECAYS.map(|decay| last(decay, inflation, share)))?;
        }
    } else {
        // Both at once: what is inflated more may be forgotten more slowly.
        for decay in DECAYS {
            best.try_all(INFLATIONS.map(|inflation| Imputation::Combined { decay, inflation }))?;
        }
    }
    Ok(best.best.1)
}

/// The imputation with the smallest loss so far.
struct Settling<L> {
    best: (f64, Imputation),
    loss: L,
}

impl<L: Fn(Imputation) -> Result<f64>> Settling<L> {
    fn try_all<const N: usize>(&mut self, candidates: [Imputation; N]) -> Result<()> {
        for candidate in candidates {
            let found = (self.loss)(candidate)?;
            if found < self.best.0 {
                self.best = (found, candidate);
            }
        }
        Ok(())
    }
}

/// Validation rows in which one channel has gaps of one length.
struct HiddenValues {
    sequence: Sequence,
    channel: usize,
}

/// One item per channel and length.
fn hidden_values(valid: &[Sequence]) -> Vec<HiddenValues> {
    let Some(longest) = valid.iter().max_by_key(|sequence| sequence.len()) else { return Vec::new() };
    let whole = longest.slice(0..longest.len().min(MOST_ROWS));
    let channels = whole.inputs.channels;
    let chosen = (0..channels).step_by(channels.div_ceil(MOST_CHANNELS).max(1));
    let lengths = LENGTHS.into_iter().filter(|length| 2 * length <= whole.len());
    let pairs = chosen.flat_map(|channel| lengths.clone().map(move |length| (channel, length)));
    pairs
        .map(|(channel, length)| HiddenValues {
            sequence: whole.with_gaps(with_gaps(&whole.inputs, channel, length)),
            channel,
        })
        .collect()
}

/// A channel missing in every second stretch of `length` rows, or of 20 between shorter gaps, so that the
/// network recovers.
fn with_gaps(rows: &Rows, channel: usize, length: usize) -> Rows {
    let pause = length.max(20);
    let mut gappy = rows.clone();
    for row in (0..rows.len()).filter(|row| row % (pause + length) >= pause) {
        gappy.values[row * rows.channels + channel] = f32::NAN;
    }
    gappy
}

impl HiddenValues {
    /// Mean NLL of the hidden values, in units of the channel.
    fn nll(&self, bytes: &[u8]) -> Result<f64> {
        let predictions = predict_by_runtime(bytes, std::slice::from_ref(&self.sequence))?;
        let (mut sum, mut count) = (0.0, 0.0);
        for (step, (input, target)) in
            self.sequence.inputs.iter().zip(self.sequence.targets.iter()).enumerate()
        {
            if input[self.channel].is_nan() && target[self.channel].is_finite() {
                let value = ScoredValue::at(&predictions[0], step, self.channel, target[self.channel]);
                (sum, count) = (sum + value.nll(Likelihood::Gaussian), count + 1.0);
            }
        }
        Ok(if count > 0.0 { sum / count } else { 0.0 })
    }
}

/// The distance within which [`FAMILIAR`] of the training rows lie.
fn familiar_distance(density: &InputDensity, scaler: &Scaler, train: &[Sequence]) -> f32 {
    let mut distances: Vec<f32> = train
        .iter()
        .flat_map(|sequence| sequence.inputs.iter())
        .map(|row| distance(density, scaler, row))
        .collect();
    if distances.is_empty() {
        return 1e6;
    }
    let place = ((distances.len() - 1) as f64 * FAMILIAR) as usize;
    *distances.select_nth_unstable_by(place, f32::total_cmp).1
}

/// Squared Mahalanobis distance of a row in raw units, per present channel, as the runtime measures it.
fn distance(density: &InputDensity, scaler: &Scaler, row: &[f32]) -> f32 {
    let missing = |value: &f32| if value.is_nan() { density::MISSING } else { 0.0 };
    let value = |(channel, value): (usize, &f32)| {
        if value.is_nan() { 0.0 } else { scaler.standardise(channel, *value) }
    };
    let mut mean: Vec<f32> = row.iter().enumerate().map(value).collect();
    let mut var: Vec<f32> = row.iter().map(missing).collect();
    let present = var.iter().filter(|var| **var == 0.0).count().max(1) as f32;
    if var.contains(&density::MISSING) {
        let mut scratch = vec![0.0; density::scratch_words(row.len())];
        density::impute(|index| density.precision[index], &mut mean, &mut var, &mut scratch);
    }
    density::distance(&density.precision, |element| element, &mean) / present
}

/// Growth of the outputs' variances with unfamiliar rows: the maximum-likelihood value on validation data.
/// Nothing if too few of their rows are unfamiliar.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn fit_widening(bytes: &[u8], valid: &[Sequence]) -> Result<Option<f32>> {
    let model = Model::load(bytes)?;
    let Some(spec) = model.spec().extensions.density else { return Ok(None) };
    let mut unfamiliar = Vec::new();
    for (sequence, prediction) in valid.iter().zip(predict_by_runtime(bytes, valid)?) {
        for (step, excess) in
            excess_distances(&model, sequence)?.into_iter().enumerate().filter(|(_, excess)| *excess > 0.0)
        {
            let targets = sequence.targets.row(step).iter().enumerate();
            let observed = targets.filter(|(_, target)| target.is_finite());
            let values = observed.map(|(output, target)| ScoredValue::at(&prediction, step, output, *target));
            unfamiliar.extend(values.map(|value| (excess, value)));
        }
    }
    if unfamiliar.len() < FEWEST_UNFAMILIAR {
        return Ok(None);
    }
    // The predictions contain the growth that the checkpoint has; it is taken out.
    let base = f64::from(spec.widening);
    let nll = |log: f64| -> f64 {
        let growth = log.exp();
        let term = |(excess, value): &(f64, ScoredValue)| {
            let var = value.variance() * (1.0 + growth * excess) / (1.0 + base * excess);
            quaver::likelihood::gaussian(value.mean, var, value.observed).nll
        };
        unfamiliar.iter().map(term).sum()
    };
    Ok(Some(golden_section::minimise([-12.0, 8.0], 40, nll).exp() as f32))
}

#[cfg(test)]
mod tests;
