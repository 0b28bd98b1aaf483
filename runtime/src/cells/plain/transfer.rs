//! Chooses a transfer function's moments by what the checkpoint says.
//!
//! Pre-activations are finite and their variances not negative, since weights, units and inputs are limited (see
//! `models::network`): what comes in makes sense.

use crate::checkpoint::{MomentForm, Transfer};
use crate::moments::{self, Moments};

pub(crate) fn sigmoid(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::sigmoid_of_sane(a),
        MomentForm::Paper => moments::paper::sigmoid(a),
    }
}

pub(crate) fn tanh(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::tanh_of_sane(a),
        MomentForm::Paper => moments::paper::tanh(a),
    }
}

pub(crate) fn transfer(function: Transfer, form: MomentForm, a: Moments) -> Moments {
    match function {
        Transfer::Tanh => tanh(form, a),
        Transfer::Sigmoid => sigmoid(form, a),
        Transfer::Rectifier => moments::rectifier(a),
    }
}

/// [`transfer`] of a number that is certain, in the accurate form.
#[inline(never)] // one copy for all gates and cells
pub(crate) fn certain_transfer(function: Transfer, a: f32) -> f32 {
    match function {
        Transfer::Tanh => moments::certain_tanh(a),
        Transfer::Sigmoid => moments::certain_sigmoid(a),
        Transfer::Rectifier => {
            if a > 0.0 {
                a
            } else {
                0.0
            }
        }
    }
}
