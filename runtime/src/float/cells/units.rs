//! The recurrences of sixteen units: of one stream, or one of each of sixteen streams.

#![allow(clippy::needless_range_loop)] // see `wide`

use super::super::format::LANES;
use super::lanes::{Lanes, WideMoments, map, zip};
use crate::moments::{
    Moments, deterministic_sigmoid, deterministic_tanh, interpolate_of_sanitized, limited_mean, paper,
    product_of_sanitized, relu, sigmoid_of_sanitized, tanh_of_sanitized,
};
use crate::spec::Activation;

/// A form of the moments of sigmoid and tanh.
///
/// A trait and not functions as arguments: those are called through code of the standard library, which is
/// compiled without the caller's target features unless the compiler inlines it.
pub(in crate::float) trait Form {
    fn sigmoid(a: Moments) -> Moments;
    fn tanh(a: Moments) -> Moments;
}

/// [`MomentForm::Accurate`](crate::spec::MomentForm::Accurate).
pub(in crate::float) struct Accurate;

impl Form for Accurate {
    #[inline(always)]
    fn sigmoid(a: Moments) -> Moments {
        sigmoid_of_sanitized(a)
    }

    #[inline(always)]
    fn tanh(a: Moments) -> Moments {
        tanh_of_sanitized(a)
    }
}

/// [`MomentForm::Paper`](crate::spec::MomentForm::Paper), called lane by lane.
pub(in crate::float) struct Published;

impl Form for Published {
    #[inline(never)]
    fn sigmoid(a: Moments) -> Moments {
        paper::sigmoid(a)
    }

    #[inline(never)]
    fn tanh(a: Moments) -> Moments {
        paper::tanh(a)
    }
}

#[inline(always)]
pub(in crate::float) fn sigmoid<F: Form>(a: WideMoments) -> WideMoments {
    let mut y = WideMoments::ZERO;
    for lane in 0..LANES {
        let moments = F::sigmoid(a.at(lane));
        (y.mean[lane], y.var[lane]) = (moments.mean, moments.var);
    }
    y
}

#[inline(always)]
pub(in crate::float) fn tanh<F: Form>(a: WideMoments) -> WideMoments {
    let mut y = WideMoments::ZERO;
    for lane in 0..LANES {
        let moments = F::tanh(a.at(lane));
        (y.mean[lane], y.var[lane]) = (moments.mean, moments.var);
    }
    y
}

/// Moments of the activation function of an Elman or dense layer.
#[inline(always)]
pub(in crate::float) fn activation<F: Form>(function: Activation, a: WideMoments) -> WideMoments {
    match function {
        Activation::Tanh => tanh::<F>(a),
        Activation::Sigmoid => sigmoid::<F>(a),
        Activation::Relu => a.map(relu),
    }
}

/// The next (h, c) of an LSTM: c_t = f ⊙ c_{t−1} + i ⊙ g, h_t = o ⊙ tanh(c_t).
#[inline(always)]
pub(in crate::float) fn lstm<F: Form>(
    gates: &[WideMoments; 4],
    cell: WideMoments,
) -> (WideMoments, WideMoments) {
    let [input, forget, candidate, output] = *gates;
    let kept = sigmoid::<F>(forget).zip(cell, product_of_sanitized);
    let added = sigmoid::<F>(input).zip(tanh::<F>(candidate), product_of_sanitized);
    let cell = kept.zip(added, |kept, added| {
        Moments::limited(Moments { mean: kept.mean + added.mean, var: kept.var + added.var })
    });
    (sigmoid::<F>(output).zip(tanh::<F>(cell), product_of_sanitized), cell)
}

/// [`lstm`] without variance.
#[inline(always)]
pub(in crate::float) fn deterministic_lstm(gates: &[Lanes; 4], cell: Lanes) -> (Lanes, Lanes) {
    let [input, forget, candidate, output] = *gates;
    let kept = zip(map(forget, deterministic_sigmoid), cell, |gate, cell| gate * cell);
    let added =
        zip(map(input, deterministic_sigmoid), map(candidate, deterministic_tanh), |gate, y| gate * y);
    let cell = zip(kept, added, |kept, added| limited_mean(kept + added));
    (zip(map(output, deterministic_sigmoid), map(cell, deterministic_tanh), |gate, y| gate * y), cell)
}

/// h_t = (1 − z) ⊙ n + z ⊙ h_{t−1} with n = tanh(a_x + r ⊙ a_h). `parts` are the pre-activations of reset
/// gate, update gate, candidate from the input and candidate from the state.
#[inline(always)]
pub(in crate::float) fn gru<F: Form>(parts: &[WideMoments; 4], h: WideMoments) -> WideMoments {
    let [reset, update, from_input, from_state] = *parts;
    let gated = sigmoid::<F>(reset).zip(from_state, product_of_sanitized);
    let a = from_input.zip(gated, |a, b| Moments { mean: a.mean + b.mean, var: a.var + b.var });
    sigmoid::<F>(update).zip3(tanh::<F>(a), h, interpolate_of_sanitized)
}

/// [`gru`] without variance.
#[inline(always)]
pub(in crate::float) fn deterministic_gru(parts: &[Lanes; 4], h: Lanes) -> Lanes {
    let [reset, update, from_input, from_state] = *parts;
    let gated = zip(map(reset, deterministic_sigmoid), from_state, |gate, a| gate * a);
    let n = map(zip(from_input, gated, |a, b| a + b), deterministic_tanh);
    let z = map(update, deterministic_sigmoid);
    let from_n = zip(z, n, |z, n| (1.0 - z) * n);
    zip(from_n, zip(z, h, |z, h| z * h), |a, b| limited_mean(a + b))
}

/// The units of an Elman or dense layer, or of a GRU, after the activation function `y`.
#[inline(always)]
pub(in crate::float) fn scaled(y: WideMoments, variance_scale: f32) -> WideMoments {
    y.map(|y| Moments { var: variance_scale * y.var, ..y }.limited())
}

/// The units of an Elman or dense layer without variance.
#[inline(always)]
pub(in crate::float) fn deterministic_elman(function: Activation, a: Lanes) -> Lanes {
    match function {
        Activation::Tanh => map(a, deterministic_tanh),
        Activation::Sigmoid => map(a, deterministic_sigmoid),
        Activation::Relu => map(a, |a| if a > 0.0 { limited_mean(a) } else { 0.0 }),
    }
}
