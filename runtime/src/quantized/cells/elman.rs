//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::super::fixed::{FixedMoments, QuantizedUnit, SHORT_MEAN_BITS};
use super::super::format::QuantizedView;
use super::super::kernels::{self, QuantizedInput};
use super::super::moments::deterministic_tanh;
use super::group::{group_means, group_moments};
use super::unit_var;
use crate::spec::Activation;

/// Replaces the units `h` of an Elman layer by their next state.
pub(in crate::quantized) fn elman_step(
    function: Activation,
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
) {
    let done =
        if map.propagates { kernels::tanh_units(map, input, h) } else { kernels::tanh_means(map, input, h) };
    if done < h.len() {
        portable_tanh_units(map, input, h, done);
    }
    if function == Activation::Sigmoid {
        sigmoids(h);
    }
}

/// The units from `done` on, a multiple of four.
#[inline(never)] // kept out of its caller's frame
fn portable_tanh_units(map: &QuantizedView<'_>, input: &QuantizedInput<'_>, h: &mut [f32], done: usize) {
    for (index, units) in h.chunks_mut(4).enumerate().skip(done / 4) {
        let tanh = if map.propagates {
            group_moments(map, index, input).tanh(input.shift)
        } else {
            group_means(map, index, input).map(|mean| FixedMoments { mean: deterministic_tanh(mean), var: 0 })
        };
        for (unit, y) in units.iter_mut().zip(tanh) {
            *unit = QuantizedUnit { mean: y.short_mean(), var: unit_var(y.var) }.to_word();
        }
    }
}

/// Units that end in σ, from tanh of half the argument.
#[inline(never)]
fn sigmoids(units: &mut [f32]) {
    for unit in units {
        let QuantizedUnit { mean, var } = QuantizedUnit::from_word(*unit);
        *unit = QuantizedUnit { mean: (mean + (1 << SHORT_MEAN_BITS)) >> 1, var: var >> 2 }.to_word();
    }
}
