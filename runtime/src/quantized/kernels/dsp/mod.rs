//! Kernels with the DSP instructions of Cortex-M4, M7 and M33: two products and two sums in one instruction.
//!
//! Whole layers run in assembler, from the first weight to the last unit's word: every register is in use, and a compiler would
//! spill. The bits are those of the portable functions, which define them: `portable::dot`, `moments::tanh` and
//! `cells`.

#![allow(unsafe_code)] // assembler, and the pointers it walks

mod activations;
// Macros first, as their users need them; assembler keeps its own form.
#[macro_use]
#[rustfmt::skip]
mod blocks;
#[macro_use]
#[rustfmt::skip]
mod moments;
#[rustfmt::skip]
mod gru;
#[rustfmt::skip]
mod layers;

pub(in crate::quantized) use activations::{fill_pairs, narrow};
pub(in crate::quantized) use blocks::dot_blocks;
pub(in crate::quantized) use gru::gru_layer;
pub(in crate::quantized) use layers::{lstm_layer, tanh_layer};

pub(in crate::quantized) use super::dot::dot;
pub(in crate::quantized) use super::gru_args::gru_units;
pub(in crate::quantized) use super::layer_args::{lstm_units, tanh_units};
