//! Memory of one stream of a network.

use core::ops::Range;

use crate::spec::{CellKind, ModelSpec};

impl ModelSpec {
    /// Words of RAM per unit: for h, and for its whole state.
    fn unit_words(&self, cell: CellKind) -> (usize, usize) {
        dispatch!(self.layout, backend => backend::unit_words(cell))
    }

    /// Words of RAM for the recurrent state.
    #[inline(never)] // once in flash, not once per caller
    pub fn recurrent_words(&self) -> usize {
        self.layers.iter().map(|layer| self.unit_words(layer.cell).1 * usize::from(layer.units)).sum()
    }

    /// Range of the last layer's h in the recurrent state.
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

    /// Words of scratch: the noisy input of the widest affine map.
    pub(crate) fn scratch_words(&self) -> usize {
        let words = |shape| dispatch!(self.layout, backend => backend::scratch_words(shape));
        self.shapes().map(words).max().unwrap_or(0)
    }

    /// Four-byte words of RAM that one stream of this model needs: the `WORDS` of its [`Arena`](crate::Arena).
    pub fn arena_words(&self) -> usize {
        self.recurrent_words() + 4 * usize::from(self.outputs) + self.scratch_words()
    }
}
