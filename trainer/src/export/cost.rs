//! The cost of quantization, measured by the runtime.

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use crate::data::Sequence;
use crate::evaluate::{Scores, scores};
use crate::prediction::{SequencePrediction, predict_by_runtime};

/// A checkpoint compared with the same network in f32, on the same sequences, both by the runtime.
#[derive(Clone, Debug, Serialize)]
pub struct QuantizationCost {
    /// Scores of the network in f32.
    pub f32: Scores,
    /// Scores of the checkpoint.
    pub exported: Scores,
    /// Increase of the NLL in nats per step.
    pub nll_increase: f64,
    /// Mean ratio of predicted variances, checkpoint to f32.
    pub variance_ratio: f64,
    /// Root mean square of the difference of the means, in predicted standard deviations.
    pub mean_shift: f64,
}

/// Compares a checkpoint with the same network in f32.
///
/// # Errors
/// If either is not a checkpoint.
pub fn cost(
    likelihood: Likelihood,
    names: &[String],
    sequences: &[Sequence],
    f32_bytes: &[u8],
    exported_bytes: &[u8],
) -> Result<QuantizationCost, quaver::Error> {
    let full = predict_by_runtime(f32_bytes, sequences)?;
    let exported = predict_by_runtime(exported_bytes, sequences)?;
    let (variance_ratio, mean_shift) = compare(&full, &exported);
    let full = scores(likelihood, names, sequences, &full);
    let exported = scores(likelihood, names, sequences, &exported);
    Ok(QuantizationCost {
        nll_increase: exported.nll - full.nll,
        f32: full,
        exported,
        variance_ratio,
        mean_shift,
    })
}

/// Mean ratio of variances, and root mean square difference of means in standard deviations.
pub(super) fn compare(full: &[SequencePrediction], exported: &[SequencePrediction]) -> (f64, f64) {
    let (mut n, mut ratio, mut shift) = (0.0, 0.0, 0.0);
    for (full, exported) in full.iter().zip(exported) {
        for step in 0..full.mean.len() {
            for output in 0..full.mean.channels {
                let variance = f64::from(full.variance(step, output)).max(f64::MIN_POSITIVE);
                let difference = f64::from(exported.mean.row(step)[output] - full.mean.row(step)[output]);
                ratio += f64::from(exported.variance(step, output)) / variance;
                shift += difference * difference / variance;
                n += 1.0;
            }
        }
    }
    (ratio / n, (shift / n).sqrt())
}
