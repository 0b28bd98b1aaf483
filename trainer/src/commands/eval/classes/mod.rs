//! Scores of models that classify sequences.

mod known;
mod page;
mod samples;
mod teach;
mod text;

pub(in crate::commands) use page::{confusion, points, rejection_of, reliability_of};
pub(super) use text::{MOST_CLASSES, class_rows, confusion_rows};

use anyhow::{Context, Result, bail, ensure};
use quaver::ReducerModel;
use serde::Serialize;

use super::Arguments;
use crate::commands::print::{print_json, print_note, print_text};
use crate::commands::reducer_model::LoadedReducer;
use crate::config::Config;
use crate::data::Dataset;
use crate::evaluate::{
    ClassificationScores, Classified, ClassifierBaseline, ClassifierOptions, LabelledRows,
    classifier_baselines,
};
use crate::prediction::{Reduction, reduce_by_runtime};
use crate::report;
use known::KnownAndUnknown;
use samples::LabelledSamples;
use teach::Teaching;

const CONVENTION: &str = "one class per sequence; NLL in nats of the true class, with probabilities of at least 1e-9; balanced: \
                          the mean over classes; ECE: expected calibration error in 15 bins";

/// Options for models that classify.
#[derive(Debug, clap::Args)]
pub(super) struct ClassOptions {
    /// Models that classify: teach this class, which the model was trained without (data.labels.exclude), by
    /// --shots examples of the training data, as a device would, and score with it.
    #[arg(long, value_name = "CLASS")]
    pub(super) teach: Option<String>,
    /// With --teach: number of examples, evenly spaced over the training sequences of the class.
    #[arg(long, default_value_t = 3, value_name = "N", requires = "teach", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) shots: u32,
    /// Models that classify: changes smaller than this, in raw units, are noise in the zero crossings and
    /// slope changes of the baseline with time-domain features.
    #[arg(long, default_value_t = 0.0, value_name = "CHANGE", allow_negative_numbers = false)]
    pub(super) emg_threshold: f32,
    /// Models that classify: omit the baseline of nearest neighbours under time warping, which takes longest.
    #[arg(long)]
    pub(super) no_dtw: bool,
    /// Models that classify, with --plot: the sequence of the split whose nearest neighbours and sequential
    /// Jacobian are shown, counted from 0.
    #[arg(long, default_value_t = 0, value_name = "INDEX")]
    pub(super) sequence: usize,
}

/// The result of an evaluation.
#[derive(Debug, Serialize)]
struct ClassEvaluation {
    convention: &'static str,
    /// Scores on sequences of known classes.
    #[serde(flatten)]
    scores: ClassificationScores,
    /// Sequences of classes that the model was not trained on, and what it rejects.
    #[serde(flatten)]
    known: KnownAndUnknown,
    /// What was taught, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    taught: Option<Teaching>,
    /// Baselines on the same sequences.
    baselines: Vec<BaselineEvaluation>,
}

/// A baseline, with how well it tells unknown sequences.
#[derive(Debug, Serialize)]
struct BaselineEvaluation {
    #[serde(flatten)]
    baseline: ClassifierBaseline,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_auroc: Option<f64>,
}

/// Everything that is evaluated.
struct Evaluated<'a> {
    model: &'a LoadedReducer,
    /// Classes of the model, and the one that was taught.
    classes: Vec<String>,
    train: LabelledSamples<'a>,
    samples: LabelledSamples<'a>,
    reduction: Reduction,
}

pub(super) fn run(arguments: &Arguments, settings: &Config) -> Result<()> {
    refuse_options(arguments)?;
    let model = LoadedReducer::load(&arguments.evaluated, arguments.data_dir.as_deref())?;
    ensure!(
        !model.classes.is_empty(),
        "{} has no classifier, only embeddings: see `quaver embed`",
        arguments.evaluated.display()
    );
    let mut settings = settings.clone();
    if let Some(class) = &arguments.classes.teach {
        teach::include(&mut settings.data, class, &model.classes)?;
    }
    let data = settings.load_data()?;
    let evaluated = prepare(arguments, &model, &data)?;
    let found = score(arguments, &evaluated)?;
    if let Some(path) = &arguments.plot {
        let title = format!("{} on {}", arguments.evaluated.display(), arguments.split.name());
        report::write(path, &page::page(&title, &found, &evaluated, arguments.classes.sequence)?)?;
    }
    if arguments.json { print_json(&found) } else { print_text(&text::render(&found)) }
}

/// Refuses options that only other models have.
fn refuse_options(arguments: &Arguments) -> Result<()> {
    let given = [
        ("--gap", arguments.gap.is_some()),
        ("--missing", !arguments.missing.is_empty()),
        ("--missing-lengths", !arguments.missing_lengths.is_empty()),
        ("--faults", arguments.faults),
        ("--observe", arguments.observe.is_some()),
        ("--reversed", arguments.reversed),
        ("--dynamic", arguments.dynamic.is_some()),
        ("--mc-draws", arguments.mc_draws.is_some()),
        ("--sharpened", arguments.sharpened),
        ("--roll", arguments.roll.is_some()),
        ("--trace", !arguments.trace.is_empty()),
        ("--trace-rows", arguments.trace_rows.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => bail!("{option} is for models that predict rows; this one classifies sequences"),
        None => Ok(()),
    }
}

fn prepare<'a>(arguments: &Arguments, model: &'a LoadedReducer, data: &'a Dataset) -> Result<Evaluated<'a>> {
    let mut classes = model.classes.clone();
    classes.extend(arguments.classes.teach.clone());
    check(model, &classes, data)?;
    let of = |sequences| LabelledSamples::new(sequences, &data.target_names, &classes);
    let (train, samples) = (of(&data.train), of(arguments.split.of(data)));
    ensure!(
        !samples.rows.is_empty(),
        "there is no test data; add data.test or data.labels.test_fraction, or choose --split valid"
    );
    let shots = arguments.classes.shots as usize;
    let taught = match &arguments.classes.teach {
        Some(class) => Some(teach::by_examples(&model.bytes, class, classes.len() - 1, &train, shots)?),
        None => None,
    };
    let reduction = reduce_by_runtime(&model.bytes, &samples.rows, taught.as_ref())?;
    Ok(Evaluated { model, classes, train, samples, reduction })
}

/// Refuses data with other inputs or classes than the model has.
fn check(model: &LoadedReducer, classes: &[String], data: &Dataset) -> Result<()> {
    ensure!(
        model.channels.names.is_empty() || model.channels.names == data.input_names,
        "the model's inputs are {} but the data's are {}; set data.inputs in the config",
        model.channels.names.join(", "),
        data.input_names.join(", ")
    );
    if let Some(unknown) = data.target_names.iter().find(|name| !classes.contains(name)) {
        bail!(
            "the data have the class `{unknown}`, which the model does not know; its classes are {}. Name it in \
             data.labels.exclude, so that its sequences count as unknown, or train with it",
            model.classes.join(", ")
        );
    }
    Ok(())
}

fn score(arguments: &Arguments, evaluated: &Evaluated<'_>) -> Result<ClassEvaluation> {
    let Evaluated { samples, reduction, classes, .. } = evaluated;
    let found = reduction.classes.as_ref().context("a sequence has no rows, so it has no class")?;
    let (known, labels) = samples.of_known_classes();
    ensure!(!known.is_empty(), "no sequence of the split is of a class that the model knows");
    let predicted: Vec<usize> = known.iter().map(|index| found.classes[*index]).collect();
    let probabilities = samples::select(&found.probabilities, &known);
    let classified =
        Classified { classes, labels: &labels, predicted: &predicted, probabilities: Some(&probabilities) };
    let threshold = ReducerModel::load(&evaluated.model.bytes)?.spec().threshold;
    let baselines = if arguments.no_baselines { Vec::new() } else { baselines(arguments, evaluated) };
    Ok(ClassEvaluation {
        convention: CONVENTION,
        scores: classified.scores(),
        known: KnownAndUnknown::new(samples, found, threshold),
        taught: arguments
            .classes
            .teach
            .as_ref()
            .map(|class| Teaching { class: class.clone(), shots: arguments.classes.shots as usize }),
        baselines,
    })
}

/// Baselines fitted on the training sequences of known classes. A class that was taught belongs to none of
/// them: they would be trained on all of its examples.
fn baselines(arguments: &Arguments, evaluated: &Evaluated<'_>) -> Vec<BaselineEvaluation> {
    let Evaluated { train, samples, .. } = evaluated;
    let classes = &evaluated.model.classes;
    let (train_known, train_labels) = train.of_classes_below(classes.len());
    let (known, labels) = samples.of_classes_below(classes.len());
    let is_unknown = |label: &Option<usize>| label.is_none_or(|class| class >= classes.len());
    let unknown: Vec<usize> =
        (0..samples.labels.len()).filter(|index| is_unknown(&samples.labels[*index])).collect();
    let (train_rows, known_rows) = (train.windows(&train_known), samples.windows(&known));
    let unknown_rows = samples.windows(&unknown);
    let [train_rows, known_rows, unknown_rows] =
        [&train_rows, &known_rows, &unknown_rows].map(|rows| rows.iter().collect::<Vec<_>>());
    let options = ClassifierOptions {
        emg_threshold: arguments.classes.emg_threshold,
        without_dtw: arguments.classes.no_dtw,
    };
    let train = LabelledRows { sequences: &train_rows, labels: &train_labels };
    let test = LabelledRows { sequences: &known_rows, labels: &labels };
    let mut progress = |name: &str| print_note(&format!("baseline: {name}"));
    let found = classifier_baselines(classes, train, test, &unknown_rows, options, &mut progress);
    found.into_iter().map(BaselineEvaluation::new).collect()
}

impl BaselineEvaluation {
    fn new(baseline: ClassifierBaseline) -> Self {
        let unknown_auroc = baseline.unknown_auroc();
        Self { baseline, unknown_auroc }
    }
}
