//! Pruned networks: blocks of four rows and two columns without weights.

use quaver::checkpoint::{Affine, Contents};
use quaver::export::blocks_of_weights;

use crate::numbers::Numbers;

/// Removes a share of the blocks of every affine map, to the nearest block; which ones depends on `numbers`
/// alone. Blocks are those of the quantized layouts (`SPEC.md`).
pub fn prune(contents: &mut Contents, share: f64, numbers: &mut Numbers) {
    let blocks = blocks_of_weights(&contents.spec);
    for (affine, blocks) in contents.layers.iter_mut().chain([&mut contents.output]).zip(&blocks) {
        remove_blocks(affine, blocks, share, numbers);
    }
}

/// Removes blocks of one map; `blocks` has that of every weight.
fn remove_blocks(affine: &mut Affine, blocks: &[usize], share: f64, numbers: &mut Numbers) {
    let count = blocks.iter().max().map_or(0, |last| last + 1);
    // Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S).
    let mut removed = (share * count as f64).round() as usize;
    let mut is_removed = |place: usize| {
        let removes = numbers.below(count - place) < removed;
        removed -= usize::from(removes);
        removes
    };
    let is_removed: Vec<bool> = (0..count).map(&mut is_removed).collect();
    for values in [&mut affine.weight, &mut affine.weight_var] {
        let removed = values.iter_mut().zip(blocks).filter(|(_, block)| is_removed[**block]);
        removed.for_each(|(value, _)| *value = 0.0);
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{CellKind, WeightFormat};

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
