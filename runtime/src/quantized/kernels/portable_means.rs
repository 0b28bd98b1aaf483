//! Layers without variances on cores that have no kernels for them: the walk over units is left to `cells`.

use super::super::format::QuantizedView;
use super::fill::NoiseScales;
use super::input::QuantizedInput;
use crate::spec::Architecture;

/// No walk over rows is faster than the portable one: leaves all units to it.
#[inline(always)]
pub(in crate::quantized) fn tanh_means<A: Architecture>(_: &QuantizedView<'_, A>, _: &QuantizedInput<'_>, _: &mut [f32]) -> usize {
    0
}

/// See [`tanh_means`].
#[inline(always)]
pub(in crate::quantized) fn lstm_means<A: Architecture>(
    _: &QuantizedView<'_, A>,
    _: &QuantizedInput<'_>,
    _: &mut [f32],
    _: &mut [[f32; 2]],
) -> Option<()> {
    None
}

/// Writes codes of means alone for as many pairs of units as a kernel does: none.
#[inline(always)]
pub(in crate::quantized) fn fill_means(_: &NoiseScales, _: &[[f32; 2]], _: &mut [f32]) -> usize {
    0
}
