//! Setting training data aside for validation.

use anyhow::{Result, ensure};

use super::rows::Sequence;

/// From this many sequences on, whole sequences are set aside. With fewer, one sequence could be a tenth of
/// the data or unlike all others, and the end of each is the better sample.
const MANY: usize = 10;

/// Sets the last part of the training data aside: training sequences, validation sequences, and which part
/// that was.
pub(super) fn split_off(
    train: Vec<Sequence>,
    fraction: f64,
) -> Result<(Vec<Sequence>, Vec<Sequence>, String)> {
    let (train, valid, which) =
        if train.len() >= MANY { last_sequences(train, fraction) } else { last_rows(&train, fraction) };
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

fn last_rows(sequences: &[Sequence], fraction: f64) -> (Vec<Sequence>, Vec<Sequence>, String) {
    let (mut train, mut valid) = (Vec::new(), Vec::new());
    for sequence in sequences {
        let cut = sequence.len() - part_of(sequence.len(), fraction);
        for (part, range) in [(&mut train, 0..cut), (&mut valid, cut..sequence.len())] {
            if !range.is_empty() {
                part.push(sequence.slice(range));
            }
        }
    }
    let which = match sequences.len() {
        1 => format!("the last {} % of the training sequence", percent(fraction)),
        count => format!("the last {} % of each of the {count} training sequences", percent(fraction)),
    };
    (train, valid, which)
}

fn part_of(count: usize, fraction: f64) -> usize {
    (count as f64 * fraction).round() as usize
}

/// Per cents with at most one decimal.
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
        let (train, valid, which) = split_off(sequences(&[10, 2, 5]), 0.2).unwrap();
        assert_eq!((lengths(&train), lengths(&valid)), (vec![8, 2, 4], vec![2, 1]));
        assert_eq!(valid[0].targets.values, [8.0, 9.0]);
        assert_eq!(which, "the last 20 % of each of the 3 training sequences");
    }

    #[test]
    fn of_many_sequences_the_last() {
        let (train, valid, which) = split_off(sequences(&[3; 12]), 0.25).unwrap();
        assert_eq!((train.len(), valid.len()), (9, 3));
        assert_eq!(which, "the last 3 of 12 training sequences");
    }

    #[test]
    fn nothing_left_is_refused() {
        let error = split_off(sequences(&[3]), 0.1).unwrap_err().to_string();
        assert!(error.starts_with("data.valid_fraction = 0.1 leaves nothing for validation"), "{error}");
        let error = split_off(sequences(&[1]), 0.9).unwrap_err().to_string();
        assert!(error.contains("leaves nothing for training"), "{error}");
    }
}
