//! The portable kernels, for cores without kernels of their own.

pub(in crate::quantized) use super::fill::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use super::portable::{dot, dot_listed};
pub(in crate::quantized) use super::portable_layers::{gru_units, lstm_units, tanh_units};
