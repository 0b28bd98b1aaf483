//! Kernels with Helium, the vector extension of Armv8.1-M (MVE, integers): eight products of halfwords and
//! their sum in one instruction, four units at a time everywhere else.
//!
//! Layers take turns of four groups of rows. Sums go into memory as they are, and vectors gather the same row
//! of all four groups: a lane is a unit of an LSTM, or every fourth unit of an Elman layer. The bits are
//! those of the portable functions, which define them: `portable::dot`, `moments::tanh` and `cells`.
//!
//! What has no kernel here runs with those of `dsp`: GRUs that are pruned or whose weights have variances,
//! and other layers with both.
//!
//! An interrupt may come at any instruction, and between the parts of one. In addition to what `dsp` says:
//! vector registers are those of floating point, and exception entry saves their lower half, VPR and FPSCR
//! with the floating-point context, or reserves the place for it; a handler keeps the upper half. A handler
//! that uses floating point or vectors needs no more than that. LR counts turns of loops and is saved with
//! the other registers; instructions of which some parts are done go on where they were (EPSR.ECI).
//!
//! Startup code must have enabled coprocessors 10 and 11 (CPACR), as for floating point.

#![allow(unsafe_code)] // assembler, and the pointers it walks

// Macros first, as their users need them; assembler keeps its own form.
#[macro_use]
mod assembler;
mod activations;
#[rustfmt::skip]
mod blocks;
#[macro_use]
#[rustfmt::skip]
mod frame;
#[rustfmt::skip]
mod elman;
#[rustfmt::skip]
mod gru;
#[rustfmt::skip]
mod listed;
#[rustfmt::skip]
mod lstm;
#[rustfmt::skip]
mod means;
#[rustfmt::skip]
mod moments;
#[rustfmt::skip]
mod turns;
#[rustfmt::skip]
mod weight_vars;

pub(in crate::quantized) use activations::{fill_means, fill_pairs, narrow};
pub(in crate::quantized) use blocks::dot_blocks;
pub(in crate::quantized) use elman::tanh_layer;
pub(in crate::quantized) use gru::gru_layer;
pub(in crate::quantized) use lstm::lstm_layer;
pub(in crate::quantized) use means::{lstm_means, tanh_means};

pub(in crate::quantized) use super::dot::{dot, dot_listed};
pub(in crate::quantized) use super::dsp::{dot_pairs, narrow_squares, squares_seen, weight_var_terms};
pub(in crate::quantized) use super::gru_args::gru_units;
pub(in crate::quantized) use super::layer_args::{lstm_units, tanh_units};
