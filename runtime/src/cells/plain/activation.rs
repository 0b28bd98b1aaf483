//! Chooses a activation function's moments by what the checkpoint says.
//!
//! Pre-activations are finite and their variances not negative, since weights, units and inputs are limited (see
//! `models::network`): what comes in makes sense.

use crate::checkpoint::{Activation, MomentForm};
use crate::moments::{self, Moments};

pub(crate) fn sigmoid(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::sigmoid_of_sanitized(a),
        MomentForm::Paper => moments::paper::sigmoid(a),
    }
}

pub(crate) fn tanh(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::tanh_of_sanitized(a),
        MomentForm::Paper => moments::paper::tanh(a),
    }
}

pub(crate) fn activation(function: Activation, form: MomentForm, a: Moments) -> Moments {
    match function {
        Activation::Tanh => tanh(form, a),
        Activation::Sigmoid => sigmoid(form, a),
        Activation::Relu => moments::relu(a),
    }
}

/// [`transfer`] of a number that is certain, in the accurate form.
#[inline(never)] // one copy for all gates and cells
pub(crate) fn deterministic_activation(function: Activation, a: f32) -> f32 {
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
