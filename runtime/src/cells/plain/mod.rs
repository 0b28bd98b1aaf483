//! Recurrences in floating point, for the plain layout.
//!
//! A layer in which nothing is uncertain, neither its input nor its state nor its weights, carries its means alone: the same
//! bits as with variances of zero, for a quarter of the work.

mod activation;
mod elman;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod lanes;
mod lstm;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) mod wide;

pub(crate) use activation::sigmoid;
pub(crate) use elman::elman_step;
#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
pub(crate) use elman::portable_elman;
pub(crate) use lstm::lstm_step;
#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
pub(crate) use lstm::portable_lstm;

use super::UNIT_LIMIT;
use crate::checkpoint::{AffineView, MomentForm};
use crate::kernels::NoisyInput;
use crate::moments::{Moments, at_most};

/// What a layer reads at one step.
pub(crate) struct Layer<'a> {
    pub(crate) form: MomentForm,
    /// β of implicit variance networks (Bayer 2015, thesis, 2.6.1).
    pub(crate) variance_scale: f32,
    pub(crate) affine: AffineView<'a>,
    /// [x_t, h_{t−1}] after noise.
    pub(crate) input: NoisyInput<'a>,
}

impl Layer<'_> {
    /// Whether every pre-activation is certain, and stays so: the printed moments make variance of none.
    fn is_deterministic(&self) -> bool {
        self.form == MomentForm::Accurate && !self.affine.has_variances() && all_zero(self.input.var)
    }
}

/// Whether no variance is above zero. None is below.
fn all_zero(vars: &[f32]) -> bool {
    // All bits together, without a way out of the loop: a compiler takes many at a time.
    vars.iter().fold(0, |bits, var| bits | var.to_bits()) == 0
}

/// State of the units of one layer: means and variances side by side.
pub(crate) struct Units<'a> {
    pub(crate) mean: &'a mut [f32],
    pub(crate) var: &'a mut [f32],
}

impl<'a> Units<'a> {
    /// The units of a block of words: first all means, then all variances.
    pub(crate) fn new(words: &'a mut [f32]) -> Self {
        let half = words.len() / 2;
        let (mean, var) = words.split_at_mut_checked(half).unwrap_or_default();
        Units { mean, var }
    }

    /// Units from `first` on as (mean, variance) places.
    fn places(&mut self, first: usize) -> impl Iterator<Item = (&mut f32, &mut f32)> {
        let (mean, var) = (self.mean.get_mut(first..), self.var.get_mut(first..));
        mean.unwrap_or_default().iter_mut().zip(var.unwrap_or_default())
    }
}

/// Keeps a unit's moments inside the limits.
#[inline(always)]
fn limited(unit: Moments) -> Moments {
    Moments { mean: limited_mean(unit.mean), var: at_most(unit.var, UNIT_LIMIT * UNIT_LIMIT) }
}

#[inline(always)]
fn limited_mean(mean: f32) -> f32 {
    let below = at_most(mean, UNIT_LIMIT);
    if below > -UNIT_LIMIT { below } else { -UNIT_LIMIT }
}
