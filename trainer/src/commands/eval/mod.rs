//! `quaver eval`: scores of a run or a checkpoint, compared with baselines.

mod classes;
mod denoising;
mod dynamic;
mod faults;
mod gaps;
mod latent;
mod missing;
mod missing_cases;
mod monte_carlo;
mod page;
mod perturbed;
mod perturbed_page;
mod reversed;
mod roll;
mod run_counter;
mod text;
mod tokens;
mod tokens_drawn;
mod tokens_dynamic;
mod traces;

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::evaluated_model::EvaluatedModel;
use super::implausible::ImplausibleValues;
use super::print::{print_json, print_text};
use super::reducer_model;
use super::split::Split;
use crate::config::Config;
use crate::data::{Dataset, Scaling, Sequence};
use crate::evaluate::{
    Baseline, ClassificationScores, NovelRows, Scores, SurpriseScores, baselines, latent_scores,
    row_class_scores, scores, standardised_residuals,
};
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentNets, TrainedLatentModel};
use crate::prediction::SequencePrediction;
use crate::report;
pub(super) use classes::{
    confusion, points as class_points, rejection_of as class_rejection, reliability_of as class_reliability,
};
use denoising::DenoisingScores;
pub(super) use denoising::rows as denoising_rows;
use latent::LatentEvaluation;
use monte_carlo::{MonteCarloEvaluation, SharpenedEvaluation};
use perturbed::PerturbedEvaluation;
pub(super) use perturbed_page::coverage as missing_coverage;
pub(super) use run_counter::RunCounter;
pub(super) use text::{comparison_heading, comparison_row};
use traces::TraceOptions;

/// Score a run or a checkpoint on data, compared with baselines
///
/// NLL is in nats with densities in raw units, summed over outputs and averaged over time steps; coverage is
/// the fraction of observed values inside the central predictive interval, and width the mean width of that
/// interval. Baselines are fitted on the training data of the config: the training mean, persistence, and
/// ridge regression on the last rows; for binary targets the frequency of each output, alone and given its
/// last value. --json prints every score of every output, and calibration curves. Coverage has a standard
/// error, from a block bootstrap over time, because errors of neighbouring rows are alike.
///
/// --missing and --faults run the model as a device does, a run folder as an f32 checkpoint, and print their
/// tables instead: error, coverage and width with channels missing, compared with the last value or training
/// mean in their place; and with faults of sensors, and how well anomaly scores detect them. Targets stay
/// known. --plot adds them to the page.
///
/// --reversed feeds the recordings as they are and backwards, and prints the entropy of the predictive
/// distributions: a model that notices is less certain backwards. --dynamic evaluates a run while it goes on
/// learning from the rows that it has been scored on.
///
/// For a latent model: the bound on the NLL with its two terms, the NLL of whole sequences by importance
/// sampling, and one-step-ahead predictions if both networks are causal; with data.targets = "clean",
/// estimates of the clean rows instead.
///
/// Where noise was added to the inputs (data.noise): the signal-to-noise ratio of the model's estimates,
/// compared with filters tuned on training data; for zeros and ones the likelihood of the clean rows,
/// precision and recall.
///
/// For classes of rows (data.targets = { class = … }, or one-hot columns): accuracy, balanced accuracy, macro
/// F1, recall, precision and F1 of every class, and the confusion matrix as well.
///
/// For a model with [reduce]: error, balanced accuracy, macro F1, NLL and calibration of its classes, run by
/// the runtime, compared with nearest neighbours (Euclidean, and under time warping with a window chosen on
/// the training data) and with time-domain features and linear discriminant analysis; the confusion matrix;
/// error against the share rejected; and how well sequences of classes left out of training
/// (data.labels.exclude) are told from known ones.
///
/// For a model of text: NLL per token with carried state over the whole text, perplexity, bits per token, and
/// the same of the frequencies of the training tokens as a baseline.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver eval runs/first                                    on the test data of its config
  quaver eval runs/first --data config.toml --plot first.html
  quaver eval runs/first --plot first.html --trace force_n --trace-rows 1000..1500 --rate-hz 50
  quaver eval runs/storn --data config.toml --draws 500         a latent model, with more samples
  quaver eval runs/vrae --gap 30..40 --window 60                imputation, compared with interpolation and AR
  quaver eval runs/denoiser --roll notes.svg                noisy piano rolls, as a picture
  quaver eval model.qvr --data config.toml --missing 1,2,4      any one, two and four inputs missing
  quaver eval runs/first --missing emg3,emg1+emg2,bursts:2s@10% --rate-hz 50
  quaver eval runs/first --missing 1:bursts:50@10%            one input in bursts of 50 rows, each in turn
  quaver eval runs/first --missing-lengths 10,100,1000      coverage by rows since a channel went missing
  quaver eval runs/first --faults --rate-hz 50 --plot faults.html
  quaver eval runs/first --mc-draws 100                     Monte Carlo over weights and dropout, next to moments
  quaver eval runs/first --sharpened --mc-draws 10          the bound of a sharpened posterior (weights.sharpen)
  quaver eval model.qvr --data config.toml --observe 200    error bars that follow the truth about every 200th row
  quaver eval runs/first --reversed                         entropy of the recordings as they are and backwards
  quaver eval runs/first --dynamic 0.1 --split valid        learn from rows once they are scored, at a rate of 0.1
  quaver eval runs/gestures --plot gestures.html --sequence 12    a classifier, with pictures of one sequence
  quaver eval runs/without-fist --teach fist --shots 3      a gesture taught by three examples
  quaver eval model.qvr --data config.toml --split valid --json | jq '.coverage.\"90\"'
  quaver eval model.qvr --data config.toml --json | jq '.baselines[] | {name, nll, mse}'")]
pub struct Arguments {
    /// A run folder (the trained network) or a checkpoint (the runtime).
    #[arg(value_name = "RUN|MODEL.qvr")]
    evaluated: PathBuf,
    /// The config whose [data] section names the files; by default that of the run folder.
    #[arg(long, value_name = "CONFIG.toml")]
    data: Option<PathBuf>,
    /// Folder for relative paths of data, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The split to score.
    #[arg(long, value_enum, default_value_t = Split::Test)]
    split: Split,
    /// Latent models: importance samples per sequence.
    #[arg(long, default_value_t = 100, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    draws: u32,
    /// Seed of draws: importance samples, random subsets and bursts of --missing, and --faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Latent models: mask these rows of every window, in all channels, and score their imputation.
    #[arg(long, value_name = "A..B", value_parser = gaps::parse_gap)]
    gap: Option<Range<usize>>,
    /// With --gap: rows of a window.
    #[arg(long, default_value_t = 60, value_name = "ROWS", requires = "gap", value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    /// With --gap: rounds of imputation; by default one if the model was trained with gaps, otherwise ten
    /// more than the rows of the gap.
    #[arg(long, value_name = "N", requires = "gap", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    iterations: Option<u32>,
    /// With --gap: impute the model's reconstruction as published, instead of joining it to the rows around
    /// the gap.
    #[arg(long, requires = "gap")]
    unjoined: bool,
    /// Score with inputs missing; several cases, separated by commas: a number of channels (all subsets, or
    /// 32 random ones), a name, names joined by +, or bursts:LENGTH@SHARE with a length such as 2s or 100
    /// (rows) and the share of the time in each channel such as 10%. Before bursts, a number or names and a
    /// colon restrict them to these channels: 1:bursts:2s@10%.
    #[arg(long, value_name = "CASES", value_delimiter = ',', conflicts_with = "gap")]
    missing: Vec<String>,
    /// Score by the rows since a channel went missing, up to each of these lengths; the channels named by
    /// --missing, or all, one at a time.
    #[arg(long, value_name = "ROWS", value_delimiter = ',', conflicts_with = "gap")]
    missing_lengths: Vec<usize>,
    /// Score with faults of sensors in one channel at a time (in 8 random ones of more): stuck, dead, spikes,
    /// swapped, saturation, gain drift, offset, delay and noise.
    #[arg(long, conflicts_with = "gap")]
    faults: bool,
    /// With --faults: rows of a faulty stretch; by default 5 seconds, or 250 rows without --rate-hz.
    #[arg(long, value_name = "ROWS", requires = "faults", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    fault_rows: Option<u32>,
    /// Samples per second, for bursts of --missing in seconds, false alarms of --faults per hour, and the
    /// time axis of --plot.
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate_hz: Option<f64>,
    /// Tell a checkpoint exported with --track the truth about every N-th row after it has predicted it, so
    /// that its error bars follow; without a number, about every row.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1",
          conflicts_with_all = ["missing", "missing_lengths", "faults", "gap"],
          value_parser = clap::value_parser!(u32).range(1..))]
    observe: Option<u32>,
    /// Feed the recordings as they are and backwards, and print the entropy of the predictions of both.
    #[arg(long, conflicts_with_all = ["gap", "missing", "missing_lengths", "faults", "observe", "plot", "roll", "sharpened"])]
    reversed: bool,
    /// With --reversed: time steps of the windows by which entropy and NLL tell the directions apart.
    #[arg(long, value_name = "ROWS", default_value_t = 100, requires = "reversed",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    reversed_window: u32,
    /// Evaluate a run folder while it learns, by gradient descent with this rate after every window of rows
    /// that have been scored. Choose the rate with --split valid.
    #[arg(long, value_name = "RATE", value_parser = dynamic::parse_learning_rate,
          conflicts_with_all = ["reversed", "gap", "missing", "missing_lengths", "faults", "observe", "plot", "roll", "mc_draws",
                                "sharpened"])]
    dynamic: Option<f32>,
    /// With --dynamic: time steps between updates; by default training.chunk, or 20 if that is 0.
    #[arg(long, value_name = "ROWS", requires = "dynamic", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    dynamic_window: Option<u32>,
    /// Also score Monte Carlo with this many draws, next to moments: weights drawn once per draw, noise on
    /// units at every step.
    #[arg(long, value_name = "N", conflicts_with_all = ["missing", "missing_lengths", "faults", "gap", "observe"],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    mc_draws: Option<u32>,
    /// Seed of --mc-draws and --sharpened.
    #[arg(long, default_value_t = 1, value_name = "S")]
    mc_seed: u64,
    /// Also print the bound on the NLL of a sharpened posterior (weights.sharpen), averaged over --mc-draws.
    #[arg(long, conflicts_with_all = ["missing", "missing_lengths", "faults", "gap", "observe"])]
    sharpened: bool,
    #[command(flatten)]
    classes: classes::ClassOptions,
    /// Omit baselines and filters.
    #[arg(long)]
    no_baselines: bool,
    /// Write an HTML page with traces of truth and prediction, calibration, residuals and all scores; for a
    /// latent model, those of its one-step-ahead predictions.
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
    /// With --plot: the outputs whose traces are shown, by name; by default the first 12.
    #[arg(long, value_name = "OUTPUTS", value_delimiter = ',', requires = "plot")]
    trace: Vec<String>,
    /// With --plot: the rows of a sequence that traces show, such as 1000..1500; by default the first 400.
    #[arg(long, value_name = "A..B", requires = "plot", value_parser = gaps::parse_gap)]
    trace_rows: Option<Range<usize>>,
    /// Draw the first sequence of denoised zeros and ones as an SVG: truth, noisy input and probabilities.
    #[arg(long, value_name = "F.svg")]
    roll: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// The config that names the data.
    fn config(&self) -> Result<PathBuf> {
        match &self.data {
            Some(config) => Ok(config.clone()),
            None if self.evaluated.is_dir() => Ok(RunFolder::new(&self.evaluated).config()),
            None => bail!(
                "{}: a checkpoint does not name its data; give a config with --data",
                self.evaluated.display()
            ),
        }
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0 && *rate <= 1e9);
    rate.ok_or_else(|| "give samples per second, such as 50".into())
}

/// The result of an evaluation.
#[derive(Debug, Serialize)]
struct Evaluation {
    /// How to read the scores.
    convention: &'static str,
    /// Whether the trained network or the runtime was evaluated.
    #[serde(skip)]
    kind: &'static str,
    /// Scores of the model.
    #[serde(flatten)]
    scores: Scores,
    /// Scores of the most probable class of every row, of a categorical likelihood.
    #[serde(skip_serializing_if = "Option::is_none")]
    classification: Option<ClassificationScores>,
    /// Coverage on rows unlike the training data, if the model has an input density.
    #[serde(skip_serializing_if = "Option::is_none")]
    novel_rows: Option<NovelRows>,
    /// Of a denoiser's checkpoint with clean targets: its predictions of rows before they are observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    before_rows: Option<BeforeRows>,
    /// Monte Carlo compared with moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    monte_carlo: Option<MonteCarloEvaluation>,
    /// The bound of a sharpened posterior.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharpened: Option<SharpenedEvaluation>,
    /// Baselines on the same rows.
    baselines: Vec<Baseline>,
    /// Denoising scores, where clean inputs are known.
    #[serde(skip_serializing_if = "DenoisingScores::is_empty")]
    denoising: DenoisingScores,
    /// Values that the checkpoint treated as missing, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    implausible: Option<ImplausibleValues>,
}

/// Scores of predictions of rows before they are observed.
#[derive(Debug, Serialize)]
struct BeforeRows {
    /// Of the clean rows.
    #[serde(flatten)]
    scores: Scores,
    /// Of the rows that were read.
    surprise: SurpriseScores,
}

const CONVENTION: &str = "NLL in nats, densities in raw units (standardised: in units of the training standard deviation), \
                          summed over outputs and averaged over time steps";

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    // What is wrong with a checkpoint is reported before any data are read.
    let is_file = arguments.evaluated.is_file() && !reducer_model::is_reducer(&arguments.evaluated);
    let checkpoint = is_file.then(|| EvaluatedModel::load(&arguments.evaluated)).transpose()?;
    let config = arguments.config()?;
    let settings = Config::load_with_data(&config, &[], arguments.data_dir.as_deref())?;
    if settings.data.is_labelled() {
        return classes::run(arguments, &settings);
    }
    let data = settings.load_data()?;
    let sequences = arguments.split.of(&data);
    ensure!(
        !sequences.is_empty(),
        "{}: there is no test data; add data.test, or choose --split valid",
        config.display()
    );
    if let Some(kind) = settings.data.token_kind() {
        return tokens::run(arguments, kind, &data, sequences);
    }
    let evaluated = checkpoint.map_or_else(|| EvaluatedModel::load(&arguments.evaluated), Ok)?;
    evaluated.check_data(&data)?;
    refuse_knowing_the_future(arguments, &data)?;
    traces::check(arguments, &data, sequences)?;
    if let Some(gap) = &arguments.gap {
        return gaps::run(arguments, gap, &evaluated, &data, sequences);
    }
    if arguments.reversed {
        ensure!(
            arguments.mc_draws.is_none(),
            "--reversed of recordings is by moments alone; leave --mc-draws out (of text it has both)"
        );
        return reversed::run(arguments, &evaluated, sequences);
    }
    if let Some(rate) = arguments.dynamic {
        return dynamic::run(arguments, rate, &evaluated, &data, sequences);
    }
    if perturbed::is_wanted(arguments) {
        return run_perturbed(arguments, &evaluated, &data, sequences);
    }
    if let Some(path) = &arguments.roll {
        roll::draw(path, &evaluated, sequences)?;
    }
    if let EvaluatedModel::Latent(state) = &evaluated {
        monte_carlo::check(arguments, &evaluated)?;
        score_latent(arguments, &evaluated, state, &data, sequences)?;
        return if arguments.plot.is_some() {
            score(arguments, &evaluated, &data, sequences, None).map(|_| ())
        } else {
            Ok(())
        };
    }
    let found = score(arguments, &evaluated, &data, sequences, None)?;
    found.implausible.iter().for_each(ImplausibleValues::report);
    if arguments.json {
        print_json(&found)
    } else {
        print_text(&(text::render(&found) + &denoising::render(&found.denoising)))
    }
}

/// Refuses evaluations in which a model would be told targets some rows ahead before a device could know
/// them.
fn refuse_knowing_the_future(arguments: &Arguments, data: &Dataset) -> Result<()> {
    let options = [
        ("--observe", arguments.observe.is_some()),
        ("--dynamic", arguments.dynamic.is_some()),
        ("--reversed", arguments.reversed),
    ];
    let asked = options.into_iter().find(|(_, asked)| *asked && !data.look_ahead.is_empty());
    match asked {
        Some((option, _)) => bail!(
            "{option} does not go with targets some rows ahead, which are not known when they are predicted; leave it out"
        ),
        None => Ok(()),
    }
}

/// Prints scores with missing channels and faults; a page has those of the recording as it is as well.
fn run_perturbed(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<()> {
    evaluated.implausible(sequences)?.iter().for_each(ImplausibleValues::report);
    let found = perturbed::score(arguments, evaluated, data, sequences)?;
    if arguments.plot.is_some() {
        score(arguments, evaluated, data, sequences, Some(&found))?;
    }
    if arguments.json { print_json(&found) } else { print_text(&found.render()) }
}

/// Scores predictions, and plots them if requested.
fn score(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
    perturbed: Option<&PerturbedEvaluation>,
) -> Result<Evaluation> {
    let predictions = match arguments.observe {
        Some(every) => evaluated.prediction_observing(sequences, every as usize)?,
        None => evaluated.prediction(sequences)?,
    };
    let likelihood = evaluated.spec().likelihood;
    let std_devs = Scaling::fit(&data.train).targets.std_dev;
    let scored = |predictions: &[SequencePrediction]| {
        scores(likelihood, &data.target_names, sequences, predictions).in_units_of(&std_devs)
    };
    let classify = |predictions| row_class_scores(&data.target_names, sequences, predictions);
    let before = if data.target.is_next() { None } else { evaluated.before_rows(sequences)? };
    let scores = scored(&predictions);
    let found = Evaluation {
        convention: CONVENTION,
        kind: evaluated.kind(data.target),
        monte_carlo: monte_carlo::score(arguments, evaluated, sequences, &scores, &std_devs)?,
        sharpened: monte_carlo::sharpened(arguments, evaluated, sequences)?,
        scores,
        classification: (likelihood == Likelihood::Categorical).then(|| classify(&predictions)).flatten(),
        novel_rows: evaluated.novel_rows(sequences, &predictions)?,
        before_rows: before.map(|(expected, surprise)| BeforeRows { scores: scored(&expected), surprise }),
        baselines: if arguments.no_baselines { Vec::new() } else { baselines(likelihood, data, sequences) },
        denoising: denoising::score(evaluated, data, sequences, !arguments.no_baselines)?,
        implausible: evaluated.implausible(sequences)?,
    };
    if let Some(path) = &arguments.plot {
        let title = format!("{} on {}", arguments.evaluated.display(), arguments.split.name());
        let residuals = standardised_residuals(sequences, &predictions);
        let traces =
            traces::sections(data, sequences, &predictions, &TraceOptions::of(arguments, likelihood));
        report::write(path, &page::page(&title, &found, perturbed, &residuals, traces))?;
    }
    Ok(found)
}

/// Scores a latent model and prints the result.
fn score_latent(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    state: &RunState<LatentNets>,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<()> {
    let model = TrainedLatentModel::new(state);
    let draws = arguments.draws as usize;
    let found = latent_scores(&model, &data.target_names, sequences, draws, arguments.seed);
    let scores = found.context("every value of these data is missing")?;
    let comparable = !arguments.no_baselines && model.nets.is_causal();
    let likelihood = model.nets.generative.spec.likelihood;
    let found = LatentEvaluation {
        convention: latent::CONVENTION,
        scores,
        baselines: if comparable { baselines(likelihood, data, sequences) } else { Vec::new() },
        denoising: denoising::score(evaluated, data, sequences, !arguments.no_baselines)?,
    };
    if arguments.json {
        print_json(&found)
    } else {
        print_text(&(latent::render(&found) + &denoising::render(&found.denoising)))
    }
}
