//! The best predictor: exported, tested and compared with what needs no network.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use quaver::Model;
use quaver::checkpoint::WeightFormat;
use serde_json::{Value, json};

use super::results::FitResults;
use super::tested::Tested;
use super::understand::Understanding;
use crate::auto::{BestTrial, Budget, Candidate, Candidates, ModelCost, Task, TimedSearchReport};
use crate::commands::export::{ExportedPredictor, export_in, write_c_header};
use crate::data::{Dataset, Sequence};
use crate::evaluate::{MissingCase, MissingEvaluation, PerturbedRecordings, Scores};
use crate::export::StorageOptions;
use crate::fit::RunState;
use crate::prediction::{SequencePrediction, predict_by_runtime};
use crate::report::plot::{self, Band, Calibration, CalibrationCurve};
use crate::report::{Body, KeyFigure, Section};
use crate::runs::TrainedState;
use crate::survey::short;

/// Rows on which missing channels are tried, at most.
const MOST_MISSING_ROWS: usize = 5000;

/// Rows and outputs that are drawn, at most.
const MOST_DRAWN_ROWS: usize = 1000;
const MOST_DRAWN_OUTPUTS: usize = 3;

/// Half of the 90 % interval in standard deviations.
const NINETY: f32 = 1.644_854;

/// A trial as a checkpoint.
pub(super) struct Fitted<'a> {
    pub(super) trial: &'a BestTrial,
    pub(super) state: Box<RunState>,
    pub(super) exported: ExportedPredictor,
    /// The layout in which it was costed.
    candidate: Option<&'a Candidate>,
}

impl<'a> Fitted<'a> {
    fn new(
        trial: &'a BestTrial,
        candidate: Option<&'a Candidate>,
        budget: &Budget,
        data: &Dataset,
        path: &Path,
    ) -> Result<Self> {
        let TrainedState::Predictor(state) = TrainedState::load(&trial.run.best_state())? else {
            bail!("the best run is no predictor; remove the folder and start again")
        };
        let exported = export_fitting(&state, budget, candidate, data, path)?;
        Ok(Fitted { trial, state, exported, candidate })
    }

    /// Whether it is ridge regression alone.
    pub(super) fn is_ridge(&self) -> bool {
        self.state.spec.layers.is_empty()
    }
}

/// Exports the best network, or ridge regression unless the network is clearly better on validation data.
pub(super) fn finish(
    found: &Understanding,
    budget: &Budget,
    fitting: &Candidates,
    searched: &TimedSearchReport,
    out: &Path,
) -> Result<FitResults> {
    let (data, path) = (&found.data, out.join("model.qvr"));
    let fitted = |trial, candidate| Fitted::new(trial, candidate, budget, data, &path);
    let ridge = searched.ridge.as_ref().map(|trial| fitted(trial, fitting.ridge.as_ref())).transpose()?;
    let network = searched.network.as_ref();
    let network = network.map(|trial| fitted(trial, fitting.of(&trial.settings.overrides()))).transpose()?;
    let tested = Tested::new(network.as_ref(), ridge.as_ref(), &with_truth(found))?;
    let chosen = match (&network, &ridge) {
        (Some(network), None) => network,
        (Some(network), Some(_)) if !tested.ridge_suffices() => network,
        // The file holds the network, if there is one.
        (_, Some(ridge)) => {
            export_fitting(&ridge.state, budget, ridge.candidate, data, &path)?;
            ridge
        }
        (None, None) => bail!("there is no model; repeat the command to go on"),
    };
    write_c_header(&path, &chosen.exported.bytes)?;
    results(found, budget, &tested, chosen)
}

/// The data, with the targets of a denoiser that was trained with them as the truth of its inputs.
fn with_truth(found: &Understanding) -> Dataset {
    let mut data = found.data.clone();
    if matches!(found.experiment.task, Task::Truth(_)) {
        for split in [&mut data.train, &mut data.valid, &mut data.test] {
            split.iter_mut().for_each(|sequence| sequence.truth = Some(Arc::clone(&sequence.targets)));
        }
    }
    data
}

fn results(
    found: &Understanding,
    budget: &Budget,
    tested: &Tested,
    chosen: &Fitted<'_>,
) -> Result<FitResults> {
    let Fitted { state, exported, .. } = chosen;
    let verdict = tested.verdict(found.experiment.allows_linear());
    let missing = missing_channels(state, &exported.bytes, &found.data.test)?;
    let layout = format!("{:?}", Model::load(&exported.bytes)?.spec().layout).to_lowercase();
    let scores = tested.test.scores_of(chosen);
    let mut facts = vec![("test error", error_in_words(found, scores))];
    if let Some((name, of_rival)) = tested.compared_with(chosen, &verdict) {
        let ratio = short(scores.mse / of_rival.mse);
        facts.push(("squared error", format!("{ratio} times that of {name} on test data")));
    }
    if let Some(coverage) = coverage_in_words(scores) {
        facts.push(("90 % interval covers", coverage));
    }
    facts.extend(missing.iter().map(|text| ("with channels missing", text.clone())));
    facts
        .push(("int8 costs", format!("{:+.4} nats per step on validation data", exported.cost.nll_increase)));
    Ok(FitResults {
        exported: chosen.trial.clone(),
        comparison: tested.comparison(),
        details: tested.details(),
        key_figures: key_figures(found, scores, exported),
        sections: sections(found, tested, chosen),
        scores: scores_json(tested, chosen),
        cost: ModelCost::of(&exported.bytes, budget.core())?,
        rivals: tested.rivals.clone(),
        verdict,
        facts,
        layout,
        run_command: "run",
    })
}

/// Scores of the exported model, and of the network and of ridge regression next to it.
fn scores_json(tested: &Tested, chosen: &Fitted<'_>) -> Value {
    let ridge = |split: &super::tested::TestedSplit| split.ridge.as_ref().map(|ridge| json!(ridge.scores));
    let network = |split: &super::tested::TestedSplit| split.network.as_ref().map(|net| json!(net.scores));
    json!({
        "test": tested.test.scores_of(chosen),
        "validation": tested.valid.scores_of(chosen),
        "network": { "test": network(&tested.test), "validation": network(&tested.valid) },
        "ridge": { "test": ridge(&tested.test), "validation": ridge(&tested.valid) },
        "int8_nll_increase": chosen.exported.cost.nll_increase,
        "denoising": tested.test.denoised,
    })
}

/// Exports in the layout that suits the model if that fits the budget, or else in the one that was costed.
fn export_fitting(
    state: &RunState,
    budget: &Budget,
    candidate: Option<&Candidate>,
    data: &Dataset,
    path: &Path,
) -> Result<ExportedPredictor> {
    let format = WeightFormat::Int8;
    let exported = export_in(state, StorageOptions { format, layout: None }, data, path)?;
    let cost = ModelCost::of(&exported.bytes, budget.core())?;
    // The time of the layout `float` is not known.
    let is_timed = cost.instructions.is_some() || budget.clock_hz.is_none();
    match candidate {
        Some(candidate) if !(budget.fits(&cost) && is_timed) => {
            export_in(state, StorageOptions { format, layout: Some(candidate.layout) }, data, path)
        }
        _ => Ok(exported),
    }
}

/// Coverage and error with one and two channels missing, in words.
fn missing_channels(state: &RunState, bytes: &[u8], test: &[Sequence]) -> Result<Option<String>> {
    let inputs = state.input_names.len();
    let counts: Vec<usize> = [1, 2].into_iter().filter(|count| 2 * count <= inputs).collect();
    if counts.is_empty() || !state.spec.likelihood.is_normal() {
        return Ok(None);
    }
    let mut left = MOST_MISSING_ROWS;
    let mut some = Vec::new();
    for sequence in test {
        let rows = sequence.len().min(left);
        if rows > 0 {
            some.push(sequence.slice(0..rows));
        }
        left -= rows;
    }
    let recordings = PerturbedRecordings {
        likelihood: state.spec.likelihood,
        input_names: &state.input_names,
        target_names: &state.target_names,
        scaling: &state.scaling,
        sequences: &some,
        seed: 1,
    };
    let cases: Vec<MissingCase> = counts.iter().map(|count| MissingCase::Count(*count)).collect();
    let found =
        MissingEvaluation { recordings }.score(&cases, |sequences| predict_by_runtime(bytes, sequences))?;
    let gaps = found.iter().filter(|scores| scores.is_gap());
    let parts = counts.iter().zip(gaps).filter_map(|(count, scores)| {
        let mean = &scores.groups.first()?.mean;
        let covers = mean
            .coverage
            .map_or(String::new(), |share| format!(", 90 % interval covers {:.1} %", 100.0 * share));
        Some(format!("any {count}: rms error {}{covers}", short(mean.rmse)))
    });
    let rows: usize = some.iter().map(Sequence::len).sum();
    Ok(Some(format!("{} (on the first {rows} test rows)", parts.collect::<Vec<_>>().join("; "))))
}

fn error_in_words(found: &Understanding, scores: &Scores) -> String {
    match &scores.per_output[..] {
        [output] => {
            let unit = found.unit(&output.name).map_or(String::new(), |unit| format!(" {unit}"));
            format!("{}{unit} rms, R² {:.4}", short(output.mse.sqrt()), output.r2)
        }
        outputs => format!("R² {:.4}, mean over {} outputs", scores.r2, outputs.len()),
    }
}

fn coverage_in_words(scores: &Scores) -> Option<String> {
    let uncertainty = &scores.uncertainty;
    let (coverage, error) = (uncertainty.coverage.get("90")?, uncertainty.coverage_std_error.get("90")?);
    Some(format!("{:.1} ± {:.1} % of the test values", 100.0 * coverage, 100.0 * error))
}

fn key_figures(found: &Understanding, scores: &Scores, exported: &ExportedPredictor) -> Vec<KeyFigure> {
    let mut figures = vec![KeyFigure::new(
        "Test error",
        error_in_words(found, scores),
        "on data that nothing else has seen",
    )];
    if let Some(coverage) = coverage_in_words(scores) {
        figures.push(KeyFigure::new("90 % interval covers", coverage, "90 % would be perfect"));
    }
    figures.push(KeyFigure::new(
        "int8 costs",
        format!("{:+.4}", exported.cost.nll_increase),
        "nats per step, validation",
    ));
    figures
}

fn sections(found: &Understanding, tested: &Tested, chosen: &Fitted<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    let predictions = tested.test.predictions_of(chosen);
    if let (Some(sequence), Some(prediction)) = (found.data.test.first(), predictions.first())
        && found.experiment.is_normal()
    {
        let outputs = found.data.target_names.len().min(MOST_DRAWN_OUTPUTS);
        sections.extend((0..outputs).map(|output| trace(found, sequence, prediction, output)));
    }
    let curve = |scores: &Scores| -> (Vec<f32>, Vec<f32>) {
        scores
            .uncertainty
            .calibration
            .iter()
            .map(|point| (point.promised as f32, point.observed as f32))
            .unzip()
    };
    let named: Vec<_> = tested.test.named().into_iter().map(|(name, scores)| (name, curve(scores))).collect();
    let curves: Vec<CalibrationCurve<'_>> = named
        .iter()
        .map(|(label, (nominal, observed))| CalibrationCurve { label, nominal, observed })
        .collect();
    sections.push(Section {
        heading: "Calibration".into(),
        text: "Intervals should cover as many test values as they promise: below the diagonal a model is overconfident.".into(),
        body: Body::Svg(plot::calibration(&Calibration { curves: &curves })),
    });
    sections
}

/// The beginning of the test data with the prediction and its 90 % band.
fn trace(
    found: &Understanding,
    sequence: &Sequence,
    prediction: &SequencePrediction,
    output: usize,
) -> Section {
    let rows = sequence.len().min(MOST_DRAWN_ROWS);
    let name = &found.data.target_names[output];
    let rate = found.clock.as_ref().map(|clock| clock.rate_hz);
    let x: Vec<f32> = (0..rows).map(|row| row as f32 / rate.unwrap_or(1.0) as f32).collect();
    let truth: Vec<f32> = (0..rows).map(|row| sequence.targets.row(row)[output]).collect();
    let mean: Vec<f32> = (0..rows).map(|row| prediction.mean.row(row)[output]).collect();
    let edge = |sign: f32| -> Vec<f32> {
        (0..rows).map(|row| mean[row] + sign * NINETY * prediction.variance(row, output).sqrt()).collect()
    };
    let y_label = match found.unit(name) {
        Some(unit) if !name.contains(unit) => format!("{name} ({unit})"),
        _ => name.clone(),
    };
    let what = match &found.experiment.task {
        Task::Next => "one row ahead",
        Task::Ahead(_) => "ahead",
        _ => "row by row",
    };
    Section {
        heading: format!("{name}: test data"),
        text: format!("The first {rows} test rows, predicted {what} by the exported model."),
        body: Body::Svg(plot::band(&Band {
            x: &x,
            truth: &truth,
            mean: &mean,
            lower: &edge(-1.0),
            upper: &edge(1.0),
            band_label: "90 % band",
            shaded: &[],
            x_label: if rate.is_some() { "time (s)" } else { "row" },
            y_label: &y_label,
        })),
    }
}
