//! Kernels for Armv7-M without DSP instructions, such as Cortex-M3: 2.4 instructions for each multiply-accumulate.
//!
//! One instruction multiplies and adds, one takes a byte or a halfword out of a word. As on cores with DSP instructions, whole
//! layers run in assembler. The bits are those of the portable functions: `portable::dot`, `moments::tanh` and `cells`.

#![allow(unsafe_code)] // assembler, and the pointers it walks

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

pub(in crate::quantized) use blocks::dot_blocks;
pub(in crate::quantized) use gru::gru_layer;
pub(in crate::quantized) use layers::{lstm_layer, tanh_layer};

pub(in crate::quantized) use super::fill::{fill_pairs, narrow};
pub(in crate::quantized) use super::dot::dot;
pub(in crate::quantized) use super::gru_args::gru_units;
pub(in crate::quantized) use super::layer_args::{lstm_units, tanh_units};
