//! How much memory a stream of a model takes, and where its parts stand.

use core::ops::Range;

use super::layout::AffineShape;
use super::spec::{CellKind, Layout, ModelSpec};

impl ModelSpec {
    /// Words of RAM per unit: for h, and for all it remembers.
    fn unit_words(&self, cell: CellKind) -> (usize, usize) {
        match (self.layout.runs_quantized(), cell) {
            (false, cell) => (2, 2 * cell.states()),
            // Both moments of h share a word; those of c have one each.
            (true, CellKind::Elman(_) | CellKind::Dense(_)) => (1, 1),
            (true, CellKind::Lstm) => (1, 3),
        }
    }

    /// Words of RAM for the recurrent state: what a stream remembers between samples.
    #[inline(never)] // once in flash, not once per caller
    pub fn recurrent_words(&self) -> usize {
        self.layers.iter().map(|layer| self.unit_words(layer.cell).1 * usize::from(layer.units)).sum()
    }

    /// Where h of the last layer stands in the recurrent state.
    pub(crate) fn last_units(&self) -> Range<usize> {
        let (h, all) = self.layers.last().map_or((0, 0), |layer| {
            let (h, all) = self.unit_words(layer.cell);
            (h * usize::from(layer.units), all * usize::from(layer.units))
        });
        let start = self.recurrent_words().saturating_sub(all);
        start..start.saturating_add(h)
    }

    /// Numbers in a saved stream: its recurrent state, mean and variance each, and its last prediction.
    pub fn saved_words(&self) -> usize {
        self.saved_state_words() + 3 * usize::from(self.outputs)
    }

    /// Numbers in a saved recurrent state.
    #[inline(never)]
    pub(crate) fn saved_state_words(&self) -> usize {
        self.layers.iter().map(|layer| 2 * layer.cell.states() * usize::from(layer.units)).sum()
    }

    /// Words of scratch: the noisy input of the widest affine map, as means and variances.
    pub(crate) fn scratch_words(&self) -> usize {
        let words = |shape: AffineShape| match self.layout {
            Layout::Float => 2 * shape.cols,
            // Two means to a word; a variance has a word of its own until all are known.
            Layout::Small | Layout::Fast => shape.quantized_cols() / 2 + shape.quantized_cols(),
            Layout::Mean => shape.quantized_cols() / 2,
        };
        self.shapes().map(words).max().unwrap_or(0)
    }

    /// Four-byte words of RAM that one stream of this model needs: the `N` of its [`Arena`](crate::Arena).
    pub fn arena_words(&self) -> usize {
        self.recurrent_words() + 4 * usize::from(self.outputs) + self.scratch_words()
    }
}
