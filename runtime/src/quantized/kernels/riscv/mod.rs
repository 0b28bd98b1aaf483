//! Kernels for 32-bit RISC-V with multiplication (RV32IM): 3.3 instructions for each multiply-accumulate.
//!
//! Nothing multiplies and adds at once, but a load extends the sign of a byte or a halfword, so that each
//! weight costs a load, a multiplication and an addition. Whole layers run in assembler, except gated
//! recurrent units, whose portable walk uses the sums. The bits are those of the portable functions:
//! `portable::dot`, `portable::dot_listed`, `moments::tanh` and `cells`.
//!
//! A trap may come at any instruction. Nothing lives below sp, and sp is a multiple of sixteen throughout, as
//! the calling convention asks; a handler keeps all registers. Neither gp nor tp is touched.

#![allow(unsafe_code)] // assembler, and the pointers it walks

/// [`naked_asm!`](core::arch::naked_asm) with multiplication.
///
/// The compiler also parses assembly by the target's base instructions alone, to find symbols, and refuses
/// multiplication there unless it is told.
macro_rules! riscv_asm {
    ($($line:expr),+ $(,)?; $($operands:tt)*) => {
        core::arch::naked_asm!(
            ".option push\n.option arch, +m",
            $($line,)+
            ".option pop",
            $($operands)*
        )
    };
}

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
