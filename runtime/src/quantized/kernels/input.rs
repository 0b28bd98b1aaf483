//! The input of a quantized affine map.

/// Codes of means and of variances, two to a word, in the order of the map's columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::quantized) struct QuantizedInput<'s> {
    pub(in crate::quantized) means: &'s [f32],
    pub(in crate::quantized) vars: &'s [f32],
    /// Shift of the variances that the kernels' sums of squares stand for (see `BlockFloat`).
    pub(in crate::quantized) shift: u32,
}

impl<'s> QuantizedInput<'s> {
    /// The columns from `start` on, an even number.
    #[inline(always)]
    pub(in crate::quantized) fn columns_from(&self, start: usize) -> Self {
        QuantizedInput {
            means: self.means.get(start / 2..).unwrap_or_default(),
            vars: self.vars.get(start / 2..).unwrap_or_default(),
            shift: self.shift,
        }
    }
}
