//! Functions of moments that a cell applies to each of its units.

use std::marker::PhantomData;

use quaver::moments::Moments;

use super::{MomentSlices, MomentSlicesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

/// A function of the moments of `N` operands, unit by unit.
pub(super) trait UnitFunction<const N: usize> {
    /// Its moments at one unit. To be marked `#[inline(always)]`, as [`Kernel`] demands.
    fn value(operands: [MomentSlices<'_>; N], unit: usize) -> Moments;
}

/// Applies a function to each unit.
///
/// # Panics
/// If an operand or the result has fewer units than the first operand.
pub(super) fn for_each_unit<F: UnitFunction<N>, const N: usize>(
    operands: [MomentSlices<'_>; N],
    result: MomentSlicesMut<'_>,
) {
    vectorised::run(EachUnit { operands, result, function: PhantomData::<F> });
}

struct EachUnit<'a, F, const N: usize> {
    operands: [MomentSlices<'a>; N],
    result: MomentSlicesMut<'a>,
    function: PhantomData<F>,
}

impl<F: UnitFunction<N>, const N: usize> Kernel for EachUnit<'_, F, N> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.operands[0].mean.len();
        let mut operands = self.operands;
        for operand in &mut operands {
            *operand = operand.first(units);
        }
        let mut result = self.result.first(units);
        for unit in 0..units {
            result.put(unit, F::value(operands, unit));
        }
    }
}
