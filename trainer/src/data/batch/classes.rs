//! Batches of labelled sequences with enough of each class.

use rand_core::Rng;

use super::order::{Batches, Chunk, shuffle};
use crate::data::labelled::class_of;
use crate::data::rows::Sequence;
use crate::data::scaler::Scaling;
use crate::random::uniform;

/// The batches of one training epoch: whole sequences, `rows` per batch, the classes spread evenly over the
/// batches and the sequences of a class in pairs, so that each has a neighbour of its class in its batch.
/// With `balanced`, sequences of smaller classes are repeated until all classes are of equal size. The order
/// depends only on the generator.
///
/// # Panics
/// If `rows` is 0.
pub fn by_class<'a>(
    sequences: &'a [Sequence],
    scaling: &'a Scaling,
    rows: usize,
    balanced: bool,
    rng: &mut impl Rng,
) -> Batches<'a> {
    assert!(rows > 0, "a batch needs at least one row");
    let mut groups = groups(sequences);
    let most = groups.iter().map(Vec::len).max().unwrap_or(0);
    for group in &mut groups {
        shuffle(group, rng);
        if balanced {
            *group = group.iter().copied().cycle().take(most).collect();
        }
    }
    // Pairs at even distances in the epoch, from a random place on; what is left of odd classes at the end.
    let (mut pairs, mut singles) = (Vec::new(), Vec::new());
    for group in &groups {
        let places = group.len() / 2;
        let offset = uniform(rng);
        let pair = |(index, pair): (usize, &[usize; 2])| ((index as f64 + offset) / places as f64, *pair);
        let (whole, rest) = group.as_chunks::<2>();
        pairs.extend(whole.iter().enumerate().map(pair));
        singles.extend(rest);
    }
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let order = pairs.into_iter().flat_map(|(_, pair)| pair).chain(singles);
    let chunks: Vec<Chunk> =
        order.map(|sequence| Chunk { sequence, start: 0, len: sequences[sequence].len() }).collect();
    let batches = chunks.len().div_ceil(rows).max(1);
    // Of equal size, so that the last one has neighbours too; even, so that no pair is separated.
    let size = chunks.len().div_ceil(batches).next_multiple_of(2).min(rows.max(2)).max(1);
    Batches::new(sequences, scaling, chunks.chunks(size).map(<[Chunk]>::to_vec).collect())
}

/// Indices of the sequences of each class, those without a class last.
fn groups(sequences: &[Sequence]) -> Vec<Vec<usize>> {
    let classes: Vec<Option<usize>> = sequences.iter().map(class_of).collect();
    let count = classes.iter().flatten().max().map_or(0, |most| most + 1);
    let mut groups = vec![Vec::new(); count + 1];
    for (index, class) in classes.iter().enumerate().filter(|(index, _)| !sequences[*index].is_empty()) {
        groups[class.unwrap_or(count)].push(index);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::random::{Purpose, stream};

    fn sequences(counts: &[usize]) -> Vec<Sequence> {
        let of_class = |(class, count): (usize, &usize)| {
            (0..*count).map(move |index| {
                let rows = |value: f32| Rows { channels: 1, values: vec![value; 1 + index % 3] };
                Sequence::columns(rows(0.5), rows(class as f32))
            })
        };
        counts.iter().enumerate().flat_map(of_class).collect()
    }

    fn batches(counts: &[usize], rows: usize, balanced: bool) -> Vec<Vec<usize>> {
        let sequences = sequences(counts);
        let scaling = Scaling::fit(&sequences);
        let mut rng = stream(1, Purpose::Shuffle { epoch: 1 });
        let classes = |batch: super::super::Batch| {
            batch.chunks.iter().map(|chunk| class_of(&sequences[chunk.sequence]).unwrap()).collect()
        };
        by_class(&sequences, &scaling, rows, balanced, &mut rng).map(classes).collect()
    }

    #[test]
    fn every_sequence_once_and_none_without_a_neighbour() {
        let found = batches(&[40, 12, 8], 20, false);
        let mut all = found.concat();
        all.sort_unstable();
        assert_eq!(all, [vec![0; 40], vec![1; 12], vec![2; 8]].concat());
        for batch in &found {
            assert_eq!(batch.len(), 20);
            for class in batch {
                assert!(batch.iter().filter(|other| *other == class).count() > 1, "{batch:?}");
            }
            assert!((10..=16).contains(&batch.iter().filter(|class| **class == 0).count()), "{batch:?}");
        }
    }

    #[test]
    fn balanced_batches_repeat_small_classes() {
        let found = batches(&[40, 10], 20, true);
        assert_eq!(found.concat().len(), 80);
        for batch in found {
            assert!((8..=12).contains(&batch.iter().filter(|class| **class == 0).count()), "{batch:?}");
        }
    }

    #[test]
    fn odd_numbers_and_small_batches() {
        assert_eq!(batches(&[3, 1], 100, false).concat().len(), 4);
        assert_eq!(batches(&[3, 4], 1, false).concat().len(), 7);
    }
}
