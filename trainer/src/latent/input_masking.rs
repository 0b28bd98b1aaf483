//! Input masking: gaps in the input of the recognition network, so that it learns to infer across them.

use rand_core::Rng;

use crate::data::batch::Batch;
use crate::random::uniform;

/// The batch with a gap in every lane: 1 to `longest` rows at a random place, all channels missing.
///
/// −ln p(x) ≤ KL(q ‖ p(z)) − E_q[ln p(x|z)] holds for every q, so the loss still bounds the likelihood of the
/// whole rows, provided that these are the targets (Im, Ahn, Memisevic and Bengio 2017, 3).
pub(super) fn mask_rows(batch: &Batch, channels: usize, longest: usize, rng: &mut impl Rng) -> Batch {
    let mut shown = batch.clone();
    for (lane, chunk) in batch.chunks.iter().enumerate() {
        let length = 1 + below(longest.min(chunk.len), rng);
        let first = below(chunk.len.saturating_sub(length) + 1, rng);
        for step in first..(first + length).min(chunk.len) {
            let place = (step * batch.rows + lane) * channels;
            shown.targets[place..place + channels].fill(0.0);
            shown.mask[place..place + channels].fill(0.0);
        }
    }
    shown
}

/// A random number below `bound`; 0 if `bound` is 0.
fn below(bound: usize, rng: &mut impl Rng) -> usize {
    (uniform(rng) * bound as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::batch::Chunk;
    use crate::data::{Rows, Scaling, Sequence};
    use crate::random::{Purpose, stream};

    #[test]
    fn every_lane_has_one_gap_no_longer_than_asked_for() {
        let rows = |steps: usize| Rows { channels: 2, values: (0..2 * steps).map(|v| v as f32).collect() };
        let sequences = [9, 4, 1].map(|steps| Sequence::next(rows(steps)));
        let chunks = [9, 4, 1].iter().enumerate();
        let chunks: Vec<Chunk> =
            chunks.map(|(sequence, len)| Chunk { sequence, start: 0, len: *len }).collect();
        let batch = Batch::new(&sequences, &Scaling::fit(&sequences), &chunks);
        let mut places = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut rng = stream(seed, Purpose::Initialisation);
            let shown = mask_rows(&batch, 2, 3, &mut rng);
            assert_eq!((&shown.inputs_mean, &shown.chunks), (&batch.inputs_mean, &batch.chunks));
            for (lane, chunk) in chunks.iter().enumerate() {
                let mask = |step: usize| {
                    let at = 2 * (step * batch.rows + lane);
                    assert_eq!(shown.mask[at], shown.mask[at + 1], "channels are missing together");
                    shown.mask[at]
                };
                let hidden: Vec<usize> = (0..chunk.len).filter(|step| mask(*step) == 0.0).collect();
                assert!((1..=3).contains(&hidden.len()), "{hidden:?}");
                assert_eq!(hidden.last().unwrap() - hidden[0] + 1, hidden.len(), "one stretch");
                places.insert((lane, hidden));
            }
        }
        // Of nine rows: nine gaps of one row, eight of two, seven of three; of four: four, three, two; of
        // one: one.
        assert_eq!(places.len(), 24 + 9 + 1);
    }
}
