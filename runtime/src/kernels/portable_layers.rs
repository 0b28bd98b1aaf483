//! Layers on cores whose kernels are sums alone: the walk over units is left to `cells::quantized`.

use crate::cells::QuantizedInput;
use crate::checkpoint::QuantizedView;

/// No walk over rows is faster than the portable one: leaves all units to it.
#[inline(always)]
pub(crate) fn tanh_units(_: &QuantizedView<'_>, _: &QuantizedInput<'_>, _: &mut [f32]) -> usize {
    0
}

/// See [`tanh_units`].
#[inline(always)]
pub(crate) fn lstm_units(
    _: &QuantizedView<'_>,
    _: &QuantizedInput<'_>,
    _: &mut [f32],
    _: &mut [[f32; 2]],
) -> Option<()> {
    None
}
