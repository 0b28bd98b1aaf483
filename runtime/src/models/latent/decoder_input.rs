//! Inputs of the generative network (the decoder): moments of its family's inputs, then of the latents.

use crate::arena::{ArenaSplitter, copy};
use crate::backend;
use crate::limits::UNIT_LIMIT;
use crate::models::input::{RawRow, ResidualBase};
use crate::models::outputs::{OutputSlices, Outputs};
use crate::models::parts::{Known, Network};
use crate::moments::{Moments, at_most, limited_mean};
use crate::spec::Prior;

/// Standardised moments of the generative network's inputs.
#[derive(Debug, Default)]
pub(super) struct DecoderInput<'a> {
    pub(super) mean: &'a mut [f32],
    pub(super) var: &'a mut [f32],
    /// Noise part of the latents' variances, until it is added to the propagated part; after
    /// [`predict`](Self::predict), the variances before it.
    noise: &'a mut [f32],
    /// Index of the first latent.
    first_latent: usize,
}

impl<'a> DecoderInput<'a> {
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, inputs: usize, latents: usize) -> Option<Self> {
        let mut list = |count: usize| words.carve(count);
        let first_latent = inputs.saturating_sub(latents);
        Some(DecoderInput { mean: list(inputs)?, var: list(inputs)?, noise: list(latents)?, first_latent })
    }

    /// Sets every input to its mean, without variance.
    #[inline(never)] // twice in a reset
    pub(super) fn clear(&mut self) {
        self.mean.fill(0.0);
        self.var.fill(0.0);
    }

    /// Sets the latents to these moments.
    pub(super) fn start_latents(&mut self, moments: impl Iterator<Item = Moments>) {
        let (means, vars) = self.latents();
        for ((mean, var), moments) in means.iter_mut().zip(vars).zip(moments) {
            (*mean, *var) = (moments.mean, moments.var);
        }
    }

    /// The moments of input `index`.
    pub(super) fn at(&self, index: usize) -> Moments {
        let value = |list: &[f32]| list.get(index).copied().unwrap_or(0.0);
        Moments { mean: value(self.mean), var: value(self.var) }
    }

    /// The row among the inputs, which residuals are added to.
    pub(super) fn residual_base(&self) -> ResidualBase<'_> {
        ResidualBase::Standardised { mean: self.mean, var: self.var }
    }

    /// Number of the latent that input `index` is, if it is one.
    pub(super) fn latent(&self, index: usize) -> Option<u16> {
        index.checked_sub(self.first_latent).and_then(|latent| u16::try_from(latent).ok())
    }

    /// Means and variances of the latents.
    pub(super) fn latents(&mut self) -> (&mut [f32], &mut [f32]) {
        let first = self.first_latent;
        (self.mean.get_mut(first..).unwrap_or_default(), self.var.get_mut(first..).unwrap_or_default())
    }

    /// Means and variances of everything before the latents.
    pub(super) fn others(&mut self) -> (&mut [f32], &mut [f32]) {
        let first = self.first_latent;
        (self.mean.get_mut(..first).unwrap_or_default(), self.var.get_mut(..first).unwrap_or_default())
    }

    /// The numbers of the latents that are saved: means, then variances, both as before
    /// [`predict`](Self::predict) if the latents are `predicted`. (A white prior overwrites the means;
    /// nothing depends on them any more.)
    pub(super) fn saved_latents(&self, predicted: bool) -> impl Iterator<Item = f32> + '_ {
        let first = self.first_latent;
        let [mean, var] = [&*self.mean, &*self.var].map(|list| list.get(first..).unwrap_or_default());
        mean.iter().chain(if predicted { &*self.noise } else { var }).copied()
    }

    /// The numbers of the inputs before the latents that are saved: means, then variances.
    pub(super) fn saved_others(&self) -> impl Iterator<Item = f32> + '_ {
        let first = self.first_latent;
        [&*self.mean, &*self.var].into_iter().flat_map(move |list| list.iter().take(first)).copied()
    }

    /// Copies the inputs of another stream of the same model.
    pub(super) fn copy_from(&mut self, other: &DecoderInput<'_>) {
        copy(self.mean, other.mean);
        copy(self.var, other.var);
    }

    /// Replaces the distribution of z_t by that of z_{t+1} under the prior.
    pub(super) fn predict(&mut self, prior: Prior) {
        let latents = self.mean.iter_mut().zip(self.var.iter_mut()).skip(self.first_latent);
        for ((mean, var), before) in latents.zip(self.noise.iter_mut()) {
            *before = *var;
            match prior {
                Prior::White => (*mean, *var) = (0.0, 1.0),
                Prior::Wiener => add_noise(mean, var, 1.0),
            }
        }
    }

    /// Slices that the recognition network writes its outputs to.
    /// [`finish_posterior`](Self::finish_posterior) must follow.
    pub(super) fn posterior(&mut self) -> OutputSlices<'_> {
        let first = self.first_latent;
        [
            self.mean.get_mut(first..).unwrap_or_default(),
            self.var.get_mut(first..).unwrap_or_default(),
            self.noise,
        ]
    }

    /// Turns the recognition network's outputs into the latents' moments: σ² is the total variance.
    pub(super) fn finish_posterior(&mut self) {
        let first = self.first_latent;
        let latents = self.mean.iter_mut().zip(self.var.iter_mut()).skip(first);
        latents.zip(&*self.noise).for_each(|((mean, var), noise)| add_noise(mean, var, *noise));
    }

    /// Writes the row that the generative network reads next, in standardised units; gaps are imputed by its
    /// prediction.
    #[inline(never)]
    pub(super) fn write_row(&mut self, generative: &impl Known, row: RawRow<'_>, predicted: &Outputs<'_>) {
        let (means, vars) = self.others();
        for (channel, (mean, var)) in means.iter_mut().zip(vars).enumerate() {
            let reading = row.reading(channel).or_else(|| predicted.impute(channel));
            let moments = generative.standardised(channel, reading);
            (*mean, *var) = (moments.mean, moments.var);
        }
    }

    /// Writes the units of the recognition network's last layer.
    #[inline(never)]
    pub(super) fn write_units<N: Known>(&mut self, recognition: &N, recurrent: &[f32]) {
        let (means, vars) = self.others();
        backend::read_units::<N>(recognition.spec(), recurrent, means, vars);
    }
}

/// Adds the noise to the propagated variance of a latent.
#[inline(never)] // the loop around it would be unrolled
fn add_noise(mean: &mut f32, var: &mut f32, noise: f32) {
    (*mean, *var) = (limited_mean(*mean), at_most(*var + noise, VAR_LIMIT));
}

/// Largest variance of a latent.
const VAR_LIMIT: f32 = UNIT_LIMIT * UNIT_LIMIT;
