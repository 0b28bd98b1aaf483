//! Successive halving (Jamieson and Talwalkar 2016): which trials continue, and for how long.

use crate::config::HalvingConfig;

/// A stage (rung) of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Trials in this stage.
    pub trials: usize,
    /// Epochs after which they are compared.
    pub epochs: usize,
}

/// By default, every trial trains for a ninth of the epochs.
const DEFAULT_SHARE: usize = 9;

/// The stages of a search, the last of which trains for all `epochs`.
pub fn rungs(halving: &HalvingConfig, trials: usize, epochs: usize) -> Vec<Rung> {
    let first = halving.first_epochs.unwrap_or(epochs.div_ceil(DEFAULT_SHARE));
    // Dividing from the end makes the number of epochs of every stage a fraction of the last.
    let mut lengths = vec![epochs];
    while let Some(&shortest) = lengths.last()
        && halving.factor > 1
        && shortest > first
        && lengths.len() < MOST_RUNGS
    {
        lengths.push(shortest.div_ceil(halving.factor).max(first));
    }
    let mut rungs: Vec<Rung> = Vec::new();
    let mut left = trials;
    for epochs in lengths.into_iter().rev() {
        // A stage that would drop no trial is merged with the next one.
        if rungs.last().is_some_and(|last| last.trials == left) {
            rungs.pop();
        }
        rungs.push(Rung { trials: left, epochs });
        left = left.div_ceil(halving.factor);
    }
    rungs
}

/// Maximum number of stages.
const MOST_RUNGS: usize = 32;

/// The `keep` trials with the lowest scores, by number. Trials without a score are dropped; of equal ones the
/// first is kept.
pub fn promote(scores: &[(usize, Option<f64>)], keep: usize) -> Vec<usize> {
    let mut scored: Vec<(f64, usize)> =
        scores.iter().filter_map(|&(trial, score)| Some((score?, trial))).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    scored.truncate(keep);
    let mut kept: Vec<usize> = scored.into_iter().map(|(_, trial)| trial).collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(
        first_epochs: Option<usize>,
        factor: usize,
        trials: usize,
        epochs: usize,
    ) -> Vec<(usize, usize)> {
        let rungs = rungs(&HalvingConfig { first_epochs, factor }, trials, epochs);
        rungs.iter().map(|rung| (rung.trials, rung.epochs)).collect()
    }

    #[test]
    fn every_stage_has_fewer_trials_and_more_epochs() {
        assert_eq!(stages(None, 3, 27, 90), [(27, 10), (9, 30), (3, 90)]);
        assert_eq!(stages(None, 3, 32, 30), [(32, 4), (11, 10), (4, 30)]);
        assert_eq!(stages(Some(1), 2, 8, 8), [(8, 1), (4, 2), (2, 4), (1, 8)]);
        assert_eq!(stages(Some(5), 4, 8, 8), [(8, 5), (2, 8)]);
    }

    #[test]
    fn without_halving_or_rivals_there_is_one_stage() {
        assert_eq!(stages(None, 1, 20, 50), [(20, 50)]);
        assert_eq!(stages(None, 3, 1, 50), [(1, 50)]);
        assert_eq!(stages(Some(50), 3, 20, 50), [(20, 50)]);
    }

    #[test]
    fn a_stage_that_drops_nobody_is_left_out() {
        assert_eq!(stages(Some(1), 3, 2, 27), [(2, 1), (1, 27)]);
    }

    #[test]
    fn the_lowest_scores_go_on() {
        let scores = [(0, Some(3.0)), (1, None), (2, Some(1.0)), (3, Some(2.0)), (4, Some(1.0))];
        assert_eq!(promote(&scores, 2), [2, 4]);
        assert_eq!(promote(&scores, 3), [2, 3, 4]);
        assert_eq!(promote(&scores, 9), [0, 2, 3, 4]);
        assert_eq!(promote(&[(0, Some(1.0)), (1, Some(1.0))], 1), [0]);
    }
}
