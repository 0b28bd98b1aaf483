//! Layers on cores whose kernels are sums alone: the walk over units is left to `cells::packed`.

use crate::cells::PackedInput;
use crate::checkpoint::PackedView;

/// No walk over rows is faster than the portable one: leaves all units to it.
#[inline(always)]
pub(crate) fn tanh_units(_: &PackedView<'_>, _: &PackedInput<'_>, _: &mut [f32]) -> usize {
    0
}

/// See [`tanh_units`].
#[inline(always)]
pub(crate) fn lstm_units(
    _: &PackedView<'_>,
    _: &PackedInput<'_>,
    _: &mut [f32],
    _: &mut [[f32; 2]],
) -> Option<()> {
    None
}
