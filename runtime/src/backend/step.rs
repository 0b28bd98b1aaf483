//! One step of a network, and its state.

use core::ops::RangeInclusive;

use crate::format::Cursor;
use crate::spec::{Architecture, ModelSpec};
use crate::step_io::{InputPairs, StepIo};

/// Advances a network by one sample: all layers, then the rows of the output map. `weights` is the payload
/// from the first layer on.
pub(crate) fn step<A: Architecture>(
    spec: &ModelSpec,
    mut weights: Cursor<'_>,
    recurrent: &mut [f32],
    scratch: &mut [f32],
    io: &mut impl StepIo,
) {
    let spec = A::known_spec(spec);
    let units = spec.last_units::<A>();
    dispatch!(spec.layout, backend => {
        backend::layers::<A>(spec, &mut weights, scratch, recurrent, io.inputs());
        let below = recurrent.get(units).unwrap_or_default();
        backend::outputs::<A>(spec, &mut weights, scratch, below, |row| io.output(row));
    });
}

/// Whether a network's layers run in kernels in assembler. `weights` is as in [`step`].
pub(crate) fn is_accelerated(spec: &ModelSpec, weights: &Cursor<'_>) -> bool {
    dispatch!(spec.layout, backend => backend::is_accelerated(weights))
}

/// Advances the layers of a network by one sample, without computing its outputs.
pub(crate) fn layers<A: Architecture>(
    spec: &ModelSpec,
    mut weights: Cursor<'_>,
    recurrent: &mut [f32],
    scratch: &mut [f32],
    inputs: &impl InputPairs,
) {
    dispatch!(spec.layout, backend => backend::layers::<A>(spec, &mut weights, scratch, recurrent, inputs));
}

/// Writes the state of a network's layers as numbers.
pub(crate) fn save_state(spec: &ModelSpec, recurrent: &[f32], numbers: &mut [f32]) {
    dispatch!(spec.layout, backend => backend::save_state(spec, recurrent, numbers));
}

/// Reads what [`save_state`] wrote.
pub(crate) fn restore_state(spec: &ModelSpec, recurrent: &mut [f32], numbers: &[f32]) {
    dispatch!(spec.layout, backend => backend::restore_state(spec, recurrent, numbers));
}

/// The first word of a network's layers that steps cannot have left; `limits` are those of the numbers that
/// [`save_state`] writes.
pub(crate) fn state_fault(
    spec: &ModelSpec,
    recurrent: &[f32],
    limits: impl Iterator<Item = RangeInclusive<f32>>,
) -> Option<usize> {
    dispatch!(spec.layout, backend => backend::state_fault(spec, recurrent, limits))
}

/// Reads the moments of the last layer's units.
pub(crate) fn read_units<A: Architecture>(
    spec: &ModelSpec,
    recurrent: &[f32],
    means: &mut [f32],
    vars: &mut [f32],
) {
    let spec = A::known_spec(spec);
    let units = recurrent.get(spec.last_units::<A>()).unwrap_or_default();
    dispatch!(spec.layout, backend => backend::read_units(units, means, vars));
}
