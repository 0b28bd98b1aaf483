//! `quaver demo --task gesture`: which gesture an armband sees, and whether it is any of those it knows.

mod page;
mod stream;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use quaver::ReducerModel;

use super::super::export;
use super::super::print::{print_note, print_text};
use super::super::progress::TrainingConsole;
use super::emulate::{self, Emulation};
use super::training::train_anew;
use crate::data::labelled::{class_of, warm_up};
use crate::data::{Dataset, Rows, Sequence};
use crate::demo::signal::{GESTURES, GestureRecording, UNSEEN_GESTURE, generate_gestures, gestures_to_csv};
use crate::evaluate::{
    ClassificationScores, Classified, ClassifierOptions, KnownScores, LabelledRows, classifier_baselines,
    known_scores,
};
use crate::files;
use crate::prediction::{Reduction, TaughtPrototypes, reduce_by_runtime};
use stream::StreamScores;

/// The config, as a starting point for users.
const CONFIG: &str = include_str!("gesture.toml");

/// Length of each session, in seconds.
const SECONDS: [(&str, f32); 3] = [("train", 300.0), ("valid", 120.0), ("test", 120.0)];

/// Number of rows that the emulated core replays.
const EMULATED_ROWS: usize = 500;

/// Examples by which the unseen gesture is taught.
const SHOTS: usize = 3;

/// What the demo found.
pub(super) struct GestureExperiment {
    pub(super) classes: Vec<String>,
    /// Class of each test window; none for the unseen gesture.
    pub(super) labels: Vec<Option<usize>>,
    pub(super) reduction: Reduction,
    pub(super) scores: ClassificationScores,
    pub(super) known: KnownScores,
    /// The field's baseline on the same windows.
    pub(super) baseline: ClassificationScores,
    /// With the unseen gesture taught by examples: scores with it as one more class.
    pub(super) taught: ClassificationScores,
    pub(super) stream: StreamScores,
    pub(super) flash_bytes: usize,
    pub(super) ram_bytes: usize,
    pub(super) training_seconds: f64,
}

pub(super) fn run(out: &Path, seed: u64) -> Result<()> {
    let begun = Instant::now();
    eprintln!("1/5  recording: rest and six gestures under eight electrodes, in three sessions");
    let [train_session, _, test_session] = record(out, seed)?;
    eprintln!("2/5  training on {:.0} s of rest and five of the gestures", SECONDS[0].1);
    let (folder, data, summary) = train_anew(out, &mut TrainingConsole::new())?;
    eprintln!("3/5  exporting int8 and measuring it through the runtime");
    let model = out.join("model.qvr");
    export::run(&export::Arguments::int8(folder.path().to_path_buf(), model.clone()))?;
    let bytes = fs::read(&model).with_context(|| format!("cannot read {}", model.display()))?;
    let experiment = experiment(&bytes, &data, &train_session, &test_session, summary.seconds)?;
    eprintln!("4/5  running it on an emulated Cortex-M4F");
    let rows = stream::rows(&test_session);
    let rows = rows.slice(0..EMULATED_ROWS.min(rows.len()));
    let emulation = emulate::replay_classes(out, &model, rows)?;
    print_note(&format!("     {}", emulation.in_words()));
    eprintln!("5/5  writing the report\n");
    let report = out.join("report.html");
    page::write(&report, &experiment, &test_session, &emulation, out)?;
    let numbers = key_numbers(&experiment, &emulation).map(|(label, value)| format!("{label:<34} {value}\n"));
    print_text(&format!(
        "{}\nreport: {}\ntook {:.0} s, {:.0} s of it training\n",
        numbers.concat(),
        report.display(),
        begun.elapsed().as_secs_f64(),
        experiment.training_seconds
    ))?;
    emulation.check()
}

/// Writes three sessions and the config.
fn record(out: &Path, seed: u64) -> Result<[GestureRecording; 3]> {
    let data = out.join("data");
    fs::create_dir_all(&data).with_context(|| format!("cannot create the folder {}", data.display()))?;
    let mut sessions = Vec::new();
    for (index, (name, seconds)) in SECONDS.into_iter().enumerate() {
        let session = generate_gestures(3 * seed + index as u64, seconds);
        files::replace(&data.join(format!("{name}.csv")), gestures_to_csv(&session).as_bytes())?;
        sessions.push(session);
    }
    files::replace(&out.join("config.toml"), CONFIG.replace("SEED", &seed.to_string()).as_bytes())?;
    Ok(sessions.try_into().unwrap_or_else(|_| unreachable!("one session per part")))
}

fn experiment(
    bytes: &[u8],
    data: &Dataset,
    train_session: &GestureRecording,
    test_session: &GestureRecording,
    training_seconds: f64,
) -> Result<GestureExperiment> {
    let classes = data.target_names.clone();
    let labels: Vec<Option<usize>> = data.test.iter().map(class_of).collect();
    let rows: Vec<&Rows> = data.test.iter().map(|sequence| sequence.inputs.as_ref()).collect();
    let reduction = reduce_by_runtime(bytes, &rows, None)?;
    let model = ReducerModel::load(bytes)?;
    let taught = teach(bytes, train_session)?;
    let with_taught = reduce_by_runtime(bytes, &rows, Some(&taught))?;
    // The unseen gesture is the class after the model's.
    let all_labels: Vec<Option<usize>> = labels.iter().map(|label| label.or(Some(classes.len()))).collect();
    let all_classes: Vec<String> = classes.iter().cloned().chain([UNSEEN_GESTURE.to_string()]).collect();
    Ok(GestureExperiment {
        scores: scores(&classes, &labels, &reduction)?,
        taught: scores(&all_classes, &all_labels, &with_taught)?,
        known: novelty(&labels, &reduction, model.spec().threshold)?,
        baseline: baseline(&classes, data)?,
        stream: StreamScores::new(bytes, &classes, test_session)?,
        flash_bytes: bytes.len(),
        ram_bytes: 4 * model.arena_words(),
        classes,
        labels,
        reduction,
        training_seconds,
    })
}

/// Scores of the sequences that have a class.
fn scores(
    classes: &[String],
    labels: &[Option<usize>],
    reduction: &Reduction,
) -> Result<ClassificationScores> {
    let found = reduction.classes.as_ref().context("the model has a classifier")?;
    let known: Vec<usize> = (0..labels.len()).filter(|index| labels[*index].is_some()).collect();
    let true_classes: Vec<usize> = labels.iter().flatten().copied().collect();
    let predicted: Vec<usize> = known.iter().map(|index| found.classes[*index]).collect();
    let values = known.iter().flat_map(|index| found.probabilities.row(*index).iter().copied()).collect();
    let probabilities = Rows { channels: found.probabilities.channels, values };
    let (labels, predicted) = (&true_classes[..], &predicted[..]);
    Ok(Classified { classes, labels, predicted, probabilities: Some(&probabilities) }.scores())
}

fn novelty(labels: &[Option<usize>], reduction: &Reduction, threshold: Option<f32>) -> Result<KnownScores> {
    let found = reduction.classes.as_ref().context("the model has a classifier")?;
    let of = |known: bool| -> Vec<f32> {
        let scores = labels.iter().zip(&found.novelty).filter(|(label, _)| label.is_some() == known);
        scores.map(|(_, score)| *score).collect()
    };
    known_scores(&of(true), &of(false), threshold).context("the test session has known and unseen gestures")
}

/// Teaches the unseen gesture by examples of the training session, as a device would.
fn teach(bytes: &[u8], session: &GestureRecording) -> Result<TaughtPrototypes> {
    let model = ReducerModel::load(bytes)?;
    let windows = stream::examples(session, GESTURES.len() - 1, SHOTS);
    let examples: Vec<(usize, &Rows)> = windows.iter().map(|rows| (model.classes(), rows)).collect();
    Ok(TaughtPrototypes::new(bytes, &examples)?)
}

/// Time-domain features and linear discriminant analysis.
fn baseline(classes: &[String], data: &Dataset) -> Result<ClassificationScores> {
    let labelled = |sequences: &'_ [Sequence]| -> (Vec<usize>, Vec<usize>) {
        let labels = sequences.iter().map(class_of).enumerate();
        labels.filter_map(|(index, label)| Some((index, label?))).unzip()
    };
    let rows = |sequences: &'_ [Sequence], indices: &[usize]| -> Vec<Rows> {
        let window = |sequence: &Sequence| sequence.inputs.slice(warm_up(sequence)..sequence.len());
        indices.iter().map(|index| window(&sequences[*index])).collect()
    };
    let ((train, train_labels), (test, test_labels)) = (labelled(&data.train), labelled(&data.test));
    let (train, test) = (rows(&data.train, &train), rows(&data.test, &test));
    let (train, test): (Vec<&Rows>, Vec<&Rows>) = (train.iter().collect(), test.iter().collect());
    let options = ClassifierOptions { without_dtw: true, ..ClassifierOptions::default() };
    let found = classifier_baselines(
        classes,
        LabelledRows { sequences: &train, labels: &train_labels },
        LabelledRows { sequences: &test, labels: &test_labels },
        &[],
        options,
        &mut |_| {},
    );
    let last = found.into_iter().next_back();
    last.map(|baseline| baseline.scores).context("there are windows to fit a baseline to")
}

/// The key figures.
fn key_numbers(experiment: &GestureExperiment, emulation: &Emulation) -> [(&'static str, String); 7] {
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    let (scores, baseline, known) = (&experiment.scores, &experiment.baseline, &experiment.known);
    let nll = |scores: &ClassificationScores| scores.nll.unwrap_or(f64::NAN);
    let share = |value: Option<f64>| value.map_or("-".into(), per_cent);
    let unseen = experiment.taught.per_class.last().and_then(|class| class.recall);
    [
        (
            "windows of another session",
            format!(
                "{} right, balanced {}, NLL {:.2}",
                per_cent(scores.accuracy),
                per_cent(scores.balanced_accuracy),
                nll(scores)
            ),
        ),
        (
            "time-domain features and LDA",
            format!(
                "{} right, balanced {}, NLL {:.2}",
                per_cent(baseline.accuracy),
                per_cent(baseline.balanced_accuracy),
                nll(baseline)
            ),
        ),
        (
            "a gesture it has never seen",
            format!(
                "refused in {} of its windows, known ones in {}; AUROC {:.3}",
                share(known.unknown_rejected),
                share(known.known_rejected),
                known.auroc
            ),
        ),
        (
            "taught by three examples",
            format!(
                "{} of it recognised; balanced {} of seven",
                share(unseen),
                per_cent(experiment.taught.balanced_accuracy)
            ),
        ),
        ("as a stream, at every sample", format!("{} right", per_cent(experiment.stream.scores.accuracy))),
        (
            "memory",
            format!("{} B of flash for the model, {} B of RAM", experiment.flash_bytes, experiment.ram_bytes),
        ),
        ("host and Cortex-M4F", emulation.verdict().into()),
    ]
}
