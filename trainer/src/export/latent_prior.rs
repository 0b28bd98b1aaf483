//! The prior of a denoiser that learned from clean rows, refitted before export.

use anyhow::Result;
use quaver::checkpoint::{FittedPrior, Forecast, Layout, WeightFormat};
use serde::Serialize;

use super::latent::{LatentEncoding, LatentStorageOptions, encode_latent};
use crate::config::LatentFamily;
use crate::data::{Dataset, Sequence};
use crate::evaluate::{predict_latent_by_runtime, scores};
use crate::fit::RunState;
use crate::latent::{LatentNets, TrainedLatentModel, fit_prior, row_noise};

/// What a refitted prior is worth: NLL of the validation targets before their rows are observed, in nats per
/// step with densities in raw units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriorGain {
    /// With the prior of the training.
    pub trained_nll: f64,
    /// With the prior fitted to the posteriors of the training rows.
    pub refitted_nll: f64,
}

impl PriorGain {
    /// Whether the refitted prior predicts the validation rows better.
    pub fn is_used(&self) -> bool {
        self.refitted_nll < self.trained_nll
    }
}

/// Refits the prior of a VOSP with clean targets to the posteriors of the training rows. It is used if it
/// predicts the validation rows better, so that on these no prediction gets worse. Nothing for other models:
/// the divergence keeps their posteriors close to their prior.
///
/// # Errors
/// If the model cannot be stored.
pub fn refit_prior(
    state: &RunState<LatentNets>,
    forecast: Forecast,
    data: &Dataset,
    valid: &[Sequence],
) -> Result<(FittedPrior, Option<PriorGain>)> {
    if state.spec.family != LatentFamily::Vosp || data.target.is_next() {
        return Ok((FittedPrior::default(), None));
    }
    let posteriors = TrainedLatentModel::new(state).posterior(&data.train);
    let fitted = FittedPrior { latents: fit_prior(&posteriors), row_noise: row_noise(&data.train) };
    let nll = |fitted: FittedPrior| -> Result<f64> {
        let storage = LatentStorageOptions { format: WeightFormat::F32, layout: Layout::Float, forecast };
        let bytes = encode_latent(state, storage, &LatentEncoding { fitted, ..LatentEncoding::default() })?;
        let expected = predict_latent_by_runtime(&bytes, valid)?.expected;
        Ok(scores(state.spec.generative.spec.likelihood, &state.target_names, valid, &expected).nll)
    };
    let gain = PriorGain { trained_nll: nll(FittedPrior::default())?, refitted_nll: nll(fitted.clone())? };
    Ok((if gain.is_used() { fitted } else { FittedPrior::default() }, Some(gain)))
}
