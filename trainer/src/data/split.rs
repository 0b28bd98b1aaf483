//! Sets training data aside for validation.

use anyhow::{Result, ensure};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::rows::Sequence;
use crate::random::choose;

/// From this number of sequences on, whole sequences are set aside. With fewer, one sequence could be a tenth
/// of the data or unlike the others, so the end of each is more representative.
const MANY: usize = 10;

/// Sets part of the training data aside, the last or a random part. Returns training sequences, validation
/// sequences, and a description of the part.
pub(super) fn split_off(
    train: Vec<Sequence>,
    fraction: f64,
    seed: Option<u64>,
) -> Result<(Vec<Sequence>, Vec<Sequence>, String)> {
    let (train, valid, which) = match seed {
        Some(seed) => {
            ensure!(
                train.len() >= MANY,
                "data.valid_seed draws whole sequences, and {} are too few to draw from; remove it to set the end of each \
                 aside, or provide {MANY} or more",
                train.len()
            );
            drawn_sequences(train, fraction, seed)
        }
        None if train.len() >= MANY => last_sequences(train, fraction),
        None => last_rows(train, fraction),
    };
    ensure!(
        !valid.is_empty() && !train.is_empty(),
        "data.valid_fraction = {fraction} leaves nothing for {}; \
         choose another fraction, or name validation files in `data.valid`",
        if valid.is_empty() { "validation" } else { "training" }
    );
    Ok((train, valid, which))
}

fn last_sequences(mut train: Vec<Sequence>, fraction: f64) -> (Vec<Sequence>, Vec<Sequence>, String) {
    let count = part_of(train.len(), fraction);
    let which = format!("the last {count} of {} training sequences", train.len());
    let valid = train.split_off(train.len() - count);
    (train, valid, which)
}

fn drawn_sequences(train: Vec<Sequence>, fraction: f64, seed: u64) -> (Vec<Sequence>, Vec<Sequence>, String) {
    let (all, count) = (train.len(), part_of(train.len(), fraction));
    let drawn = choose(&mut Xoshiro256PlusPlus::seed_from_u64(seed), count, all);
    let (mut kept, mut valid) = (Vec::new(), Vec::new());
    for (index, sequence) in train.into_iter().enumerate() {
        // `drawn` is in ascending order.
        let part = if drawn.binary_search(&index).is_ok() { &mut valid } else { &mut kept };
        part.push(sequence);
    }
    (kept, valid, format!("{count} of {all} training sequences, drawn at random with seed {seed}"))
}

fn last_rows(sequences: Vec<Sequence>, fraction: f64) -> (Vec<Sequence>, Vec<Sequence>, String) {
    let (mut train, mut valid, count) = (Vec::new(), Vec::new(), sequences.len());
    for sequence in sequences {
        let cut = sequence.len() - part_of(sequence.len(), fraction);
        let parts = sequence.split_at(cut);
        for (split, part) in [&mut train, &mut valid].into_iter().zip(parts) {
            if !part.is_empty() {
                split.push(part);
            }
        }
    }
    let which = match count {
        1 => format!("the last {} % of the training sequence", percent(fraction)),
        count => format!("the last {} % of each of the {count} training sequences", percent(fraction)),
    };
    (train, valid, which)
}

fn part_of(count: usize, fraction: f64) -> usize {
    (count as f64 * fraction).round() as usize
}

/// A percentage with at most one decimal.
fn percent(fraction: f64) -> f64 {
    (fraction * 1000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn sequences(lengths: &[usize]) -> Vec<Sequence> {
        let rows = |&length: &usize| Rows { channels: 1, values: (0..length).map(|v| v as f32).collect() };
        lengths.iter().map(rows).map(Sequence::next).collect()
    }

    fn lengths(sequences: &[Sequence]) -> Vec<usize> {
        sequences.iter().map(Sequence::len).collect()
    }

    #[test]
    fn of_few_sequences_the_end_of_each() {
        let (train, valid, which) = split_off(sequences(&[10, 2, 5]), 0.2, None).unwrap();
        assert_eq!((lengths(&train), lengths(&valid)), (vec![8, 2, 4], vec![2, 1]));
        assert_eq!(valid[0].targets.values, [8.0, 9.0]);
        assert_eq!(which, "the last 20 % of each of the 3 training sequences");
    }

    #[test]
    fn of_many_sequences_the_last() {
        let (train, valid, which) = split_off(sequences(&[3; 12]), 0.25, None).unwrap();
        assert_eq!((train.len(), valid.len()), (9, 3));
        assert_eq!(which, "the last 3 of 12 training sequences");
    }

    #[test]
    fn a_seed_draws_sequences_from_anywhere() {
        let lengths_by = |seed| {
            let (train, valid, which) =
                split_off(sequences(&(1..=20).collect::<Vec<_>>()), 0.25, Some(seed)).unwrap();
            assert_eq!(which, format!("5 of 20 training sequences, drawn at random with seed {seed}"));
            (lengths(&train), lengths(&valid))
        };
        let (train, valid) = lengths_by(1);
        assert_eq!((train.len(), valid.len()), (15, 5));
        let mut all = [train, valid.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (1..=20).collect::<Vec<_>>());
        assert_ne!(valid, [16, 17, 18, 19, 20]);
        assert_eq!(lengths_by(1).1, valid);
        assert_ne!(lengths_by(2).1, valid);
        let error = split_off(sequences(&[9; 3]), 0.2, Some(1)).unwrap_err().to_string();
        assert!(error.starts_with("data.valid_seed draws whole sequences, and 3 are too few"), "{error}");
    }

    #[test]
    fn nothing_left_is_refused() {
        let error = split_off(sequences(&[3]), 0.1, None).unwrap_err().to_string();
        assert!(error.starts_with("data.valid_fraction = 0.1 leaves nothing for validation"), "{error}");
        let error = split_off(sequences(&[1]), 0.9, None).unwrap_err().to_string();
        assert!(error.contains("leaves nothing for training"), "{error}");
    }
}
