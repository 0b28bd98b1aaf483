//! The portable kernels, for cores without kernels of their own.

pub(crate) use super::activations::{fill_pairs, narrow};
pub(crate) use super::quantized::dot;
pub(crate) use super::portable_layers::{lstm_units, tanh_units};
