//! The best predictor: exported, tested and compared with what needs no network.

use std::path::Path;

use anyhow::{Result, bail};
use quaver::Model;
use quaver::checkpoint::{Likelihood, WeightFormat};
use serde_json::json;

use super::results::FitResults;
use super::understand::Understanding;
use crate::auto::{Budget, Candidate, LossUnit, ModelCost, Rival, Task, Verdict, VerdictKind};
use crate::commands::eval::comparison_row;
use crate::commands::export::{ExportedPredictor, export_in, write_c_header};
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::evaluate::{
    BaselinePrediction, Denoising, MissingCase, MissingEvaluation, PairedDifference, PerturbedRecordings,
    Scores, baseline_predictions, denoising, scores, step_nlls,
};
use crate::export::StorageOptions;
use crate::fit::{RunFolder, RunState};
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

pub(super) fn finish(
    found: &Understanding,
    budget: &Budget,
    candidate: Option<&Candidate>,
    out: &Path,
) -> Result<FitResults> {
    let TrainedState::Predictor(state) = TrainedState::load(&RunFolder::new(&out.join("run")).best_state())?
    else {
        bail!("the best run is no predictor; remove the folder and start again")
    };
    let data = &found.data;
    let path = out.join("model.qvr");
    let exported = export_fitting(&state, budget, candidate, data, &path)?;
    write_c_header(&path, &exported.bytes)?;
    let tested = Tested::new(&state, &exported.bytes, data)?;
    let verdict = tested.verdict();
    let missing = missing_channels(&state, &exported.bytes, &data.test)?;
    let layout = format!("{:?}", Model::load(&exported.bytes)?.spec().layout).to_lowercase();
    let scores = &tested.test.scores;
    let mut facts = vec![("test error", error_in_words(found, scores))];
    let rival = tested.test.baselines.iter().find(|(found, _)| Some(&found.name) == verdict.rival.as_ref());
    if let Some((rival, of_rival)) = rival {
        let ratio = short(scores.mse / of_rival.mse);
        facts.push(("squared error", format!("{ratio} times that of {} on test data", rival.name)));
    }
    if let Some(coverage) = coverage_in_words(scores) {
        facts.push(("90 % interval covers", coverage));
    }
    facts.extend(missing.iter().map(|text| ("with channels missing", text.clone())));
    facts
        .push(("int8 costs", format!("{:+.4} nats per step on validation data", exported.cost.nll_increase)));
    Ok(FitResults {
        comparison: tested.comparison(),
        details: tested.details(),
        key_figures: key_figures(found, scores, &exported),
        sections: sections(found, &tested),
        scores: json!({
            "test": scores,
            "validation": tested.valid.scores,
            "int8_nll_increase": exported.cost.nll_increase,
            "denoising": tested.test.denoised,
        }),
        cost: ModelCost::of(&exported.bytes, budget.core())?,
        rivals: tested.rivals,
        verdict,
        facts,
        layout,
        run_command: "run",
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

/// One split: predictions of the exported model and of every fair rival.
struct TestedSplit {
    predictions: Vec<SequencePrediction>,
    scores: Scores,
    baselines: Vec<(BaselinePrediction, Scores)>,
    /// Of a denoiser: noisy rows, the model and filters.
    denoised: Vec<Denoising>,
}

impl TestedSplit {
    fn new(likelihood: Likelihood, bytes: &[u8], data: &Dataset, sequences: &[Sequence]) -> Result<Self> {
        let std_devs = Scaling::fit(&data.train).targets.std_dev;
        let scored = |predictions: &[SequencePrediction]| {
            scores(likelihood, &data.target_names, sequences, predictions).in_units_of(&std_devs)
        };
        let predictions = predict_by_runtime(bytes, sequences)?;
        let fair =
            baseline_predictions(likelihood, data, sequences).into_iter().filter(|found| !found.sees_targets);
        let baselines =
            fair.map(|found| (scored(&found.predictions), found)).map(|(scores, found)| (found, scores));
        let knows_truth = !sequences.is_empty() && sequences.iter().all(|sequence| sequence.truth.is_some());
        let estimates: Vec<Rows> = predictions.iter().map(|prediction| prediction.mean.clone()).collect();
        Ok(TestedSplit {
            scores: scored(&predictions),
            baselines: baselines.collect(),
            denoised: if knows_truth { denoising(data, sequences, &estimates, true) } else { Vec::new() },
            predictions,
        })
    }
}

/// Both splits, and the rivals.
struct Tested {
    valid: TestedSplit,
    test: TestedSplit,
    rivals: Vec<Rival>,
}

impl Tested {
    fn new(state: &RunState, bytes: &[u8], data: &Dataset) -> Result<Self> {
        let likelihood = state.spec.likelihood;
        let valid = TestedSplit::new(likelihood, bytes, data, &data.valid)?;
        let test = TestedSplit::new(likelihood, bytes, data, &data.test)?;
        let difference = |sequences: &[Sequence], split: &TestedSplit, index: usize| {
            let own = step_nlls(likelihood, sequences, &split.predictions);
            let rival = step_nlls(likelihood, sequences, &split.baselines[index].0.predictions);
            PairedDifference::new(&own, &rival)
        };
        let rival = |index: usize| Rival {
            name: valid.baselines[index].0.name.clone(),
            valid: difference(&data.valid, &valid, index),
            test: (!data.test.is_empty()).then(|| difference(&data.test, &test, index)),
        };
        let rivals = (0..valid.baselines.len().min(test.baselines.len())).map(rival).collect();
        Ok(Tested { valid, test, rivals })
    }

    /// Of a denoiser, a filter with a better signal-to-noise ratio on validation data is a rival too.
    fn verdict(&self) -> Verdict {
        let verdict = Verdict::new(&self.rivals, LossUnit::Nats);
        let snr = |split: &TestedSplit, name: &str| {
            split.denoised.iter().find(|entry| entry.name == name).map(|entry| entry.scores.snr_db)
        };
        let Some(own) = snr(&self.valid, "this model") else { return verdict };
        let filters = self.valid.denoised.iter().filter(|entry| entry.name != "this model");
        let Some(best) = filters.max_by(|one, other| one.scores.snr_db.total_cmp(&other.scores.snr_db))
        else {
            return verdict;
        };
        let on_test = snr(&self.test, "this model").zip(snr(&self.test, &best.name));
        let on_test = on_test
            .map_or(String::new(), |(own, other)| format!(", {own:.2} and {other:.2} dB on test data"));
        let figures = format!(
            "{own:.2} dB, the best filter ({}) {:.2} dB on validation data{on_test}",
            best.name, best.scores.snr_db
        );
        if best.scores.snr_db >= own {
            let text = format!("use the filter: the net reaches {figures}");
            return Verdict { kind: VerdictKind::UseRival, rival: Some(best.name.clone()), text };
        }
        Verdict { text: format!("{}; it reaches {figures}", verdict.text), ..verdict }
    }

    fn comparison(&self) -> Vec<Vec<String>> {
        let mut rows = vec![
            crate::commands::eval::comparison_heading(),
            comparison_row("this net, int8", &self.test.scores),
        ];
        rows.extend(self.test.baselines.iter().map(|(found, scores)| comparison_row(&found.name, scores)));
        rows
    }

    fn details(&self) -> String {
        let mut text = String::from(
            "on test data, which nothing else has seen; NLL in nats per step (standardised: in units of the training spread)\n",
        );
        text += &self
            .test
            .baselines
            .iter()
            .map(|(found, _)| format!("{}: {}\n", found.name, found.detail))
            .collect::<String>();
        if !self.test.denoised.is_empty() {
            text += "\n";
            text += &crate::commands::text_table::render(&crate::commands::eval::denoising_rows(
                &self.test.denoised,
            ));
        }
        text
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

fn sections(found: &Understanding, tested: &Tested) -> Vec<Section> {
    let mut sections = Vec::new();
    if let (Some(sequence), Some(prediction)) = (found.data.test.first(), tested.test.predictions.first())
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
    let named = std::iter::once(("this net", &tested.test.scores))
        .chain(tested.test.baselines.iter().map(|(found, scores)| (found.name.as_str(), scores)));
    let named: Vec<_> = named.map(|(name, scores)| (name, curve(scores))).collect();
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
