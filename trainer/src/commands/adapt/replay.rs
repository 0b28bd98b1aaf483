//! The replay: the exported model and the adapted one, for several numbers of labelled rows.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use quaver::{AdaptivePredictor, Covariance, Model};
use serde::Serialize;

use super::Arguments;
use super::rows::LabelledRows;
use crate::data::{Rows, Sequence};
use crate::evaluate::{Scores, scores};
use crate::prediction::{SequencePrediction, predict_adaptively, predict_by_runtime};

/// What the replay has shown.
pub(super) struct Replay {
    pub(super) scores: AdaptScores,
    /// Predictions of the exported model.
    pub(super) exported: Vec<SequencePrediction>,
    /// Predictions with the most labels.
    pub(super) adapted: Vec<SequencePrediction>,
}

/// Scores for each number of labelled rows.
#[derive(Debug, Serialize)]
pub(super) struct AdaptScores {
    /// How to read them.
    convention: &'static str,
    pub(super) covariance: &'static str,
    prior: f32,
    forgetting: f32,
    correlation: f32,
    /// RAM of a stream on a device, what it learns included, and without.
    pub(super) arena_bytes: usize,
    pub(super) exported_arena_bytes: usize,
    pub(super) amounts: Vec<AmountScores>,
}

/// Scores after one number of labelled rows.
#[derive(Debug, Serialize)]
pub(super) struct AmountScores {
    /// Labelled rows at the start of each sequence.
    pub(super) rows: usize,
    /// The same in seconds, if the rate is known.
    pub(super) seconds: Option<f64>,
    /// The model as exported, on the rows that are not labelled.
    pub(super) exported: Scores,
    /// The adapted model on the same rows.
    pub(super) adapted: Scores,
}

const CONVENTION: &str = "scores of the rows after the labelled ones, in raw units; NLL in nats";

pub(super) fn replay(
    bytes: &[u8],
    arguments: &Arguments,
    rows: &LabelledRows,
    amounts: &[usize],
) -> Result<Replay> {
    let (options, model) = (arguments.options(), Model::load(bytes)?);
    let exported = predict_by_runtime(bytes, &rows.sequences)?;
    let (mut found, mut adapted) = (Vec::new(), Vec::new());
    for labelled in amounts {
        if stderr().is_terminal() {
            eprintln!("learning from {labelled} rows");
        }
        adapted = predict_adaptively(bytes, options, &rows.sequences, *labelled)
            .with_context(|| format!("{} cannot adapt", arguments.model.display()))?;
        let held_out = held_out(&rows.sequences, arguments.score_from.unwrap_or(*labelled));
        let score = |predictions: &[SequencePrediction]| {
            scores(model.spec().likelihood, &rows.output_names, &held_out, predictions)
        };
        let [exported, adapted] = [score(&exported), score(&adapted)];
        ensure!(exported.n > 0, "none of the rows after the first {labelled} has a label to be scored by");
        let seconds = arguments.hz.map(|hz| *labelled as f64 / hz);
        found.push(AmountScores { rows: *labelled, seconds, exported, adapted });
    }
    let scores = AdaptScores {
        convention: CONVENTION,
        covariance: if options.covariance == Covariance::Full { "full" } else { "diagonal" },
        prior: options.prior,
        forgetting: options.forgetting,
        correlation: options.correlation,
        arena_bytes: 4 * AdaptivePredictor::arena_words(&model, &options),
        exported_arena_bytes: 4 * model.spec().arena_words(),
        amounts: found,
    };
    Ok(Replay { scores, exported, adapted })
}

/// The sequences with the targets of their first rows hidden, so that they are not scored.
fn held_out(sequences: &[Sequence], from: usize) -> Vec<Sequence> {
    let hide = |sequence: &Sequence| {
        let Rows { channels, values } = &*sequence.targets;
        let hidden = from.saturating_mul(*channels);
        let value = |(index, value): (usize, &f32)| if index < hidden { f32::NAN } else { *value };
        let values = values.iter().enumerate().map(value).collect();
        Sequence { targets: Arc::new(Rows { channels: *channels, values }), ..sequence.clone() }
    };
    sequences.iter().map(hide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_rows_are_not_scored() {
        let rows = |values: &[f32]| Rows { channels: 1, values: values.to_vec() };
        let sequence = Sequence::columns(rows(&[1.0, 2.0, 3.0]), rows(&[4.0, 5.0, 6.0]));
        let hidden = held_out(&[sequence], 2);
        assert!(hidden[0].targets.values[..2].iter().all(|value| value.is_nan()));
        assert_eq!(hidden[0].targets.values[2], 6.0);
        assert_eq!(hidden[0].inputs.values, [1.0, 2.0, 3.0]);
    }
}
