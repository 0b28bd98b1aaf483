//! The input of a quantized affine map.

/// Codes of means and of variances, two to a word, in the order of the map's columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::quantized) struct QuantizedInput<'s> {
    pub(in crate::quantized) means: &'s [f32],
    pub(in crate::quantized) vars: &'s [f32],
    /// Codes of squared means; empty if the map has no weight variances.
    pub(in crate::quantized) squares: &'s [f32],
    /// Shift of the variances of the map's rows (see `BlockFloat`). Without weight variances it is that of the
    /// sums over [`vars`](Self::vars).
    pub(in crate::quantized) shift: u32,
    pub(in crate::quantized) terms: TermShifts,
}

/// Shifts to the right that bring the three terms of a variance to their common exponent, where weights have
/// variances: at most 31.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // for kernels in assembler
pub(in crate::quantized) struct TermShifts {
    /// Of Σ ṽ (μ² + τ).
    pub(in crate::quantized) vars: u32,
    /// Of Σ m̃² τ.
    pub(in crate::quantized) squares: u32,
    /// Of τ_b.
    pub(in crate::quantized) biases: u32,
}

impl<'s> QuantizedInput<'s> {
    /// The columns from `start` on, an even number.
    #[inline(always)]
    pub(in crate::quantized) fn columns_from(&self, start: usize) -> Self {
        QuantizedInput {
            means: self.means.get(start / 2..).unwrap_or_default(),
            vars: self.vars.get(start / 2..).unwrap_or_default(),
            squares: self.squares.get(start / 2..).unwrap_or_default(),
            shift: self.shift,
            terms: self.terms,
        }
    }
}
