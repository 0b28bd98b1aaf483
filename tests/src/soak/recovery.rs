//! Bursts of garbage, and how long a stream takes to find back to its twin.

use quaver::{Error, Prediction};

use super::bursts::{Burst, Garbage};
use super::cases::{PERIOD, clean_rows, remembers_misses};
use crate::Case;
use crate::attack::rows::{bits, check, garbage, refused, same, same_state};
use crate::numbers::Numbers;
use crate::stream::Stream;

/// Most clean rows after a burst: a stream that has not found back by then is stuck.
pub const LONGEST: usize = 8192;
/// Clean rows after which the states are compared: with equal bits and equal rows they stay equal for ever.
const GLANCE: usize = 64;
/// Two predictions agree if means and standard deviations differ by at most this many standard deviations.
pub const TOLERANCE: f32 = 0.01;
/// Once in how many bursts the state is checked, saved and restored.
const SAVED_ONCE_IN: u64 = 8;

/// What bursts did to a stream.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Steps of the stream and of its twin.
    pub steps: u64,
    /// Times that the state was checked, saved, restored and continued.
    pub restored: u64,
    /// For each burst, the clean rows that it took to agree with the twin, for good; [`LONGEST`] if it never
    /// did.
    pub rows: Vec<usize>,
    /// What the longest recovery was from.
    pub worst: Option<Garbage>,
    /// Bursts after which the whole state arrived at the bits of the twin's.
    pub same_bits: usize,
}

impl Recovery {
    /// The number of clean rows after which half of the bursts were forgotten.
    pub fn median(&self) -> usize {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        rows.get(rows.len() / 2).copied().unwrap_or(0)
    }

    /// Rows of the longest recovery; [`LONGEST`] if there was one without an end.
    pub fn longest(&self) -> usize {
        self.rows.iter().copied().max().unwrap_or(0)
    }

    /// Bursts that were never forgotten.
    pub fn unrecovered(&self) -> usize {
        self.rows.iter().filter(|rows| **rows == LONGEST).count()
    }

    fn record(&mut self, burst: &Burst, clean: &Clean) {
        if clean.needed > self.longest() || self.worst.is_none() {
            self.worst = Some(burst.garbage);
        }
        self.rows.push(clean.needed);
        self.same_bits += usize::from(clean.same_bits);
        self.steps += (burst.rows + 2 * clean.rows) as u64;
    }
}

/// A stretch of clean rows.
struct Clean {
    rows: usize,
    /// Rows after which the stream agreed with its twin.
    needed: usize,
    /// Whether the states had the same bits in the end.
    same_bits: bool,
}

/// A stream that is attacked, its twin, and one to restore into.
struct Streams<'m, 'a> {
    attacked: Stream<'m, 'a>,
    twin: Stream<'m, 'a>,
    spare: Stream<'m, 'a>,
    saved: [Vec<f32>; 2],
}

/// Runs about `steps` steps, at least one burst; `progress` gets their number now and then.
///
/// # Errors
/// Says which promise was broken.
pub fn run(case: &Case, steps: u64, seed: u64, mut progress: impl FnMut(u64)) -> Result<Recovery, String> {
    let clean = clean_rows(case);
    let row = |index: usize| &clean[index % PERIOD * case.inputs..][..case.inputs];
    let words = Stream::arena_words(&case.model).map_err(|error| error.to_string())?;
    let [mut first, mut second, mut third] = [(); 3].map(|()| garbage(words));
    let mut streams =
        Streams::load(case, &mut first, &mut second, &mut third).map_err(|error| error.to_string())?;
    let mut numbers = Numbers::new(&format!("bursts {seed} {}", case.name));
    let mut recovery = Recovery::default();
    let mut position = 0;
    while recovery.steps < steps.max(1) {
        let burst = Burst::draw(row(position), &mut numbers);
        let saves = numbers.once_in(SAVED_ONCE_IN);
        streams.endure(&burst, |index| row(position + index), saves, &mut numbers)?;
        let clean = streams.follow(|index| row(position + index), remembers_misses(case))?;
        position = (position + clean.rows) % PERIOD;
        recovery.record(&burst, &clean);
        recovery.restored += u64::from(saves);
        progress((burst.rows + 2 * clean.rows) as u64);
    }
    Ok(recovery)
}

impl<'m, 'a> Streams<'m, 'a> {
    fn load(
        case: &'m Case,
        first: &'a mut [f32],
        second: &'a mut [f32],
        third: &'a mut [f32],
    ) -> Result<Self, Error> {
        let attacked = Stream::load(&case.model, first)?;
        let saved = [(); 2].map(|()| garbage(attacked.saved_words()));
        let [twin, spare] = [second, third].map(|words| Stream::load(&case.model, words));
        Ok(Streams { attacked, twin: twin?, spare: spare?, saved })
    }

    /// Feeds a burst to the attacked stream alone. If `saves`, its state is saved and restored at some place
    /// in the burst, and the copy sees the rest of it too.
    fn endure<'r>(
        &mut self,
        burst: &Burst,
        clean: impl Fn(usize) -> &'r [f32],
        saves: bool,
        numbers: &mut Numbers,
    ) -> Result<(), String> {
        let place = saves.then(|| numbers.below(burst.rows));
        let (mut values, mut vars) = (Vec::new(), Vec::new());
        for index in 0..burst.rows {
            if place == Some(index) {
                self.restore_into_spare()?;
            }
            burst.fill(clean(index), numbers, &mut values, &mut vars);
            let prediction = self.attacked.step_uncertain(&values, &vars);
            check(&prediction).map_err(|error| format!("{error} after the row {values:?} ± {vars:?}"))?;
            if place.is_some_and(|place| place <= index) {
                let copy = self.spare.step_uncertain(&values, &vars);
                same(&bits(&prediction), &bits(&copy), "a restored stream continues with other bits")?;
            }
        }
        Ok(())
    }

    fn restore_into_spare(&mut self) -> Result<(), String> {
        let [saved, again] = &mut self.saved;
        self.attacked.check_state().map_err(|error| format!("check_state: {error}"))?;
        self.attacked.save(saved).map_err(|error| format!("save: {error}"))?;
        self.spare.restore(saved).map_err(|error| refused(error, saved))?;
        self.spare.save(again).map_err(|error| format!("save again: {error}"))?;
        same_state(saved, again)
    }

    /// Feeds clean rows to both until their states have the same bits, or for [`LONGEST`] rows.
    fn follow<'r>(&mut self, row: impl Fn(usize) -> &'r [f32], means_only: bool) -> Result<Clean, String> {
        let mut clean = Clean { rows: 0, needed: 0, same_bits: false };
        while clean.rows < LONGEST && !clean.same_bits {
            for _ in 0..GLANCE {
                let row = row(clean.rows);
                let (attacked, twin) = (self.attacked.step(row), self.twin.step(row));
                check(&attacked)?;
                check(&twin)?;
                clean.rows += 1;
                if !agree(&attacked, &twin, means_only) {
                    clean.needed = clean.rows;
                }
            }
            clean.same_bits = self.have_same_bits()?;
        }
        Ok(clean)
    }

    fn have_same_bits(&mut self) -> Result<bool, String> {
        let [attacked, twin] = &mut self.saved;
        self.attacked.save(attacked).map_err(|error| format!("save: {error}"))?;
        self.twin.save(twin).map_err(|error| format!("save: {error}"))?;
        Ok(same_state(attacked, twin).is_ok())
    }
}

/// Whether every output of one prediction is that of another, within [`TOLERANCE`].
fn agree(first: &Prediction<'_>, second: &Prediction<'_>, means_only: bool) -> bool {
    first.iter().zip(second.iter()).all(|(first, second)| {
        let bound = TOLERANCE * second.std_dev();
        let [mean, std_dev] = [first.mean - second.mean, first.std_dev() - second.std_dev()];
        mean.abs() <= bound && (means_only || std_dev.abs() <= bound)
    })
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Recovery};

    #[test]
    fn the_longest_recovery_and_those_without_an_end_are_counted() {
        let recovery = Recovery { rows: vec![3, LONGEST, 0, 5, 4], ..Recovery::default() };
        assert_eq!((recovery.median(), recovery.longest(), recovery.unrecovered()), (4, LONGEST, 1));
    }
}
