//! What sound recordings say about every channel, row by row, as the runtime's anomaly detection reads it.

use quaver::Model;
use quaver::anomaly::Evidence;
use quaver::density::{MISSING, impute, neighbour_residual, scratch_words};

use crate::data::{Scaler, Sequence};

/// One row.
pub(super) struct RowEvidence {
    /// Of each channel; `None` where it is missing.
    pub(super) channels: Vec<Option<Evidence>>,
    /// Mean squared residual of the prediction.
    pub(super) mean_square: Option<f32>,
    /// Mahalanobis distance per channel.
    pub(super) distance: Option<f32>,
    /// Whether the row counts: not the first of its sequence, nor one of its burn-in.
    pub(super) counts: bool,
}

/// Streams sequences through a checkpoint. `precision` is that of its input density; empty without one.
///
/// # Errors
/// If the bytes are not a checkpoint of one network.
pub(super) fn evidence(
    bytes: &[u8],
    scaler: &Scaler,
    precision: &[f32],
    sequences: &[Sequence],
) -> Result<Vec<Vec<RowEvidence>>, quaver::Error> {
    let model = Model::load(bytes)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    let mut of = |sequence: &Sequence| {
        model.reset(&mut state);
        let rows = sequence.inputs.iter().enumerate();
        let read = |(step, row): (usize, &[f32])| {
            let prediction = model.step(&mut state, row);
            // What the model treats as missing says nothing about its channel.
            let mut row = row.to_vec();
            prediction.implausible().for_each(|channel| row[channel] = f32::NAN);
            let z = prediction.surprise().map_or(&[][..], |surprise| surprise.z);
            RowEvidence {
                channels: channels(&row, z, scaler, precision),
                mean_square: mean_square(z),
                distance: prediction.novelty().map(|novelty| novelty.distance),
                counts: step >= sequence.burn_in.max(1),
            }
        };
        rows.map(read).collect()
    };
    Ok(sequences.iter().map(&mut of).collect())
}

fn mean_square(z: &[f32]) -> Option<f32> {
    let observed: Vec<f32> = z.iter().copied().filter(|z| !z.is_nan()).collect();
    (!observed.is_empty()).then(|| observed.iter().map(|z| z * z).sum::<f32>() / observed.len() as f32)
}

fn channels(row: &[f32], z: &[f32], scaler: &Scaler, precision: &[f32]) -> Vec<Option<Evidence>> {
    let standardised = |(channel, value): (usize, &f32)| match value.is_finite() {
        true => (scaler.standardise(channel, *value), 0.0),
        false => (0.0, MISSING),
    };
    let (mut mean, mut var): (Vec<f32>, Vec<f32>) = row.iter().enumerate().map(standardised).unzip();
    let missing: Vec<bool> = var.iter().map(|var| *var == MISSING).collect();
    let at = |index: usize| precision[index];
    if !precision.is_empty() && missing.contains(&true) {
        impute(at, &mut mean, &mut var, &mut vec![0.0; scratch_words(row.len())]);
    }
    let of = |channel: usize| Evidence {
        residual: z.get(channel).copied().filter(|z| !z.is_nan()),
        neighbour: (!precision.is_empty()).then(|| neighbour_residual(at, &mean, channel)),
        value: mean[channel],
    };
    (0..row.len()).map(|channel| (!missing[channel]).then(|| of(channel))).collect()
}
