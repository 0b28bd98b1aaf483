//! What the generative network is fed with: moments of what its family reads, then of the latents.

use crate::cells::UNIT_LIMIT;
use crate::checkpoint::Prior;
use crate::models::Model;
use crate::models::input::RawRow;
use crate::models::outputs::{OutputSlices, Outputs};
#[cfg(feature = "quantized")]
use crate::models::quantized_state;
use crate::models::words::{Words, copy};
use crate::moments::{Moments, at_most};

/// Standardised moments of the generative network's inputs.
#[derive(Debug)]
pub(in crate::models) struct DecoderInput<'a> {
    pub(super) mean: &'a mut [f32],
    pub(super) var: &'a mut [f32],
    /// Noise part of the latents' variances, until it is added to the other; what the variances were, while the next latents
    /// stand in their place.
    noise: &'a mut [f32],
    /// Where the latents begin.
    first_latent: usize,
}

impl<'a> DecoderInput<'a> {
    pub(super) fn divide(
        words: &mut Words<'a>,
        inputs: u16,
        latents: u16,
        first_latent: usize,
    ) -> Option<Self> {
        let mut list = |count: u16| words.take(count.into());
        Some(DecoderInput { mean: list(inputs)?, var: list(inputs)?, noise: list(latents)?, first_latent })
    }

    /// Everything certain and at its mean.
    pub(super) fn clear(&mut self) {
        self.mean.fill(0.0);
        self.var.fill(0.0);
    }

    /// The moments of input `index`.
    pub(in crate::models) fn at(&self, index: usize) -> Moments {
        let value = |list: &[f32]| list.get(index).copied().unwrap_or(0.0);
        Moments { mean: value(self.mean), var: value(self.var) }
    }

    /// Which latent input `index` is, if it is one.
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

    /// What is saved of the latents: means, then variances, both as they were before the next ones were [expected](Self::expect),
    /// if `expected` they are. (A white prior forgets the means, and nothing depends on them any more.)
    pub(super) fn saved_latents(&self, expected: bool) -> impl Iterator<Item = f32> + '_ {
        let first = self.first_latent;
        let [mean, var] = [&*self.mean, &*self.var].map(|list| list.get(first..).unwrap_or_default());
        mean.iter().chain(if expected { &*self.noise } else { var }).copied()
    }

    /// What is saved of everything before the latents: means, then variances.
    pub(super) fn saved_others(&self) -> impl Iterator<Item = f32> + '_ {
        let first = self.first_latent;
        [&*self.mean, &*self.var].into_iter().flat_map(move |list| list.iter().take(first)).copied()
    }

    /// Takes over what another stream of the same model is fed with.
    pub(super) fn copy_from(&mut self, other: &DecoderInput<'_>) {
        copy(self.mean, other.mean);
        copy(self.var, other.var);
    }

    /// Goes from what is known of z_t to what that says of z_{t+1}.
    pub(super) fn expect(&mut self, prior: Prior) {
        copy(self.noise, self.var.get(self.first_latent..).unwrap_or_default());
        let (mean, var) = self.latents();
        match prior {
            Prior::White => {
                mean.fill(0.0);
                var.fill(1.0);
            }
            Prior::Wiener => var.iter_mut().for_each(|var| *var = at_most(*var + 1.0, VAR_LIMIT)),
        }
    }

    /// Where the recognition network writes its outputs. [`recognised`](Self::recognised) must follow.
    pub(super) fn posterior(&mut self) -> OutputSlices<'_> {
        let first = self.first_latent;
        [
            self.mean.get_mut(first..).unwrap_or_default(),
            self.var.get_mut(first..).unwrap_or_default(),
            self.noise,
        ]
    }

    /// Makes the recognition network's outputs the latents' moments: σ² is the whole variance.
    pub(super) fn recognised(&mut self) {
        let first = self.first_latent;
        let places = self.mean.iter_mut().zip(self.var.iter_mut()).skip(first);
        for ((mean, var), noise) in places.zip(&*self.noise) {
            *mean = mean.clamp(-UNIT_LIMIT, UNIT_LIMIT);
            *var = at_most(*var + noise, VAR_LIMIT);
        }
    }

    /// Takes in the row that the generative network reads next, in units of its training data.
    #[inline(never)]
    pub(super) fn take_row(&mut self, generative: &Model<'_>, row: RawRow<'_>, predicted: &Outputs<'_>) {
        let (means, vars) = self.others();
        for (channel, (mean, var)) in means.iter_mut().zip(vars).enumerate() {
            let reading = row.reading(channel).or_else(|| predicted.stand_in(channel));
            let moments = generative.standardised(channel, reading);
            (*mean, *var) = (moments.mean, moments.var);
        }
    }

    /// Takes in the units of the recognition network's last layer.
    #[inline(never)]
    pub(super) fn take_units(&mut self, recognition: &Model<'_>, recurrent: &[f32]) {
        let spec = recognition.spec();
        let units = recurrent.get(spec.last_units()).unwrap_or_default();
        let (means, vars) = self.others();
        match spec.layout.runs_quantized() {
            #[cfg(feature = "quantized")]
            true => {
                for ((mean, var), word) in means.iter_mut().zip(vars).zip(units) {
                    let unit = quantized_state::unit(*word);
                    (*mean, *var) = (unit.mean, unit.var);
                }
            }
            _ => {
                let (unit_means, unit_vars) = units.split_at_checked(units.len() / 2).unwrap_or_default();
                copy(means, unit_means);
                copy(vars, unit_vars);
            }
        }
    }
}

/// Largest variance of a latent.
const VAR_LIMIT: f32 = UNIT_LIMIT * UNIT_LIMIT;
