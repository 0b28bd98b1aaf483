//! Evaluations of perturbed recordings, by the runtime as on a device: missing channels and faults of
//! sensors.

use anyhow::{Context, Result};
use serde::Serialize;

use super::run_counter::RunCounter;
use super::{Arguments, faults, missing, missing_cases};
use crate::commands::evaluated_model::EvaluatedModel;
use crate::data::{Dataset, Scaling, Sequence};
use crate::evaluate::{
    FaultEvaluation, FaultScores, MissingCase, MissingEvaluation, MissingScores, PerturbedRecordings,
    ROW_SCORES, predict_and_score,
};

/// The result of an evaluation.
#[derive(Debug, Serialize)]
pub(super) struct PerturbedEvaluation {
    /// How to read the scores.
    convention: &'static str,
    /// Seed of everything that was drawn.
    seed: u64,
    /// Samples per second, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_hz: Option<f64>,
    /// Rows of the recordings that count.
    rows: usize,
    /// With missing channels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<MissingScores>,
    /// With faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) faults: Option<FaultScores>,
}

const CONVENTION: &str = "by the runtime; RMSE and width in raw units; coverage of the central 90 % interval with its standard \
                          error; coverage against the known targets, while only what the model reads is perturbed";

/// Rows of a faulty stretch where the sampling rate is not known, and its seconds where it is.
const STRETCH_ROWS: usize = 250;
const STRETCH_SECONDS: f64 = 5.0;

/// Whether such an evaluation was asked for.
pub(super) fn is_wanted(arguments: &Arguments) -> bool {
    arguments.faults || !arguments.missing.is_empty() || !arguments.missing_lengths.is_empty()
}

/// Everything that was asked for.
pub(super) fn score(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<PerturbedEvaluation> {
    let bytes =
        evaluated.runtime_bytes(data).context("--missing and --faults run a model as a device does")?;
    let cases = cases(arguments, data, sequences)?;
    let scaling = Scaling::fit(&data.train);
    let recordings = PerturbedRecordings {
        likelihood: evaluated.spec().likelihood,
        input_names: &data.input_names,
        target_names: &data.target_names,
        scaling: &scaling,
        sequences,
        seed: arguments.seed,
    };
    let mut found = PerturbedEvaluation {
        convention: CONVENTION,
        seed: arguments.seed,
        rate_hz: arguments.rate_hz,
        rows: sequences.iter().map(|sequence| sequence.len() - sequence.burn_in).sum(),
        missing: Vec::new(),
        faults: None,
    };
    if !cases.is_empty() {
        let evaluation = MissingEvaluation { recordings };
        let mut counter = RunCounter::new("missing channels", evaluation.runs(&cases));
        found.missing = evaluation.score(&cases, |sequences| {
            let run = predict_and_score(&bytes, &scaling.inputs, &[], sequences)?;
            counter.count();
            anyhow::Ok(run.predictions)
        })?;
    }
    if arguments.faults {
        let evaluation = FaultEvaluation {
            recordings,
            scores: &ROW_SCORES,
            stretch: arguments
                .fault_rows
                .map_or_else(|| usual_stretch(arguments.rate_hz), |rows| rows as usize),
            settling: evaluated.spec().extensions.anomaly.map_or(0, |anomaly| anomaly.window.into()),
            rows_per_alarm: arguments.rate_hz.map(|rate_hz| 3600.0 * rate_hz),
        };
        let mut counter = RunCounter::new("faults", evaluation.runs());
        found.faults = Some(evaluation.score(|sequences| {
            let run = predict_and_score(&bytes, &scaling.inputs, &ROW_SCORES, sequences)?;
            counter.count();
            anyhow::Ok(run)
        })?);
    }
    Ok(found)
}

fn usual_stretch(rate_hz: Option<f64>) -> usize {
    rate_hz.map_or(STRETCH_ROWS, |rate_hz| (STRETCH_SECONDS * rate_hz).ceil() as usize)
}

fn cases(arguments: &Arguments, data: &Dataset, sequences: &[Sequence]) -> Result<Vec<MissingCase>> {
    let mut cases = missing_cases::parse(&arguments.missing, &data.input_names, arguments.rate_hz)?;
    let longest = sequences.iter().map(Sequence::len).max().unwrap_or(0);
    let inputs = data.input_names.len();
    cases.extend(missing_cases::parse_lengths(&arguments.missing_lengths, &cases, longest, inputs)?);
    Ok(cases)
}

impl PerturbedEvaluation {
    /// Length of the recordings, if the rate is known.
    pub(super) fn hours(&self) -> Option<f64> {
        self.rate_hz.map(|rate_hz| self.rows as f64 / (3600.0 * rate_hz))
    }

    /// The tables.
    pub(super) fn render(&self) -> String {
        let mut parts = Vec::new();
        if !self.missing.is_empty() {
            parts.push(missing::render(&self.missing));
        }
        if let Some(found) = &self.faults {
            parts.push(faults::render(found, self.hours()));
        }
        parts.join("\n")
    }
}
