//! Results as C sees them.

use quaver::anomaly::{Anomaly, AnomalyKind};
use quaver::{Output, Prediction};

use crate::codes::*;
use crate::status::Status;

/// Mean and variance of one output, in raw units.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuaverOutput {
    /// Expected value; the probability of a one for a binary output.
    pub mean: f32,
    /// Total predictive variance: epistemic + aleatoric. The error bar is its square root.
    pub variance: f32,
    /// The part propagated through the network: uncertain inputs, states and weights.
    pub epistemic: f32,
    /// The part that more knowledge does not remove: the noise of the observations.
    pub aleatoric: f32,
}

impl From<Output> for QuaverOutput {
    fn from(output: Output) -> Self {
        let Output { mean, variance, epistemic, aleatoric } = output;
        QuaverOutput { mean, variance, epistemic, aleatoric }
    }
}

/// Scores of the row just read. NaN where the model has none, before the first row, and for a row without an
/// observed channel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuaverScore {
    /// Negative log-likelihood of the row given those before it, in nats.
    pub surprise: f32,
    /// Squared distance from the training rows per channel; about 1 for ordinary rows.
    pub novelty: f32,
    /// Distance up to which a row counts as familiar.
    pub familiar: f32,
    /// Score of the most suspicious statistic; 1 is the limit for the chosen rate of false alarms.
    pub anomaly: f32,
    /// What that statistic has seen: one of `QUAVER_ANOMALY_*`.
    pub anomaly_kind: i32,
    /// The channel at fault; -1 if it is the row as a whole, or there is no anomaly.
    pub anomaly_channel: i32,
    /// Whether the anomaly score exceeds its limit: 1 or 0.
    pub is_anomalous: i32,
    /// Whether the row is unlike the training rows: 1 or 0.
    pub is_novel: i32,
    /// Channels of the row whose values were implausible and treated as missing.
    pub implausible: u32,
    /// Implausible values since the stream was started or reset.
    pub implausible_total: u32,
}

impl QuaverScore {
    /// The scores of a prediction.
    pub(crate) fn new(prediction: &Prediction<'_>, implausible_total: u32) -> Self {
        let (novelty, anomaly) = (prediction.novelty(), prediction.anomaly());
        QuaverScore {
            surprise: prediction.surprise().map_or(f32::NAN, |surprise| surprise.nll),
            novelty: novelty.map_or(f32::NAN, |novelty| novelty.distance),
            familiar: novelty.map_or(f32::NAN, |novelty| novelty.familiar),
            anomaly: anomaly.map_or(f32::NAN, |anomaly| anomaly.score),
            anomaly_kind: anomaly.map_or(QUAVER_ANOMALY_NONE, kind),
            anomaly_channel: anomaly.and_then(|anomaly| anomaly.channel).map_or(-1, i32::from),
            is_anomalous: prediction.is_anomalous().into(),
            is_novel: novelty.is_some_and(|novelty| novelty.is_novel()).into(),
            implausible: prediction.implausible().count() as u32,
            implausible_total,
        }
    }
}

fn kind(anomaly: Anomaly) -> i32 {
    match anomaly.kind {
        AnomalyKind::Unlikely => QUAVER_ANOMALY_UNLIKELY,
        AnomalyKind::Distant => QUAVER_ANOMALY_DISTANT,
        AnomalyKind::Shifted => QUAVER_ANOMALY_SHIFTED,
        AnomalyKind::Noisy => QUAVER_ANOMALY_NOISY,
        AnomalyKind::Mismatched => QUAVER_ANOMALY_MISMATCHED,
        AnomalyKind::Rough => QUAVER_ANOMALY_ROUGH,
        AnomalyKind::Quiet => QUAVER_ANOMALY_QUIET,
        AnomalyKind::Stuck => QUAVER_ANOMALY_STUCK,
        AnomalyKind::Saturated => QUAVER_ANOMALY_SATURATED,
        AnomalyKind::Implausible => QUAVER_ANOMALY_IMPLAUSIBLE,
        _ => QUAVER_ANOMALY_OTHER,
    }
}

/// What a checkpoint holds, and what it takes to run it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuaverInfo {
    /// What to load it as: one of `QUAVER_KIND_*`.
    pub kind: i32,
    /// Channels of a row.
    pub inputs: u32,
    /// Values of a prediction.
    pub outputs: u32,
    /// Latent variables; 0 for one network.
    pub latents: u32,
    /// Words of an arena, the handle included.
    pub arena_words: u32,
    /// Words of a saved stream.
    pub saved_words: u32,
    /// Words of each future of rollouts; 0 unless it is a sampler.
    pub future_words: u32,
    /// Whether the outputs predict the next input row: 1 or 0.
    pub predicts_next: i32,
    /// Whether steps run in kernels in assembler, for which the model must lie at a multiple of four: 1 or 0.
    pub is_accelerated: i32,
    /// Checksum of the checkpoint: a name for exactly this model.
    pub crc: u32,
    /// Multiply-accumulates of the most expensive step.
    pub step_cost: u64,
}

/// How an adaptive predictor learns from labels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuaverAdaptOptions {
    /// `QUAVER_COVARIANCE_FULL` or `QUAVER_COVARIANCE_DIAGONAL`.
    pub covariance: i32,
    /// Prior variance of each weight, in units of the output's noise variance: from 1e-6 to 1e6.
    pub prior: f32,
    /// Forgetting factor of a label: above 0.9, at most 1.
    pub forgetting: f32,
    /// Successive labels that carry the information of one: from 1 to 1e6.
    pub correlation: f32,
}

/// Copies the outputs of a prediction. None are wanted if there is no room at all.
pub(crate) fn copy_outputs(prediction: &Prediction<'_>, outputs: &mut [QuaverOutput]) -> Result<(), Status> {
    if !outputs.is_empty() && outputs.len() < prediction.mean().len() {
        return Err(Status::SHORT);
    }
    outputs.iter_mut().zip(prediction.iter()).for_each(|(target, output)| *target = output.into());
    // An index that the compiler cannot know to be inside.
    #[cfg(feature = "panic-control")]
    core::hint::black_box(prediction.mean()[core::hint::black_box(0)]);
    Ok(())
}

/// Copies the standardised residuals of the row just read, one per output; NaN where there is none.
pub(crate) fn copy_residuals(prediction: &Prediction<'_>, residuals: &mut [f32]) -> Result<(), Status> {
    if residuals.len() < prediction.mean().len() {
        return Err(Status::SHORT);
    }
    let z = prediction.surprise().map_or(&[][..], |surprise| surprise.z);
    residuals.fill(f32::NAN);
    residuals.iter_mut().zip(z).for_each(|(target, z)| *target = *z);
    Ok(())
}

/// Marks the implausible channels of the row just read by 1.
pub(crate) fn copy_implausible(prediction: &Prediction<'_>, channels: &mut [u8]) -> Result<(), Status> {
    for channel in prediction.implausible() {
        *channels.get_mut(channel).ok_or(Status::SHORT)? = 1;
    }
    Ok(())
}
