//! One stream read by several lanes at once.

use super::order::{Batches, Chunk};
use crate::data::rows::Sequence;
use crate::data::scaler::Scaling;

/// The batches of one pass over a long stream: it is cut into `rows` lanes of equal length, and each batch
/// has the next `chunk` steps of every lane (Zaremba, Sutskever and Vinyals 2014). The last lane may be
/// shorter, so that every step is read exactly once; the first input of a lane is the row before it. Of
/// several streams, one follows the other.
///
/// # Panics
/// If `rows` or `chunk` is 0.
pub fn lanes<'a>(sequences: &'a [Sequence], scaling: &'a Scaling, chunk: usize, rows: usize) -> Batches<'a> {
    assert!(chunk > 0 && rows > 0, "lanes need chunks and rows");
    let groups = sequences.iter().enumerate().flat_map(|(sequence, stream)| {
        let (steps, length) = (stream.len(), stream.len().div_ceil(rows));
        (0..length).step_by(chunk).map(move |at| {
            let lane = |first: usize| {
                let (start, end) = (first + at, steps.min(first + length).min(first + at + chunk));
                (start < end).then(|| Chunk { sequence, start, len: end - start })
            };
            (0..steps).step_by(length).filter_map(lane).collect()
        })
    });
    Batches::new(sequences, scaling, groups.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::data::scaler::Scaler;

    fn identity() -> Scaling {
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None }
    }

    fn counting(len: usize) -> Sequence {
        Sequence::next(Rows { channels: 1, values: (0..len).map(|value| value as f32).collect() })
    }

    #[test]
    fn lanes_are_contiguous_and_cover_every_step_once() {
        for (len, rows, chunk) in [(20, 4, 2), (23, 4, 2), (7, 3, 5), (5, 8, 2), (9, 1, 4), (10, 4, 3)] {
            let (sequences, scaling) = ([counting(len)], identity());
            let mut seen = Vec::new();
            let mut last: Vec<Chunk> = Vec::new();
            for (index, batch) in lanes(&sequences, &scaling, chunk, rows).enumerate() {
                assert!(batch.rows <= rows && batch.steps <= chunk);
                for next in &batch.chunks {
                    let goes_on = last.iter().any(|last| last.start + last.len == next.start);
                    assert!(index == 0 || goes_on, "{next:?} after {last:?}");
                    seen.extend(next.start..next.start + next.len);
                }
                last.clone_from(&batch.chunks);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..len).collect::<Vec<_>>(), "{len} steps in {rows} lanes");
        }
    }

    #[test]
    fn a_lane_starts_with_the_step_before_it() {
        let (sequences, scaling) = ([counting(6)], identity());
        let batches: Vec<_> = lanes(&sequences, &scaling, 2, 2).collect();
        assert_eq!(batches.len(), 2);
        assert_eq!(
            (batches[0].inputs_mean.as_slice(), batches[0].starts.as_slice()),
            (&[0.0, 2.0, 0.0, 3.0][..], &[0][..])
        );
        assert_eq!(batches[0].targets, [0.0, 3.0, 1.0, 4.0]);
        assert_eq!(
            (batches[1].inputs_mean.as_slice(), batches[1].targets.as_slice()),
            (&[1.0, 4.0][..], &[2.0, 5.0][..])
        );
    }
}
