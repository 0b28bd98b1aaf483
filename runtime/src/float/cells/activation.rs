//! Moments of an activation function, by the checkpoint's choice of function and form.
//!
//! Weights, units and inputs are limited (`limits.rs`), so that pre-activations are sanitized already.

use crate::moments::{self, Moments};
use crate::spec::{Activation, MomentForm};

pub(in crate::float) fn sigmoid(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::sigmoid_of_sanitized(a),
        MomentForm::Paper => moments::paper::sigmoid(a),
    }
}

pub(super) fn tanh(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::tanh_of_sanitized(a),
        MomentForm::Paper => moments::paper::tanh(a),
    }
}

pub(super) fn activation(function: Activation, form: MomentForm, a: Moments) -> Moments {
    match function {
        Activation::Tanh => tanh(form, a),
        Activation::Sigmoid => sigmoid(form, a),
        Activation::Relu => moments::relu(a),
    }
}

/// [`activation`] of a deterministic input, in the accurate form.
#[inline(never)] // one copy for all gates and cells
pub(super) fn deterministic_activation(function: Activation, a: f32) -> f32 {
    match function {
        Activation::Tanh => moments::deterministic_tanh(a),
        Activation::Sigmoid => moments::deterministic_sigmoid(a),
        Activation::Relu => {
            if a > 0.0 {
                a
            } else {
                0.0
            }
        }
    }
}
