//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::super::fixed::{FixedMoments, QuantizedUnit, SHORT_MEAN_BITS};
use super::super::format::QuantizedView;
use super::super::kernels::{self, QuantizedInput};
use super::super::moments::deterministic_tanh;
use super::group::{group_means, group_moments};
use super::unit_var;
use crate::spec::{Activation, Architecture};

/// Replaces the units `h` of an Elman layer by their next state.
pub(in crate::quantized) fn elman_step<A: Architecture>(
    function: Activation,
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
) {
    let propagates = map.propagates();
    let done =
        if propagates { kernels::tanh_units(map, input, h) } else { kernels::tanh_means(map, input, h) };
    if done < h.len() && !(kernels::run_all_units::<A>() && propagates) {
        portable_tanh_units(map, input, h, done);
    }
    if A::USES.other_activations && function == Activation::Sigmoid {
        sigmoids(h);
    }
}

/// The units from `done` on, a multiple of four.
#[inline(never)] // kept out of its caller's frame
fn portable_tanh_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    done: usize,
) {
    for (index, units) in h.chunks_mut(4).enumerate().skip(done / 4) {
        let tanh = if map.propagates() {
            group_moments(map, index, input).tanh(input.shift)
        } else {
            group_means(map, index, input).map(|mean| FixedMoments { mean: deterministic_tanh(mean), var: 0 })
        };
        for (unit, y) in units.iter_mut().zip(tanh) {
            *unit = tanh_unit(y).to_word();
        }
    }
}

/// Units that end in σ, from tanh of half the argument.
#[inline(never)]
fn sigmoids(units: &mut [f32]) {
    for unit in units {
        *unit = sigmoid_unit(QuantizedUnit::from_word(*unit)).to_word();
    }
}

/// The unit of tanh of an activation's moments.
#[inline(always)]
pub(in crate::quantized) fn tanh_unit(y: FixedMoments) -> QuantizedUnit {
    QuantizedUnit { mean: y.short_mean(), var: unit_var(y.var) }
}

/// A unit that ends in σ, from tanh of half the argument.
#[inline(always)]
pub(in crate::quantized) fn sigmoid_unit(QuantizedUnit { mean, var }: QuantizedUnit) -> QuantizedUnit {
    QuantizedUnit { mean: (mean + (1 << SHORT_MEAN_BITS)) >> 1, var: var >> 2 }
}
