//! Layers on cores whose kernels are sums alone: the walk over units is left to `cells`.

use super::super::format::QuantizedView;
use super::input::QuantizedInput;
use crate::spec::Architecture;

/// No walk over rows is faster than the portable one: leaves all units to it.
#[inline(always)]
pub(in crate::quantized) fn tanh_units<A: Architecture>(_: &QuantizedView<'_, A>, _: &QuantizedInput<'_>, _: &mut [f32]) -> usize {
    0
}

/// See [`tanh_units`].
#[inline(always)]
pub(in crate::quantized) fn lstm_units<A: Architecture>(
    _: &QuantizedView<'_, A>,
    _: &QuantizedInput<'_>,
    _: &mut [f32],
    _: &mut [[f32; 2]],
) -> Option<()> {
    None
}

/// See [`tanh_units`].
#[inline(always)]
pub(in crate::quantized) fn gru_units<A: Architecture>(_: &QuantizedView<'_, A>, _: &QuantizedInput<'_>, _: &mut [f32]) -> usize {
    0
}
