//! How many rows are labelled.

use anyhow::{Result, ensure};

use super::{Arguments, ensure_positive};
use crate::data::Sequence;

/// Fractions of the shortest sequence that are labelled by default: none, then one in so many.
const USUAL: [usize; 4] = [16, 8, 4, 2];

/// Numbers of labelled rows, ascending, each with rows left to score.
pub(super) fn labelled_rows(arguments: &Arguments, sequences: &[Sequence]) -> Result<Vec<usize>> {
    if let Some(hz) = arguments.hz {
        ensure_positive("--hz", hz)?;
    }
    let shortest = sequences.iter().map(Sequence::len).min().unwrap_or(0);
    let hz = arguments.hz.unwrap_or(1.0);
    for seconds in &arguments.seconds {
        ensure!(seconds.is_finite() && *seconds >= 0.0, "--seconds must not be negative, found {seconds}");
    }
    let mut amounts: Vec<usize> = match (&arguments.rows[..], &arguments.seconds[..]) {
        ([], []) => std::iter::once(0).chain(USUAL.map(|part| shortest / part)).collect(),
        ([], seconds) => seconds.iter().map(|seconds| (seconds * hz).round() as usize).collect(),
        (rows, _) => rows.to_vec(),
    };
    amounts.sort_unstable();
    amounts.dedup();
    let longest = sequences.iter().map(Sequence::len).max().unwrap_or(0);
    let most = amounts.last().copied().unwrap_or(0).max(arguments.score_from.unwrap_or(0));
    ensure!(
        most < longest,
        "no rows are left to score after row {most}: the longest sequence has {longest}; label fewer"
    );
    if let Some(from) = arguments.score_from {
        ensure!(
            amounts.last().is_none_or(|most| *most <= from),
            "--score-from {from} would score rows that are labelled: start at row {most} or later"
        );
    }
    Ok(amounts)
}
