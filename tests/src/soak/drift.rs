//! A periodic input that goes on and on: the state must not creep away.

use super::cases::{PERIOD, clean_rows};
use crate::Case;
use crate::attack::rows::{check, garbage, same_state};
use crate::stream::Stream;

/// The state after a hundredth of the rows is compared with that after all of them,
const EARLY: u64 = 100;
/// but not before this many periods: a slow memory takes some thousand rows to fill.
const SETTLING: u64 = 16;
/// Largest relative difference of a word that is not reported as drift: some thousand units in the last place
/// of an f32, far below the tolerance of a prediction.
pub const TOLERANCE: f32 = 1e-4;

/// What became of the state.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// Rows read.
    pub steps: u64,
    /// Rows after which the state was first compared.
    pub early: u64,
    /// Largest relative difference of a word between then and the end; 0 if every bit is the same.
    pub difference: f32,
    /// Rows after which the state had the bits of one period before. From then on it repeats for ever: the
    /// next state depends on state and row alone.
    pub repeats_after: Option<u64>,
}

/// Runs about `steps` steps, or more if the state would not settle in them; `progress` gets their number now
/// and then.
///
/// # Errors
/// Says which promise was broken.
pub fn run(case: &Case, steps: u64, mut progress: impl FnMut(u64)) -> Result<Drift, String> {
    let clean = clean_rows(case);
    let words = Stream::arena_words(&case.model).map_err(|error| error.to_string())?;
    let mut words = garbage(words);
    let mut stream = Stream::load(&case.model, &mut words).map_err(|error| error.to_string())?;
    let period = PERIOD as u64;
    let periods = (steps / period).max(2 * SETTLING);
    let early = (periods / EARLY).max(SETTLING);
    let mut drift =
        Drift { steps: periods * period, early: early * period, difference: 0.0, repeats_after: None };
    let mut now = garbage(stream.saved_words());
    let [mut before, mut kept] = [now.clone(), Vec::new()];
    for index in 1..=periods {
        for row in clean.chunks(case.inputs) {
            check(&stream.step(row))?;
        }
        stream.check_state().map_err(|error| format!("check_state: {error}"))?;
        stream.save(&mut now).map_err(|error| format!("save: {error}"))?;
        match (same_state(&before, &now), drift.repeats_after) {
            (Ok(()), None) => drift.repeats_after = Some(index * period),
            (Err(error), Some(rows)) => {
                return Err(format!("a state that repeated after {rows} rows no longer does: {error}"));
            }
            _ => {}
        }
        if index == early {
            kept.clone_from(&now);
        }
        before.copy_from_slice(&now);
        progress(period);
    }
    drift.difference = difference(&kept, &now);
    Ok(drift)
}

/// Largest relative difference of two words at the same place.
fn difference(first: &[f32], second: &[f32]) -> f32 {
    let relative = |(a, b): (&f32, &f32)| if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()) };
    first.iter().zip(second).map(relative).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_relative_and_the_largest_counts() {
        assert_eq!(difference(&[0.0, 1.0], &[0.0, 1.0]), 0.0);
        assert_eq!(difference(&[0.0, 1e-30, 4.0], &[0.0, 2e-30, 3.0]), 0.5);
    }
}
