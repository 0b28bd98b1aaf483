//! Recurrences in floating point.
//!
//! A deterministic layer, whose input, state and weights all have variance zero, computes means only: the
//! same bits as with variances of zero, for a quarter of the work.

mod activation;
mod elman;
mod gru;
pub(super) mod lanes;
mod lstm;
pub(super) mod units;
#[cfg_attr(not(all(feature = "vectors", target_arch = "x86_64")), path = "no_vectors.rs")]
mod vectors;
#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
mod wide;
#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
mod wide_gru;
#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
mod wide_sums;

pub(super) use activation::sigmoid;
pub(super) use elman::elman_step;
pub(super) use gru::gru_step;
pub(super) use lstm::lstm_step;

use super::format::AffineView;
use super::kernels::NoisyInput;
use crate::spec::MomentForm;

/// What a layer reads in one step.
pub(in crate::float) struct Layer<'a> {
    pub(in crate::float) form: MomentForm,
    /// β of implicit variance networks (Bayer 2015, thesis, 2.6.1).
    pub(in crate::float) variance_scale: f32,
    pub(in crate::float) affine: AffineView<'a>,
    /// [x_t, h_{t−1}] after noise.
    pub(in crate::float) input: NoisyInput<'a>,
}

impl Layer<'_> {
    /// Whether every pre-activation and activation is deterministic. The published moments are not: they make
    /// variance out of none.
    fn is_deterministic(&self) -> bool {
        self.form == MomentForm::Accurate && !self.affine.has_variances() && vectors::all_zero(self.input.var)
    }
}

/// Whether no variance is above zero. None is below.
#[inline(always)]
fn all_zero(vars: &[f32]) -> bool {
    // Bits are or'ed without an early exit: the loop vectorises.
    let mut bits = 0;
    for var in vars {
        bits |= var.to_bits();
    }
    bits == 0
}

/// State of the units of one layer.
pub(in crate::float) struct Units<'a> {
    pub(in crate::float) mean: &'a mut [f32],
    pub(in crate::float) var: &'a mut [f32],
}

impl<'a> Units<'a> {
    /// The units of a block of words: first all means, then all variances.
    pub(in crate::float) fn new(words: &'a mut [f32]) -> Self {
        let half = words.len() / 2;
        let (mean, var) = words.split_at_mut_checked(half).unwrap_or_default();
        Units { mean, var }
    }

    /// Means and variances of the units from `first` on.
    fn units_from(&mut self, first: usize) -> impl Iterator<Item = (&mut f32, &mut f32)> {
        let (mean, var) = (self.mean.get_mut(first..), self.var.get_mut(first..));
        mean.unwrap_or_default().iter_mut().zip(var.unwrap_or_default())
    }
}
