//! Faults of sensors: what they do to error and coverage, and how well scores of rows detect them.
//!
//! Each fault is put into one channel at a time, in stretches of the recording. Targets stay those of the
//! sound recording.

mod detection;
mod kind;
mod stretches;
mod tail;
mod threshold;

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::perturbed_recordings::PerturbedRecordings;
use super::row_scores::{RowScore, ScoredRun};
use super::run_summary::{RunSummary, ValueGroup};
use super::scores::ValuePlace;
use super::selected_scores::SelectedTotals;
use crate::data::Sequence;
use crate::random::{Purpose, choose, stream};
pub use detection::Detection;
use detection::{FaultyRows, FaultyScores};
pub use kind::{FAULTS, Fault, SPIKE_EVERY};
use threshold::count_alarms;
pub use threshold::{AlarmThreshold, ThresholdSource, alarm_threshold};

/// Most channels that faults are put into. Of more, this many are drawn.
pub const MOST_FAULTY_CHANNELS: usize = 8;

/// A model and recordings to put faults into.
pub struct FaultEvaluation<'a> {
    /// The model and the recordings.
    pub recordings: PerturbedRecordings<'a>,
    /// The scores to compare.
    pub scores: &'a [RowScore],
    /// Rows of a faulty stretch.
    pub stretch: usize,
    /// Rows of a stretch in which scores that gather evidence may settle.
    pub settling: usize,
    /// Rows of a sound recording in which one false alarm is allowed; `None` for no threshold.
    pub rows_per_alarm: Option<f64>,
}

/// Everything found about faults.
#[derive(Clone, Debug, Serialize)]
pub struct FaultScores {
    /// The channels that faults were put into.
    pub channels: Vec<String>,
    /// Rows of a faulty stretch.
    pub stretch_rows: usize,
    /// Rows of a stretch that do not count in figures after settling.
    pub settling_rows: usize,
    /// Stretches in each channel.
    pub stretches: usize,
    /// The recording without faults.
    pub sound: Vec<RunSummary>,
    /// The scores, in the order of every `detection`.
    pub scores: Vec<ScoreThreshold>,
    /// Each fault at each strength.
    pub faults: Vec<FaultOutcome>,
}

/// A score and its threshold.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreThreshold {
    /// Name of the score.
    pub name: &'static str,
    /// How it is computed.
    pub detail: &'static str,
    /// The threshold for the rate of false alarms asked for, if any.
    #[serde(flatten)]
    pub threshold: Option<AlarmThreshold>,
    /// Alarms in the sound recording at that threshold.
    pub false_alarms: Option<usize>,
}

/// What a fault of one strength does.
#[derive(Clone, Debug, Serialize)]
pub struct FaultOutcome {
    /// Its name.
    pub fault: &'static str,
    /// Its strength with its unit.
    pub strength: String,
    /// Scores of predictions during the fault, by group of values, over the channels.
    pub groups: Vec<RunSummary>,
    /// How well each score detects it.
    pub detection: Vec<Detection>,
}

impl FaultEvaluation<'_> {
    /// Number of calls of `predict` in [`FaultEvaluation::score`].
    pub fn runs(&self) -> usize {
        1 + self.faults().count() * self.channels().len()
    }

    /// Scores the sound recording, then every fault in every channel.
    ///
    /// # Errors
    /// Those of `predict`, which runs the model over sequences.
    pub fn score<E>(
        &self,
        mut predict: impl FnMut(&[Sequence]) -> Result<ScoredRun, E>,
    ) -> Result<FaultScores, E> {
        let sound = SoundRun::new(self, predict(self.recordings.sequences)?);
        let mut rng = stream(self.recordings.seed, Purpose::Evaluation { index: 1 });
        let stretches = stretches::stretches(self.recordings.sequences, self.stretch, &mut rng);
        let mut faults = Vec::new();
        for (index, fault) in self.faults().enumerate() {
            faults.push(self.score_fault(fault, index as u64, &sound, &stretches, &mut predict)?);
        }
        let names = self.channels().into_iter().map(|channel| self.recordings.input_names[channel].clone());
        Ok(FaultScores {
            channels: names.collect(),
            stretch_rows: self.stretch,
            settling_rows: self.settling,
            stretches: stretches.iter().map(Vec::len).sum(),
            sound: sound.summary,
            scores: sound.thresholds,
            faults,
        })
    }

    /// Every fault that these channels can have.
    fn faults(&self) -> impl Iterator<Item = Fault> {
        let channels = self.recordings.input_names.len();
        FAULTS.into_iter().filter(move |fault| fault.is_possible(channels))
    }

    fn channels(&self) -> Vec<usize> {
        let PerturbedRecordings { input_names, seed, .. } = self.recordings;
        let mut rng = stream(seed, Purpose::Evaluation { index: 0 });
        choose(&mut rng, MOST_FAULTY_CHANNELS.min(input_names.len()), input_names.len())
    }

    fn score_fault<E>(
        &self,
        fault: Fault,
        index: u64,
        sound: &SoundRun,
        stretches: &[Vec<Range<usize>>],
        predict: &mut impl FnMut(&[Sequence]) -> Result<ScoredRun, E>,
    ) -> Result<FaultOutcome, E> {
        let PerturbedRecordings { input_names, scaling, sequences, seed, .. } = self.recordings;
        let targets = self.recordings.targets();
        let groups = ValueGroup::of(self.recordings.are_predicted());
        let mut totals = vec![Vec::new(); groups.len()];
        let mut scores = vec![FaultyScores::default(); self.scores.len()];
        for channel in self.channels() {
            let purpose = Purpose::Evaluation { index: (index + 1) << 16 | channel as u64 };
            let mut rng = stream(seed, purpose);
            let faulty = |(sequence, stretches): (&Sequence, &Vec<Range<usize>>)| {
                let inputs = fault.apply(&sequence.inputs, channel, stretches, &scaling.inputs, &mut rng);
                Sequence { inputs: Arc::new(inputs), ..sequence.clone() }
            };
            let read: Vec<Sequence> = sequences.iter().zip(stretches).map(faulty).collect();
            let run = predict(&read)?;
            let changed = changed(sequences, &read);
            let rows = FaultyRows { stretches, changed, settling: self.settling };
            for ((found, run), score) in scores.iter_mut().zip(&run.scores).zip(&sound.thresholds) {
                found.add(&rows, run, score.threshold);
            }
            let affected = fault.channels(channel, input_names.len());
            for (group, totals) in groups.iter().zip(&mut totals) {
                let selected = |ValuePlace { sequence, step, output }: ValuePlace| {
                    stretches[sequence].iter().any(|stretch| stretch.contains(&step))
                        && group.selects(affected.contains(&output))
                };
                let found = SelectedTotals::of(&targets, &run.predictions, selected);
                totals.push((input_names[channel].clone(), found));
            }
        }
        let summaries = groups.iter().zip(&totals);
        let detection = scores.iter().zip(self.scores).zip(&sound.ascending);
        Ok(FaultOutcome {
            fault: fault.name(),
            strength: fault.strength(),
            groups: summaries.filter_map(|(group, t)| RunSummary::new(*group, &targets, t)).collect(),
            detection: detection.map(|((found, score), sound)| found.detection(score.name, sound)).collect(),
        })
    }
}

/// Rows whose readings differ, by sequence.
fn changed(sound: &[Sequence], faulty: &[Sequence]) -> Vec<Vec<bool>> {
    let differs = |(sound, faulty): (&[f32], &[f32])| {
        sound.iter().zip(faulty).any(|(sound, faulty)| sound != faulty && !sound.is_nan())
    };
    let of = |(sound, faulty): (&Sequence, &Sequence)| {
        sound.inputs.iter().zip(faulty.inputs.iter()).map(differs).collect()
    };
    sound.iter().zip(faulty).map(of).collect()
}

/// The recording without faults.
struct SoundRun {
    summary: Vec<RunSummary>,
    /// Scores of its rows in ascending order, by score.
    ascending: Vec<Vec<f32>>,
    thresholds: Vec<ScoreThreshold>,
}

impl SoundRun {
    fn new(evaluation: &FaultEvaluation<'_>, run: ScoredRun) -> Self {
        let ScoredRun { predictions, mut scores } = run;
        // Nothing precedes the first row of a sequence, and a recording to evaluate starts more often than
        // a device does.
        for scores in &mut scores {
            for (sequence, scores) in evaluation.recordings.sequences.iter().zip(scores) {
                let unscored = sequence.burn_in.max(1).min(scores.len());
                scores[..unscored].fill(f32::NAN);
            }
        }
        let ascending = |scores: &Vec<Vec<f32>>| {
            let mut all: Vec<f32> =
                scores.iter().flatten().copied().filter(|score| !score.is_nan()).collect();
            all.sort_unstable_by(f32::total_cmp);
            all
        };
        let threshold = |(score, found): (&RowScore, &Vec<Vec<f32>>)| {
            let own = |threshold| AlarmThreshold { threshold, source: ThresholdSource::Checkpoint };
            let chosen = || evaluation.rows_per_alarm.and_then(|rows| alarm_threshold(found, rows));
            let threshold = score.threshold.map(own).or_else(chosen);
            let false_alarms = threshold.map(|own| count_alarms(found, own.threshold));
            ScoreThreshold { name: score.name, detail: score.detail, threshold, false_alarms }
        };
        let targets = evaluation.recordings.targets();
        let totals = SelectedTotals::of(&targets, &predictions, |_| true);
        SoundRun {
            summary: RunSummary::new(ValueGroup::Outputs, &targets, &[(String::new(), totals)])
                .into_iter()
                .collect(),
            ascending: scores.iter().map(ascending).collect(),
            thresholds: evaluation.scores.iter().zip(&scores).map(threshold).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
