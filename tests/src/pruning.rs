//! Pruned networks: blocks of four rows and two columns without weights.

use quaver::checkpoint::{Affine, CellKind, Contents};

use crate::numbers::Numbers;

/// Removes a share of the blocks of every affine map, to the nearest block; which ones depends on `numbers`
/// alone. Blocks are those of the quantized layouts (`SPEC.md`): the rows of an LSTM's unit, one gate of four
/// units of a GRU, four rows of any other map; two columns of the input or of the state.
pub fn prune(contents: &mut Contents, share: f64, numbers: &mut Numbers) {
    let spec = contents.spec.clone();
    let mut inputs = usize::from(spec.inputs);
    for (layer, affine) in spec.layers.iter().zip(&mut contents.layers) {
        let gru_gates = if layer.cell == CellKind::Gru { layer.cell.gates() } else { 1 };
        remove_blocks(affine, inputs, gru_gates, share, numbers);
        inputs = layer.units.into();
    }
    remove_blocks(&mut contents.output, inputs, 1, share, numbers);
}

/// Removes blocks of one map. Rows of a block are `stride` apart.
fn remove_blocks(affine: &mut Affine, inputs: usize, stride: usize, share: f64, numbers: &mut Numbers) {
    let rows = if stride > 1 { affine.bias.len() / 4 * stride } else { affine.bias.len() };
    let cols = affine.weight.len() / rows;
    let pairs: Vec<[usize; 2]> = (0..inputs.min(cols))
        .step_by(2)
        .map(|first| [first, (first + 2).min(inputs)])
        .chain((inputs..cols).step_by(2).map(|first| [first, (first + 2).min(cols)]))
        .collect();
    let groups = (0..rows).step_by(4 * stride).flat_map(|first| first..first + stride);
    let blocks: Vec<(usize, [usize; 2])> =
        groups.flat_map(|row| pairs.iter().map(move |pair| (row, *pair))).collect();
    // Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S).
    let mut removed = (share * blocks.len() as f64).round() as usize;
    for (place, (first, [start, end])) in blocks.iter().enumerate() {
        if numbers.below(blocks.len() - place) >= removed {
            continue;
        }
        removed -= 1;
        for row in (*first..rows).step_by(stride).take(4) {
            let block = row * cols + start..row * cols + end;
            affine.weight[block.clone()].fill(0.0);
            affine.weight_var.get_mut(block).unwrap_or_default().fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::WeightFormat;

    use super::*;
    use crate::golden::{Architecture, randomise};

    #[test]
    fn the_share_is_removed_of_every_map() {
        for cell in [CellKind::Lstm, CellKind::Gru] {
            let spec = Architecture { inputs: 16, ..Architecture::default() }
                .spec(&[(cell, 64)], WeightFormat::Int8);
            let mut contents = Contents::zeros(spec);
            randomise(&mut contents, &mut Numbers::new("pruned"));
            prune(&mut contents, 0.75, &mut Numbers::new("pruned"));
            for affine in contents.layers.iter().chain([&contents.output]) {
                let left = affine.weight.iter().filter(|weight| **weight != 0.0).count();
                assert_eq!(4 * left, affine.weight.len(), "{cell:?}");
            }
        }
    }
}
