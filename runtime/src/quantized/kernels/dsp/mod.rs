//! Kernels with the DSP instructions of Cortex-M4, M7 and M33: two products and two sums in one instruction.
//!
//! Whole layers run in assembler, from the first weight to the last unit's word: every register is in use,
//! and a compiler would spill. The bits are those of the portable functions, which define them:
//! `portable::dot`, `portable::dot_listed`, `moments::tanh` and `cells`.
//!
//! An interrupt may come at any instruction. Nothing lives below sp, and sp is a multiple of eight
//! throughout, as AAPCS32 asks where another function may be entered: a handler's frame overwrites nothing
//! and is aligned, whatever CCR.STKALIGN is. Exception entry saves r0 to r3, r12, lr and the flags, and a
//! handler keeps r4 to r11. A load or store of several registers that was abandoned is completed or begun
//! again with its base unchanged, also where the base is one of the registers loaded; what it reads is
//! written by the interrupted thread alone.

#![allow(unsafe_code)] // assembler, and the pointers it walks

// Macros first, as their users need them; assembler keeps its own form.
#[macro_use]
mod assembler;
mod activations;
#[macro_use]
#[rustfmt::skip]
mod blocks;
#[macro_use]
#[rustfmt::skip]
mod listed;
#[macro_use]
#[rustfmt::skip]
mod moments;
#[rustfmt::skip]
mod gru;
#[rustfmt::skip]
mod layers;
#[rustfmt::skip]
mod weight_vars;

pub(in crate::quantized) use activations::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use blocks::dot_blocks;
pub(in crate::quantized) use gru::gru_layer;
pub(in crate::quantized) use layers::{lstm_layer, tanh_layer};
pub(in crate::quantized) use listed::dot_pairs;
pub(in crate::quantized) use weight_vars::weight_var_terms;

pub(in crate::quantized) use super::dot::{dot, dot_listed};
pub(in crate::quantized) use super::gru_args::gru_units;
pub(in crate::quantized) use super::layer_args::{lstm_units, tanh_units};
