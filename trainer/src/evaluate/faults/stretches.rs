//! Where faults are put into a recording.

use std::ops::Range;

use rand_core::Rng;

use crate::data::Sequence;
use crate::random::uniform;

/// Rows between two faults in units of a fault's rows: states and scores that gather evidence recover.
const PAUSES: usize = 3;

/// Stretches of `length` rows with pauses of three times as many before each, in every sequence after its
/// burn-in. The first one begins at a random row. A sequence that is too short for one has a stretch in its
/// last quarter.
pub(super) fn stretches(sequences: &[Sequence], length: usize, rng: &mut impl Rng) -> Vec<Vec<Range<usize>>> {
    sequences.iter().map(|sequence| of(sequence.burn_in..sequence.len(), length, rng)).collect()
}

fn of(rows: Range<usize>, length: usize, rng: &mut impl Rng) -> Vec<Range<usize>> {
    let length = length.min(rows.len() / (PAUSES + 1));
    if length == 0 {
        return Vec::new();
    }
    let pause = PAUSES * length;
    // As many as fit, with what remains before the first.
    let spare = rows.len() % (pause + length);
    let first = rows.start + pause + (uniform(rng) * (spare + 1) as f64) as usize;
    let starts = (first..rows.end).step_by(pause + length);
    starts.map(|start| start..start + length).filter(|stretch| stretch.end <= rows.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn stretches_fit_and_leave_time_to_recover() {
        for seed in 0..50 {
            let mut rng = stream(seed, Purpose::Initialisation);
            let found = of(100..1150, 50, &mut rng);
            assert_eq!(found.len(), 5, "five times 200 rows fit into 1050");
            assert!(found[0].start >= 250 && found[4].end <= 1150);
            assert!(found.windows(2).all(|pair| pair[1].start - pair[0].end == 150));
            assert!(found.iter().all(|stretch| stretch.len() == 50));
            let short = of(0..21, 50, &mut rng);
            assert!(short.len() == 1 && short[0].len() == 5 && short[0].start >= 15, "{short:?}");
            assert!(of(0..3, 50, &mut rng).is_empty());
        }
    }
}
