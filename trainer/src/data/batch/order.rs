//! Assignment of chunks to batches, and the order of the batches.

use std::cmp::Reverse;

use rand_core::Rng;

use super::Batch;
use crate::config::Padding;
use crate::data::rows::Sequence;
use crate::data::scaler::Scaling;

/// A contiguous part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Index of the sequence.
    pub sequence: usize,
    /// First step.
    pub start: usize,
    /// Number of steps.
    pub len: usize,
}

/// The batches of one training epoch: chunks of `chunk` steps (0 for whole sequences) in random order, `rows`
/// per batch.
///
/// The last chunk of a sequence and the last batch may be smaller. The order depends only on the generator.
/// If a sequence predicts itself, the first input of a chunk is the row before the chunk.
///
/// # Panics
/// If `rows` is 0.
pub fn training<'a>(
    sequences: &'a [Sequence],
    scaling: &'a Scaling,
    chunk: usize,
    rows: usize,
    rng: &mut impl Rng,
) -> Batches<'a> {
    let mut chunks = cut(sequences, chunk);
    shuffle(&mut chunks, rng);
    Batches::new(sequences, scaling, grouped(&chunks, rows))
}

/// The batches of one training epoch with carried state: sequences in random order are assigned to `rows`
/// rows, and each batch has the next chunk of every row. A row that reaches the end of its sequence takes the
/// next sequence.
///
/// # Panics
/// If `rows` or `chunk` is 0.
pub fn carried<'a>(
    sequences: &'a [Sequence],
    scaling: &'a Scaling,
    chunk: usize,
    rows: usize,
    rng: &mut impl Rng,
) -> Batches<'a> {
    assert!(chunk > 0, "carried state needs chunks");
    let mut order: Vec<usize> = (0..sequences.len()).filter(|&index| !sequences[index].is_empty()).collect();
    shuffle(&mut order, rng);
    let mut waiting = order.into_iter();
    let mut begin = || waiting.next().map(|sequence| first_chunk(sequence, sequences, chunk));
    let mut current: Vec<Chunk> = std::iter::from_fn(&mut begin).take(rows.max(1)).collect();
    let mut groups = Vec::new();
    while !current.is_empty() {
        groups.push(current.clone());
        current = current
            .iter()
            .filter_map(|last| following(*last, sequences, chunk).or_else(&mut begin))
            .collect();
    }
    Batches::new(sequences, scaling, groups)
}

fn first_chunk(sequence: usize, sequences: &[Sequence], chunk: usize) -> Chunk {
    Chunk { sequence, start: 0, len: chunk.min(sequences[sequence].len()) }
}

/// The chunk after this one, unless the sequence ends there.
fn following(last: Chunk, sequences: &[Sequence], chunk: usize) -> Option<Chunk> {
    let start = last.start + last.len;
    let left = sequences[last.sequence].len() - start;
    (left > 0).then_some(Chunk { start, len: chunk.min(left), ..last })
}

/// Chunks in groups of `rows`.
fn grouped(chunks: &[Chunk], rows: usize) -> Vec<Vec<Chunk>> {
    assert!(rows > 0, "a batch needs at least one row");
    chunks.chunks(rows).map(<[Chunk]>::to_vec).collect()
}

/// Whole sequences, `rows` per batch, the longest first to minimise padding.
///
/// # Panics
/// If `rows` is 0.
pub fn evaluation<'a>(sequences: &'a [Sequence], scaling: &'a Scaling, rows: usize) -> Batches<'a> {
    let mut chunks = cut(sequences, 0);
    chunks.sort_by_key(|chunk| Reverse(chunk.len));
    Batches::new(sequences, scaling, grouped(&chunks, rows))
}

/// Batches, each built when it is requested.
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    sequences: &'a [Sequence],
    scaling: &'a Scaling,
    groups: std::vec::IntoIter<Vec<Chunk>>,
    padding: Padding,
}

impl<'a> Batches<'a> {
    pub(super) fn new(sequences: &'a [Sequence], scaling: &'a Scaling, groups: Vec<Vec<Chunk>>) -> Self {
        Batches { sequences, scaling, groups: groups.into_iter(), padding: Padding::After }
    }

    /// The same batches with another padding.
    pub fn padded(self, padding: Padding) -> Self {
        Batches { padding, ..self }
    }
}

impl Iterator for Batches<'_> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let chunks = self.groups.next()?;
        Some(Batch::padded(self.sequences, self.scaling, &chunks, self.padding))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.groups.size_hint()
    }
}

impl ExactSizeIterator for Batches<'_> {}

/// Splits every sequence into chunks of `chunk` steps; 0 keeps it whole.
fn cut(sequences: &[Sequence], chunk: usize) -> Vec<Chunk> {
    let pieces = |(sequence, len): (usize, usize)| {
        let size = if chunk == 0 { len.max(1) } else { chunk };
        (0..len).step_by(size).map(move |start| Chunk { sequence, start, len: size.min(len - start) })
    };
    sequences.iter().map(Sequence::len).enumerate().flat_map(pieces).collect()
}

/// Shuffles items (Fisher and Yates, in Durstenfeld's form).
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, rng));
    }
}

/// A random number below `bound`: the high half of a 128-bit product. The probabilities of two numbers differ
/// by less than one part in 2⁶⁴ / bound, and every call consumes exactly one draw.
fn below(bound: u64, rng: &mut impl Rng) -> usize {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn sequences(lengths: &[usize]) -> Vec<Sequence> {
        lengths.iter().map(|&len| Sequence::next(Rows { channels: 1, values: vec![0.5; len] })).collect()
    }

    fn rng(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    #[test]
    fn chunks_cover_every_step_once() {
        let chunks = cut(&sequences(&[5, 2, 4]), 2);
        let expected = [(0, 0, 2), (0, 2, 2), (0, 4, 1), (1, 0, 2), (2, 0, 2), (2, 2, 2)];
        assert_eq!(chunks, expected.map(|(sequence, start, len)| Chunk { sequence, start, len }));
        assert_eq!(cut(&sequences(&[5]), 0), [Chunk { sequence: 0, start: 0, len: 5 }]);
    }

    #[test]
    fn an_epoch_visits_every_chunk_once_in_an_order_of_its_own() {
        let sequences = sequences(&[50, 51]);
        let scaling = Scaling::fit(&sequences);
        let visit = |rng: &mut Xoshiro256PlusPlus| -> Vec<Chunk> {
            training(&sequences, &scaling, 10, 4, rng).flat_map(|batch| batch.chunks).collect()
        };
        let mut one = rng(1);
        let (first, second) = (visit(&mut one), visit(&mut one));
        assert_ne!(first, second);
        assert_eq!(first, visit(&mut rng(1)));
        let sorted = |mut chunks: Vec<Chunk>| {
            chunks.sort_by_key(|chunk| (chunk.sequence, chunk.start));
            chunks
        };
        assert_eq!(sorted(first), cut(&sequences, 10));
    }

    #[test]
    fn carried_sequences_go_on_in_the_next_batch() {
        let sequences = sequences(&[5, 2, 7, 0, 3]);
        let scaling = Scaling::fit(&sequences);
        let batches: Vec<Batch> = carried(&sequences, &scaling, 3, 2, &mut rng(1)).collect();
        let mut seen: Vec<Chunk> = Vec::new();
        let mut last: Vec<Chunk> = Vec::new();
        for batch in &batches {
            for chunk in &batch.chunks {
                let goes_on = last
                    .iter()
                    .any(|last| (last.sequence, last.start + last.len) == (chunk.sequence, chunk.start));
                assert!(chunk.start == 0 || goes_on, "{chunk:?} after {last:?}");
            }
            assert!(batch.rows <= 2);
            last.clone_from(&batch.chunks);
            seen.extend(&batch.chunks);
        }
        seen.sort_by_key(|chunk| (chunk.sequence, chunk.start));
        assert_eq!(seen, cut(&sequences, 3));
    }

    #[test]
    fn the_last_batch_holds_what_is_left() {
        let sequences = sequences(&[50, 51]);
        let scaling = Scaling::fit(&sequences);
        let mut batches = training(&sequences, &scaling, 10, 4, &mut rng(3));
        assert_eq!(batches.len(), 3);
        assert_eq!(batches.by_ref().map(|batch| batch.rows).collect::<Vec<_>>(), [4, 4, 3]);
        assert_eq!(batches.len(), 0);
    }

    #[test]
    fn evaluation_sorts_by_length_and_keeps_sequences_whole() {
        let sequences = sequences(&[3, 9, 4, 9]);
        let scaling = Scaling::fit(&sequences);
        let batches: Vec<Batch> = evaluation(&sequences, &scaling, 2).collect();
        let order: Vec<usize> = batches.iter().flat_map(|batch| &batch.chunks).map(|c| c.sequence).collect();
        assert_eq!(order, [1, 3, 2, 0]);
        assert_eq!((batches[0].steps, batches[1].steps), (9, 4));
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut rng = rng(7);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut rng);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Five standard deviations of a binomial count with n = 6000, p = 1/6 are 144.
        assert!(counts.values().all(|&count: &i32| (count - 1000).abs() < 144), "{counts:?}");
    }
}
