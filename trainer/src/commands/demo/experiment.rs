//! The demo's experiment: signal, training, export and predictions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use quaver::Model;
use quaver::checkpoint::WeightFormat;

use super::super::export::{ExportedPredictor, export};
use super::super::progress::TrainingConsole;
use super::training::train_anew;
use crate::data::{Dataset, Rows, Sequence};
use crate::demo::signal::{Recording, SignalForm, generate, write_csv};
use crate::evaluate::{MissingCase, MissingEvaluation, MissingScores, PerturbedRecordings, Scores, scores};
use crate::files;
use crate::fit::{self, EpochMetrics, RunState};
use crate::prediction::{SequencePrediction, predict_by_runtime};

/// The config, as a starting point for users.
const CONFIG: &str = include_str!("config.toml");

/// Length of each part of the data, in seconds.
const SECONDS: [(&str, f32); 3] = [("train", 900.0), ("valid", 180.0), ("test", 120.0)];

/// Numbers of electrodes that are taken away.
const MISSING: [usize; 3] = [1, 2, 4];

/// Number of rows that the emulated core replays.
const EMULATED_ROWS: usize = 500;

/// The recordings by split: train, valid, test.
pub(super) struct Recordings {
    parts: [Recording; 3],
}

impl Recordings {
    pub(super) fn train_seconds(&self) -> f32 {
        self.parts[0].force.len() as f32 / self.rate_hz()
    }

    fn rate_hz(&self) -> f32 {
        self.parts[0].rate_hz
    }
}

/// Writes the recordings and the config.
pub(super) fn record(out: &Path, seed: u64) -> Result<Recordings> {
    let data = out.join("data");
    fs::create_dir_all(&data).with_context(|| format!("cannot create the folder {}", data.display()))?;
    let mut parts = Vec::new();
    for (index, (name, seconds)) in SECONDS.into_iter().enumerate() {
        let recording = generate(3 * seed + index as u64, seconds, SignalForm::default());
        write_csv(&data.join(format!("{name}.csv")), &recording)?;
        parts.push(recording);
    }
    files::replace(&out.join("config.toml"), CONFIG.replace("SEED", &seed.to_string()).as_bytes())?;
    let parts = parts.try_into().unwrap_or_else(|_| unreachable!("one recording per part"));
    Ok(Recordings { parts })
}

/// A finished run with its data.
pub(super) struct DemoRun {
    state: RunState,
    data: Dataset,
    seconds: f64,
    metrics: Vec<EpochMetrics>,
}

/// Trains with the config.
pub(super) fn train(out: &Path) -> Result<DemoRun> {
    let mut recorder = MetricsRecorder { console: TrainingConsole::new(), metrics: Vec::new() };
    let (folder, data, summary) = train_anew(out, &mut recorder)?;
    let state = RunState::load(&folder.best_state())?;
    Ok(DemoRun { state, data, seconds: summary.seconds, metrics: recorder.metrics })
}

/// Prints the progress of a run and keeps its metrics for the report.
struct MetricsRecorder {
    console: TrainingConsole,
    metrics: Vec<EpochMetrics>,
}

impl fit::Progress for MetricsRecorder {
    fn notice(&mut self, line: &str) {
        self.console.notice(line);
    }

    fn start(&mut self, plan: &fit::RunPlan) {
        self.console.start(plan);
    }

    fn step(&mut self, step: &fit::StepReport) {
        self.console.step(step);
    }

    fn epoch(&mut self, metrics: &EpochMetrics, seconds: f64) {
        self.metrics.push(*metrics);
        self.console.epoch(metrics, seconds);
    }
}

/// The contents of the report.
pub(super) struct Experiment {
    pub(super) model_path: PathBuf,
    pub(super) training_seconds: f64,
    pub(super) metrics: Vec<EpochMetrics>,
    pub(super) rate_hz: f32,
    /// The true force of the test recording, without measurement noise.
    pub(super) truth: Vec<f32>,
    pub(super) test: Sequence,
    pub(super) int8: SequencePrediction,
    pub(super) f32: SequencePrediction,
    pub(super) int8_scores: Scores,
    pub(super) f32_scores: Scores,
    pub(super) gap: ElectrodeDropout,
    /// Scores with several electrodes missing for the whole recording.
    pub(super) missing: Vec<MissingScores>,
    exported: ExportedPredictor,
}

impl Experiment {
    pub(super) fn new(out: &Path, recordings: Recordings, trained: DemoRun) -> Result<Self> {
        let DemoRun { state, data, seconds, metrics } = trained;
        let model_path = out.join("model.qvr");
        let exported = export(&state, WeightFormat::Int8, &data, &model_path)?;
        let score = |bytes: &[u8]| -> Result<(SequencePrediction, Scores)> {
            let predictions = predict_by_runtime(bytes, &data.test)?;
            let found = scores(state.spec.likelihood, &state.target_names, &data.test, &predictions);
            let first = predictions.into_iter().next().context("the test recording is empty")?;
            Ok((first, found))
        };
        let (int8, int8_scores) = score(&exported.bytes)?;
        let (f32, f32_scores) = score(&exported.f32_bytes)?;
        let rate_hz = recordings.rate_hz();
        let [.., test] = recordings.parts;
        let sequence = data.test[0].clone();
        let gap = ElectrodeDropout::worst(&exported.bytes, &sequence, &state.input_names, &int8)?;
        let recordings = PerturbedRecordings {
            likelihood: state.spec.likelihood,
            input_names: &state.input_names,
            target_names: &state.target_names,
            scaling: &state.scaling,
            sequences: &data.test,
            seed: 1,
        };
        let missing = MissingEvaluation { recordings };
        let missing = missing.score(&MISSING.map(MissingCase::Count), |sequences| {
            predict_by_runtime(&exported.bytes, sequences)
        })?;
        Ok(Experiment {
            model_path,
            training_seconds: seconds,
            metrics,
            rate_hz,
            truth: test.force_true,
            test: sequence,
            int8,
            f32,
            int8_scores,
            f32_scores,
            gap,
            missing,
            exported,
        })
    }

    /// Increase of the NLL by int8 on the test recording, in nats per step.
    pub(super) fn int8_cost(&self) -> f64 {
        self.int8_scores.nll - self.f32_scores.nll
    }

    pub(super) fn flash_bytes(&self) -> usize {
        self.exported.bytes.len()
    }

    pub(super) fn f32_flash_bytes(&self) -> usize {
        self.exported.f32_bytes.len()
    }

    pub(super) fn ram_bytes(&self) -> usize {
        let model = Model::load(&self.exported.bytes).expect("the export was loaded before it was written");
        4 * model.spec().arena_words()
    }

    pub(super) fn variance_ratio(&self) -> f64 {
        self.exported.cost.variance_ratio
    }

    /// The rows that the emulated core replays.
    pub(super) fn emulated_rows(&self) -> Rows {
        self.test.inputs.slice(0..EMULATED_ROWS.min(self.test.len()))
    }
}

/// Predictions of the test recording with one electrode missing for a while.
pub(super) struct ElectrodeDropout {
    /// Rows in which it is missing.
    pub(super) rows: std::ops::Range<usize>,
    /// Name of the electrode.
    pub(super) channel: String,
    pub(super) prediction: SequencePrediction,
}

impl ElectrodeDropout {
    /// Removes the electrode whose loss increases the predicted standard deviation most.
    fn worst(bytes: &[u8], test: &Sequence, names: &[String], whole: &SequencePrediction) -> Result<Self> {
        let rows = test.len() / 3..test.len() / 3 + 400.min(test.len() / 3);
        let mut worst: Option<(f32, ElectrodeDropout)> = None;
        for (index, channel) in names.iter().enumerate() {
            let prediction = without(bytes, test, index, rows.clone())?;
            let widening: f32 = rows
                .clone()
                .map(|row| prediction.variance(row, 0).sqrt() - whole.variance(row, 0).sqrt())
                .sum();
            if worst.as_ref().is_none_or(|(most, _)| widening > *most) {
                worst = Some((
                    widening,
                    ElectrodeDropout { rows: rows.clone(), channel: channel.clone(), prediction },
                ));
            }
        }
        worst.map(|(_, gap)| gap).context("the model has no inputs")
    }

    /// Mean standard deviation inside the gap, in newtons.
    pub(super) fn std_dev(&self, prediction: &SequencePrediction) -> f32 {
        let sum: f32 = self.rows.clone().map(|row| prediction.variance(row, 0).sqrt()).sum();
        sum / self.rows.len().max(1) as f32
    }
}

/// The runtime's prediction with one channel missing in some rows.
fn without(
    bytes: &[u8],
    test: &Sequence,
    channel: usize,
    rows: std::ops::Range<usize>,
) -> Result<SequencePrediction> {
    let mut inputs = test.inputs.as_ref().clone();
    for row in rows {
        inputs.values[row * inputs.channels + channel] = f32::NAN;
    }
    let sequence = Sequence::columns(inputs, test.targets.as_ref().clone());
    predict_by_runtime(bytes, &[sequence])?.pop().context("one sequence, one forecast")
}
