//! Blocks of weights that the layout `sparse` stores or leaves out.

use std::vec::Vec;

use super::format::BLOCK_ROWS;
use crate::format::AffineShape;

/// Columns of a block: two activations share a word.
const PAIR: usize = 2;

/// The block of every weight of an affine map, row by row. Blocks are numbered from 0, groups of rows one
/// after the other.
///
/// Rows of a block are neighbours, hence the gates of one unit in an LSTM, or one gate of four units if the
/// map is split. Columns are two of the input or two of the state. Blocks at the edges are smaller.
pub(crate) fn blocks_of_weights(shape: AffineShape) -> Vec<usize> {
    let AffineShape { rows, cols, inputs, .. } = shape;
    let stride = if shape.is_split() { shape.gates } else { 1 };
    let input_pairs = inputs.div_ceil(PAIR);
    let pairs = input_pairs + (cols - inputs).div_ceil(PAIR);
    let pair = |col: usize| match col.checked_sub(inputs) {
        Some(of_state) => input_pairs + of_state / PAIR,
        None => col / PAIR,
    };
    let group = |row: usize| row / (BLOCK_ROWS * stride) * stride + row % stride;
    (0..rows).flat_map(|row| (0..cols).map(move |col| group(row) * pairs + pair(col))).collect()
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::spec::{CellKind, LayerSpec, Layout, UnitNoise, WeightFormat};

    fn blocks(cell: CellKind, inputs: usize, units: u16) -> Vec<usize> {
        let noise = UnitNoise::None;
        let layer = LayerSpec {
            cell,
            units,
            input_noise: noise,
            recurrent_noise: noise,
            weight_variance: false,
            variance_scale: 1.0,
        };
        blocks_of_weights(AffineShape::layer(WeightFormat::Int8, Layout::Sparse, inputs, &layer))
    }

    #[test]
    fn a_block_is_the_gates_of_an_lstm_unit() {
        // Three inputs and two units: two pairs of inputs, the second of one column, and one of the state.
        let row = |first: usize| [0, 0, 1, 2, 2].map(|pair| first + pair);
        let expected = [row(0), row(0), row(0), row(0), row(3), row(3), row(3), row(3)].concat();
        assert_eq!(blocks(CellKind::Lstm, 3, 2), expected);
    }

    #[test]
    fn a_block_is_one_gate_of_four_units_of_a_gru() {
        // One input and five units: a pair of one input, three of the state; gates r, z, n in turn.
        let found = blocks(CellKind::Gru, 1, 5);
        let group_of_row: Vec<usize> = found.chunks(6).map(|row| row[0] / 4).collect();
        assert_eq!(group_of_row, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5]);
        assert_eq!(found[..6], [0, 1, 1, 2, 2, 3]);
    }
}
