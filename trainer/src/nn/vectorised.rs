//! Loops compiled for the widest vectors of the processor at hand.
//!
//! A portable x86-64 build may only use vectors of four numbers. A [`Kernel`] is compiled several times, for
//! 4, 8 and 16 numbers, and the version is selected at run time.

use macerator::{AutoArch, Simd, VMulAdd, WithSimd};

/// A loop with its operands.
///
/// Only code that is inlined into `run` is compiled for wider vectors: mark it and everything it calls
/// `#[inline(always)]`, and pass functions as types, because the compiler cannot be forced to inline a
/// closure.
pub(crate) trait Kernel {
    /// Runs the loop.
    fn run<P: Processor>(self);
}

/// Runs a kernel with the best instructions of the processor.
pub(crate) fn run(kernel: impl Kernel) {
    AutoArch::new().dispatch(Dispatched(kernel));
}

/// The capabilities of a processor. Ordinary arithmetic gives the same bits on all of them.
pub(crate) trait Processor {
    /// Numbers in one vector.
    fn lanes() -> usize;

    /// a·b + c: rounded once where there is an instruction for it, twice otherwise.
    fn multiply_add(a: f32, b: f32, c: f32) -> f32;
}

struct Dispatched<K>(K);

impl<K: Kernel> WithSimd for Dispatched<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self) {
        self.0.run::<InstructionSet<S>>();
    }
}

/// An instruction set.
struct InstructionSet<S>(std::marker::PhantomData<S>);

impl<S: Simd> Processor for InstructionSet<S> {
    #[inline(always)]
    fn lanes() -> usize {
        S::lanes32()
    }

    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        // The standard library's `mul_add` rounds once everywhere, but is a slow call without the
        // instruction.
        if <f32 as VMulAdd>::is_accelerated::<S>() { a.mul_add(b, c) } else { a * b + c }
    }
}
