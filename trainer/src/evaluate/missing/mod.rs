//! Predictions with channels missing, by the runtime as on a device, compared with stand-ins that need no
//! model of gaps.
//!
//! Only what the model reads is taken away: targets stay known, so that a model of its own next input is also
//! scored on the channels that it does not read.

mod case;
mod mask;

use serde::Serialize;

use super::perturbed_recordings::PerturbedRecordings;
use super::run_summary::{RunSummary, ValueGroup};
use super::scores::ValuePlace;
use super::selected_scores::{ScoredTargets, SelectedTotals};
use crate::data::{Rows, Sequence};
use crate::prediction::SequencePrediction;
use case::Pattern;
pub use case::{BURST_DRAWS, BurstChannels, MOST_SUBSETS, MissingCase};
use mask::{Mask, StandIn};

/// A model and recordings to take channels from.
pub struct MissingEvaluation<'a> {
    /// The model and the recordings.
    pub recordings: PerturbedRecordings<'a>,
}

/// Scores of one case of missing channels.
#[derive(Clone, Debug, Serialize)]
pub struct MissingScores {
    /// The missing channels.
    pub case: String,
    /// What the model read instead of them.
    pub reads: &'static str,
    /// Scores by group of values.
    pub groups: Vec<RunSummary>,
}

/// What the model reads instead of missing channels, with the names of the runs.
const NOTHING_MISSING: &str = "everything";
const GAP: &str = "a gap";
const HELD: &str = "no model, last value";
const STAND_INS: [(StandIn, &str); 3] =
    [(StandIn::Gap, GAP), (StandIn::LastValue, "last value"), (StandIn::TrainingMean, "training mean")];

impl MissingScores {
    /// Whether the model had to impute the missing channels itself.
    pub fn is_gap(&self) -> bool {
        self.reads == GAP
    }
}

impl MissingEvaluation<'_> {
    /// Number of calls of `predict` in [`MissingEvaluation::score`].
    pub fn runs(&self, cases: &[MissingCase]) -> usize {
        let PerturbedRecordings { input_names, seed, .. } = self.recordings;
        let of = |case: &MissingCase| case.patterns(input_names, &[], seed).len() * stand_ins(case).count();
        1 + cases.iter().map(of).sum::<usize>()
    }

    /// Scores with nothing missing, then of every case with a gap and with every stand-in. Where channels
    /// come and go, a model of its own inputs is also compared with their last values as predictions.
    ///
    /// # Errors
    /// Those of `predict`, which runs the model over sequences.
    pub fn score<E>(
        &self,
        cases: &[MissingCase],
        mut predict: impl FnMut(&[Sequence]) -> Result<Vec<SequencePrediction>, E>,
    ) -> Result<Vec<MissingScores>, E> {
        let PerturbedRecordings { input_names, sequences, seed, .. } = self.recordings;
        let targets = self.recordings.targets();
        let whole = SelectedTotals::of(&targets, &predict(sequences)?, |_| true);
        let whole = RunSummary::new(ValueGroup::Outputs, &targets, &[(String::new(), whole)]);
        let mut found = vec![MissingScores {
            case: "none".into(),
            reads: NOTHING_MISSING,
            groups: whole.into_iter().collect(),
        }];
        for case in cases {
            let patterns = case.patterns(input_names, sequences, seed);
            for (stand_in, reads) in stand_ins(case) {
                let groups = self.score_patterns(&patterns, stand_in, &mut predict)?;
                found.push(MissingScores { case: case.label(input_names), reads, groups });
            }
            found.extend(self.score_held(case, &patterns));
        }
        Ok(found)
    }

    /// The last values of lost channels as predictions of these channels, without a model. `None` for a model
    /// of other columns, and where channels never come.
    fn score_held(&self, case: &MissingCase, patterns: &[Pattern]) -> Option<MissingScores> {
        if !self.recordings.are_predicted() || !case.comes_and_goes() {
            return None;
        }
        let PerturbedRecordings { input_names, target_names, scaling, sequences, .. } = self.recordings;
        let targets = ScoredTargets { has_intervals: false, ..self.recordings.targets() };
        let held = |(sequence, mask): (&Sequence, &Mask)| {
            let filled = StandIn::LastValue.fill(sequence, mask, &scaling.inputs.mean);
            let zeros = SequencePrediction::zeros(sequence.len(), target_names.len());
            SequencePrediction { mean: Rows::clone(&filled.inputs), ..zeros }
        };
        let totals = patterns.iter().map(|Pattern { name, masks }| {
            let predictions: Vec<_> = sequences.iter().zip(masks).map(held).collect();
            let selected = |ValuePlace { sequence, step, output }: ValuePlace| {
                masks[sequence].is_scored(step) && masks[sequence].is_missing(step, output)
            };
            (name.clone(), SelectedTotals::of(&targets, &predictions, selected))
        });
        let summary = RunSummary::new(ValueGroup::AffectedChannels, &targets, &totals.collect::<Vec<_>>())?;
        Some(MissingScores { case: case.label(input_names), reads: HELD, groups: vec![summary] })
    }

    /// Scores of all runs of a case, by group of values.
    fn score_patterns<E>(
        &self,
        patterns: &[Pattern],
        stand_in: StandIn,
        predict: &mut impl FnMut(&[Sequence]) -> Result<Vec<SequencePrediction>, E>,
    ) -> Result<Vec<RunSummary>, E> {
        let PerturbedRecordings { scaling, sequences, .. } = self.recordings;
        let (own_inputs, targets) = (self.recordings.are_predicted(), self.recordings.targets());
        let groups = ValueGroup::of(own_inputs);
        let mut totals = vec![Vec::new(); groups.len()];
        for Pattern { name, masks } in patterns {
            let fill = |(sequence, mask)| stand_in.fill(sequence, mask, &scaling.inputs.mean);
            let read: Vec<Sequence> = sequences.iter().zip(masks).map(fill).collect();
            let predictions = predict(&read)?;
            for (group, totals) in groups.iter().zip(&mut totals) {
                let selected = |ValuePlace { sequence, step, output }: ValuePlace| {
                    let mask = &masks[sequence];
                    let is_missing = own_inputs && mask.is_missing(step, output);
                    mask.is_scored(step) && group.selects(is_missing)
                };
                totals.push((name.clone(), SelectedTotals::of(&targets, &predictions, selected)));
            }
        }
        let summaries = groups.iter().zip(&totals);
        Ok(summaries.filter_map(|(group, totals)| RunSummary::new(*group, &targets, totals)).collect())
    }
}

/// The stand-ins that differ in a case: a channel that never comes has no last value but its training mean.
fn stand_ins(case: &MissingCase) -> impl Iterator<Item = (StandIn, &'static str)> {
    let comes_and_goes = case.comes_and_goes();
    STAND_INS.into_iter().filter(move |(stand_in, _)| comes_and_goes || *stand_in != StandIn::LastValue)
}

#[cfg(test)]
mod tests;
