//! `quaver eval`: scores of a run or a checkpoint, compared with baselines.

mod denoising;
mod gaps;
mod latent;
mod page;
mod roll;
mod text;

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::evaluated_model::EvaluatedModel;
use super::print::{print_json, print_text};
use super::split::Split;
use crate::config::Config;
use crate::data::{Dataset, Scaling, Sequence};
use crate::evaluate::{Baseline, Scores, baselines, latent_scores, scores, standardised_residuals};
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentNets, TrainedLatentModel};
use crate::report;
use denoising::DenoisingScores;
pub(super) use denoising::rows as denoising_rows;
use latent::LatentEvaluation;

/// Score a run or a checkpoint on data, compared with baselines
///
/// NLL is in nats with densities in raw units, summed over outputs and averaged over time steps; coverage is
/// the fraction of observed values inside the central predictive interval, and width the mean width of that
/// interval. Baselines are fitted on the training data of the config: the training mean, persistence, and
/// ridge regression on the last rows; for binary targets the frequency of each output, alone and given its
/// last value. --json prints every score of every output, and calibration curves.
///
/// For a latent model: the bound on the NLL with its two terms, the NLL of whole sequences by importance
/// sampling, and one-step-ahead predictions if both networks are causal; with data.targets = "clean",
/// estimates of the clean rows instead.
///
/// Where noise was added to the inputs (data.noise): the signal-to-noise ratio of the model's estimates,
/// compared with filters tuned on training data; for zeros and ones the likelihood of the clean rows,
/// precision and recall.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver eval runs/first                                    on the test data of its config
  quaver eval runs/first --data config.toml --plot first.html
  quaver eval runs/storn --data config.toml --draws 500         a latent model, with more samples
  quaver eval runs/vrae --gap 30..40 --window 60                imputation, compared with interpolation and AR
  quaver eval runs/denoiser --roll notes.svg                noisy piano rolls, as a picture
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
    /// Latent models: seed of the draws.
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
    /// Omit baselines and filters.
    #[arg(long)]
    no_baselines: bool,
    /// Write an HTML page with calibration, residuals and all scores; for a latent model, those of its
    /// one-step-ahead predictions.
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
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
    /// Baselines on the same rows.
    baselines: Vec<Baseline>,
    /// Denoising scores, where clean inputs are known.
    #[serde(skip_serializing_if = "DenoisingScores::is_empty")]
    denoising: DenoisingScores,
}

const CONVENTION: &str = "NLL in nats, densities in raw units (standardised: in units of the training standard deviation), \
                          summed over outputs and averaged over time steps";

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let evaluated = EvaluatedModel::load(&arguments.evaluated)?;
    let config = arguments.config()?;
    let data = Config::load_with_data(&config, &[], arguments.data_dir.as_deref())?.load_data()?;
    evaluated.check_data(&data)?;
    let sequences = arguments.split.of(&data);
    ensure!(
        !sequences.is_empty(),
        "{}: there is no test data; add data.test, or choose --split valid",
        config.display()
    );
    if let Some(gap) = &arguments.gap {
        return gaps::run(arguments, gap, &evaluated, &data, sequences);
    }
    if let Some(path) = &arguments.roll {
        roll::draw(path, &evaluated, sequences)?;
    }
    if let EvaluatedModel::Latent(state) = &evaluated {
        score_latent(arguments, &evaluated, state, &data, sequences)?;
        return if arguments.plot.is_some() {
            score(arguments, &evaluated, &data, sequences).map(|_| ())
        } else {
            Ok(())
        };
    }
    let found = score(arguments, &evaluated, &data, sequences)?;
    if arguments.json {
        print_json(&found)
    } else {
        print_text(&(text::render(&found) + &denoising::render(&found.denoising)))
    }
}

/// Scores predictions, and plots them if requested.
fn score(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<Evaluation> {
    let predictions = evaluated.prediction(sequences)?;
    let likelihood = evaluated.spec().likelihood;
    let std_devs = Scaling::fit(&data.train).targets.std_dev;
    let found = Evaluation {
        convention: CONVENTION,
        kind: evaluated.kind(data.target),
        scores: scores(likelihood, &data.target_names, sequences, &predictions).in_units_of(&std_devs),
        baselines: if arguments.no_baselines { Vec::new() } else { baselines(likelihood, data, sequences) },
        denoising: denoising::score(evaluated, data, sequences, !arguments.no_baselines)?,
    };
    if let Some(path) = &arguments.plot {
        let title = format!("{} on {}", arguments.evaluated.display(), arguments.split.name());
        let residuals = standardised_residuals(sequences, &predictions);
        report::write(path, &page::page(&title, &found, &residuals))?;
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
