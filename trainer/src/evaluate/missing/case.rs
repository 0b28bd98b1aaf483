//! The cases of missing channels, and the masks of each.

use std::collections::BTreeSet;
use std::ops::Range;

use super::mask::Mask;
use crate::data::Sequence;
use crate::random::{Purpose, choose, stream};

/// Most subsets of channels for one number of missing channels. Where there are more, this many different
/// ones are drawn.
pub const MOST_SUBSETS: usize = 32;

/// Draws of random bursts.
pub const BURST_DRAWS: usize = 8;

/// Channels that go missing.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingCase {
    /// Any so many channels, for the whole recording.
    Count(usize),
    /// These channels together, for the whole recording.
    Channels(Vec<usize>),
    /// Some channels, each independently, for so many rows at a time.
    Bursts {
        /// The channels that come and go.
        channels: BurstChannels,
        /// Rows of a burst.
        rows: usize,
        /// Share of all rows that each of them is missing, between 0 and 1.
        share: f64,
    },
    /// Each of these channels alone, in gaps that end after `rows_away.end` rows, of which the rows from
    /// `rows_away.start` on are scored.
    GapRows {
        /// The channels.
        channels: Vec<usize>,
        /// Rows of a gap, counted from its beginning.
        rows_away: Range<usize>,
    },
}

/// Channels that go missing in bursts.
#[derive(Clone, Debug, PartialEq)]
pub enum BurstChannels {
    /// All.
    All,
    /// Any so many of them, the others never.
    Count(usize),
    /// These, the others never.
    These(Vec<usize>),
}

/// One run of a case: its name and the masks of all sequences.
pub(super) struct Pattern {
    pub(super) name: String,
    pub(super) masks: Vec<Mask>,
}

impl MissingCase {
    /// Its name in tables.
    pub(super) fn label(&self, names: &[String]) -> String {
        match self {
            MissingCase::Count(count) => format!("{count} of {}", names.len()),
            MissingCase::Channels(channels) => joined(names, channels),
            MissingCase::Bursts { channels, rows, share } => {
                let bursts = format!("bursts of {rows} rows, {} % of the time", 100.0 * share);
                match channels {
                    BurstChannels::All => bursts,
                    BurstChannels::Count(count) => format!("{count} of {} in {bursts}", names.len()),
                    BurstChannels::These(channels) => format!("{} in {bursts}", joined(names, channels)),
                }
            }
            MissingCase::GapRows { rows_away, .. } => {
                format!("rows {} to {} of a gap", rows_away.start + 1, rows_away.end)
            }
        }
    }

    /// Whether a missing channel may have a last value.
    pub(super) fn comes_and_goes(&self) -> bool {
        matches!(self, MissingCase::Bursts { .. } | MissingCase::GapRows { .. })
    }

    /// Its runs.
    pub(super) fn patterns(&self, names: &[String], sequences: &[Sequence], seed: u64) -> Vec<Pattern> {
        let channels = names.len();
        let pattern = |name: String, mask: &mut dyn FnMut(usize) -> Mask| Pattern {
            name,
            masks: sequences.iter().map(|sequence| mask(sequence.len())).collect(),
        };
        let whole = |set: &[usize]| pattern(joined(names, set), &mut |rows| Mask::whole(rows, channels, set));
        match self {
            MissingCase::Count(count) => {
                subsets(*count, channels, seed).iter().map(|set| whole(set)).collect()
            }
            MissingCase::Channels(set) => vec![whole(set)],
            MissingCase::Bursts { channels: gone, rows: length, share } => {
                let drawn = |(index, (name, gone)): (u64, (String, Vec<usize>))| {
                    let mut rng = stream(seed, Purpose::Evaluation { index });
                    let mut mask = |rows| Mask::bursts(rows, channels, &gone, *length, *share, &mut rng);
                    pattern(name, &mut mask)
                };
                (0..).zip(gone.draws(names, seed)).map(drawn).collect()
            }
            MissingCase::GapRows { channels: gone, rows_away } => gone
                .iter()
                .map(|channel| {
                    let mut mask = |rows| Mask::periodic(rows, channels, *channel, rows_away);
                    pattern(names[*channel].clone(), &mut mask)
                })
                .collect(),
        }
    }
}

impl BurstChannels {
    /// The channels of every run, with its name: one run for each subset, or several draws for the same
    /// channels.
    fn draws(&self, names: &[String], seed: u64) -> Vec<(String, Vec<usize>)> {
        let repeated = |channels: &[usize]| {
            (1..=BURST_DRAWS).map(|draw| (format!("draw {draw}"), channels.to_vec())).collect()
        };
        match self {
            BurstChannels::All => repeated(&(0..names.len()).collect::<Vec<_>>()),
            BurstChannels::These(channels) => repeated(channels),
            BurstChannels::Count(count) => {
                let subsets = subsets(*count, names.len(), seed);
                subsets.into_iter().map(|set| (joined(names, &set), set)).collect()
            }
        }
    }
}

fn joined(names: &[String], channels: &[usize]) -> String {
    channels.iter().map(|channel| names[*channel].as_str()).collect::<Vec<_>>().join(" + ")
}

/// All subsets of `count` channels or, if there are more than [`MOST_SUBSETS`], that many different ones.
fn subsets(count: usize, channels: usize, seed: u64) -> Vec<Vec<usize>> {
    if binomial(channels, count) <= MOST_SUBSETS {
        return combinations(count, 0..channels);
    }
    let mut rng = stream(seed, Purpose::Evaluation { index: count as u64 });
    let mut found = BTreeSet::new();
    while found.len() < MOST_SUBSETS {
        found.insert(choose(&mut rng, count, channels));
    }
    found.into_iter().collect()
}

/// Number of subsets; stops counting far above [`MOST_SUBSETS`].
fn binomial(n: usize, k: usize) -> usize {
    let mut found = 1_usize;
    for index in 0..k.min(n.saturating_sub(k)) {
        found = found.saturating_mul(n - index) / (index + 1);
        if found > 1 << 20 {
            break;
        }
    }
    found
}

fn combinations(count: usize, from: Range<usize>) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let beginning_with = |first: usize| {
        let others = combinations(count - 1, first + 1..from.end);
        others.into_iter().map(move |others| std::iter::once(first).chain(others).collect())
    };
    from.clone().flat_map(beginning_with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_subsets_are_all_taken_and_many_are_drawn() {
        assert_eq!(subsets(1, 3, 1), [[0], [1], [2]]);
        assert_eq!(subsets(2, 3, 1), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(subsets(2, 8, 1).len(), 28);
        assert_eq!(subsets(3, 3, 1), [[0, 1, 2]]);
        let drawn = subsets(4, 8, 1);
        assert_eq!(drawn.len(), MOST_SUBSETS);
        assert!(drawn.iter().all(|set| set.len() == 4 && set.windows(2).all(|pair| pair[0] < pair[1])));
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(drawn, subsets(4, 8, 1), "the same for the same seed");
        assert_ne!(drawn, subsets(4, 8, 2));
        assert_eq!(subsets(30, 200, 1).len(), MOST_SUBSETS);
    }

    #[test]
    fn cases_have_names_that_say_what_is_missing() {
        let names = ["a".to_string(), "b".to_string()];
        let label = |case: MissingCase| case.label(&names);
        let bursts = |channels| MissingCase::Bursts { channels, rows: 100, share: 0.1 };
        assert_eq!(label(MissingCase::Count(2)), "2 of 2");
        assert_eq!(label(MissingCase::Channels(vec![0, 1])), "a + b");
        assert_eq!(label(bursts(BurstChannels::All)), "bursts of 100 rows, 10 % of the time");
        let of_one = bursts(BurstChannels::Count(1));
        assert_eq!(label(of_one.clone()), "1 of 2 in bursts of 100 rows, 10 % of the time");
        let found: Vec<String> = of_one.patterns(&names, &[], 1).into_iter().map(|run| run.name).collect();
        assert_eq!(found, ["a", "b"]);
        let named = bursts(BurstChannels::These(vec![1]));
        assert_eq!(label(named), "b in bursts of 100 rows, 10 % of the time");
        let gap = MissingCase::GapRows { channels: vec![1], rows_away: 10..100 };
        assert_eq!(label(gap.clone()), "rows 11 to 100 of a gap");
        assert_eq!(gap.patterns(&names, &[], 1)[0].name, "b");
    }
}
