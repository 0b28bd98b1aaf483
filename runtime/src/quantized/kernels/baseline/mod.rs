//! Kernels for Armv6-M, such as Cortex-M0: 3.6 instructions for each multiply-accumulate.
//!
//! Only the lower eight registers multiply; sums live in the upper ones, which can be added to. There is no
//! long product and no leading-zeros count: ⌊a·b / 2³²⌋ takes four short products. Whole layers run in
//! assembler, except gated recurrent units, whose portable walk uses the sums. The bits are those of the
//! portable functions: `portable::dot`, `portable::dot_listed`, `moments::tanh` and `cells`.
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
#[rustfmt::skip]
mod blocks;
#[macro_use]
#[rustfmt::skip]
mod moments;
#[macro_use]
#[rustfmt::skip]
mod rows;
#[rustfmt::skip]
mod layers;
#[rustfmt::skip]
mod weight_vars;

pub(in crate::quantized) use blocks::{dot_blocks, dot_pairs};
pub(in crate::quantized) use layers::{lstm_layer, tanh_layer};

pub(in crate::quantized) use super::dot::{dot, dot_listed};
pub(in crate::quantized) use super::fill::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use super::layer_args::{lstm_units, tanh_units};
pub(in crate::quantized) use super::portable_layers::gru_units;
