//! Chooses a transfer function's moments by what the checkpoint says.

use crate::checkpoint::{MomentForm, Transfer};
use crate::moments::{self, Moments};

pub(crate) fn sigmoid(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::sigmoid(a),
        MomentForm::Paper => moments::paper::sigmoid(a),
    }
}

pub(crate) fn tanh(form: MomentForm, a: Moments) -> Moments {
    match form {
        MomentForm::Accurate => moments::tanh(a),
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
