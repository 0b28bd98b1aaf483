//! State of float layers: means, then variances, of h and of the cell's other states, layer after layer.

use core::ops::RangeInclusive;

use crate::arena::copy;
use crate::format::AffineShape;
use crate::spec::{CellKind, ModelSpec};

/// Words of RAM per unit: for h, and for its whole state.
pub(crate) const fn unit_words(cell: CellKind) -> (usize, usize) {
    (2, 2 * cell.states())
}

/// Words of scratch for the noisy input of an affine map: means and variances.
pub(crate) const fn scratch_words(shape: AffineShape) -> usize {
    2 * shape.cols
}

/// Writes the state as numbers.
pub(crate) fn save_state(_: &ModelSpec, state: &[f32], numbers: &mut [f32]) {
    copy(numbers, state);
}

/// Reads what [`save_state`] wrote.
pub(crate) fn restore_state(_: &ModelSpec, state: &mut [f32], numbers: &[f32]) {
    copy(state, numbers);
}

/// The first word that steps cannot have left.
pub(crate) fn state_fault(
    _: &ModelSpec,
    state: &[f32],
    limits: impl Iterator<Item = RangeInclusive<f32>>,
) -> Option<usize> {
    state.iter().zip(limits).position(|(value, limits)| !limits.contains(value))
}

/// Copies the moments of a layer's units h.
pub(crate) fn read_units(units: &[f32], means: &mut [f32], vars: &mut [f32]) {
    let (unit_means, unit_vars) = units.split_at_checked(units.len() / 2).unwrap_or_default();
    copy(means, unit_means);
    copy(vars, unit_vars);
}
