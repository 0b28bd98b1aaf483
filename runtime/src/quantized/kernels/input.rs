//! The input of a quantized affine map.

/// Codes of means and of variances, two to a word, in the order of the map's columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::quantized) struct QuantizedInput<'s> {
    pub(in crate::quantized) means: &'s [f32],
    /// Codes of variances; behind them those of squared means, if the map has weight variances.
    pub(in crate::quantized) vars: &'s [f32],
    /// Shift of the variances of the map's rows (see `BlockFloat`). Without weight variances it is that of
    /// the sums over variances.
    pub(in crate::quantized) shift: u32,
    pub(in crate::quantized) terms: TermShifts,
}

/// Shifts to the right that bring the three terms of a variance to their common exponent, at most 31 each.
///
/// One word, because every step has it and few models need it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(4))] // for kernels in assembler
pub(in crate::quantized) struct TermShifts {
    /// Whether there are weight variances; the shifts are zero otherwise.
    pub(in crate::quantized) present: bool,
    /// Of Σ ṽ (μ² + τ).
    pub(in crate::quantized) vars: u8,
    /// Of Σ m̃² τ.
    pub(in crate::quantized) squares: u8,
    /// Of τ_b.
    pub(in crate::quantized) biases: u8,
}

impl<'s> QuantizedInput<'s> {
    /// The columns from `start` on, an even number.
    #[inline(always)]
    pub(in crate::quantized) fn columns_from(&self, start: usize) -> Self {
        QuantizedInput {
            means: self.means.get(start / 2..).unwrap_or_default(),
            vars: self.vars.get(start / 2..).unwrap_or_default(),
            ..*self
        }
    }

    /// Codes of squared means, if the map, of `cols` columns, has weight variances: each as far behind the
    /// variance of its column as there are words of variances.
    #[inline(always)]
    pub(in crate::quantized) fn squares(&self, cols: usize) -> &'s [f32] {
        self.vars.get(cols / 2..).unwrap_or_default()
    }
}
