//! `quaver eval`: scores of a run or a checkpoint on data, beside those of forecasts that need no net.

mod denoising;
mod gaps;
mod latent;
mod page;
mod roll;
mod text;

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde::Serialize;

use super::evaluated_model::EvaluatedModel;
use super::print::{print_json, print_text};
use crate::config::Config;
use crate::data::{Dataset, Scaling, Sequence};
use crate::evaluate::{Baseline, Scores, baselines, latent_scores, scores, standardised_residuals};
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentNets, TrainedLatentModel};
use crate::report;
use denoising::DenoisingScores;
pub(super) use denoising::rows as denoising_rows;
use latent::LatentEvaluation;

/// Score a run or a checkpoint on data, beside simple forecasts of the same rows.
///
/// NLL is in nats with densities in raw units, summed over outputs and averaged over time steps; coverage is the share of
/// observed values inside the central predictive interval, and width the mean width of that interval. Baselines are
/// fitted on the training data of the config: the training mean, persistence, and ridge regression on the last rows; for
/// binary targets the frequency of each output, alone and given its last value. JSON has every score of every output, and
/// calibration curves. Of a latent model, the bound on the NLL is printed with its two parts, the NLL of whole sequences by
/// importance sampling, and what it predicts one step ahead if both of its nets read forwards; with data.targets = "clean", what
/// it makes of noisy rows instead. Where noise was put on the inputs (data.noise), the ratio of signal to noise is printed of what the model makes of them, beside filters tuned on training data;
/// of zeros and ones, how likely the clean rows are and how many notes are right.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver eval runs/first                                    on the test data of its own config
  quaver eval runs/first --data config.toml --plot first.html
  quaver eval runs/storn --data config.toml --draws 500         a latent model, more closely
  quaver eval runs/vrae --gap 30..40 --window 60                how well it fills gaps, beside lines and AR
  quaver eval runs/denoiser --roll notes.svg                piano rolls under noise, as a picture
  quaver eval model.qvr --data config.toml --split valid --json | jq '.coverage.\"90\"'
  quaver eval model.qvr --data config.toml --json | jq '.baselines[] | {name, nll, mse}'")]
pub struct Arguments {
    /// A run folder (the net as trained) or a checkpoint (through the runtime).
    #[arg(value_name = "RUN|MODEL.qvr")]
    evaluated: PathBuf,
    /// The config whose [data] section names the files; a run folder's own unless given.
    #[arg(long, value_name = "CONFIG.toml")]
    data: Option<PathBuf>,
    /// Where relative paths of data start, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Which part of the data.
    #[arg(long, value_enum, default_value_t = Split::Test)]
    split: Split,
    /// For a latent model: draws of every sequence for importance sampling.
    #[arg(long, default_value_t = 100, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    draws: u32,
    /// For a latent model: where its draws start from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// For a latent model: hide these rows of every window, all channels, and judge how they are filled in.
    #[arg(long, value_name = "A..B", value_parser = gaps::parse_gap)]
    gap: Option<Range<usize>>,
    /// With --gap: rows of a window.
    #[arg(long, default_value_t = 60, value_name = "ROWS", requires = "gap", value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    /// With --gap: rounds of guessing; unless given, one if the model was trained with gaps, else ten more than the gap has rows.
    #[arg(long, value_name = "N", requires = "gap", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    iterations: Option<u32>,
    /// With --gap: fill gaps with what the model says as it is, as published, instead of joining it to the rows around.
    #[arg(long, requires = "gap")]
    unjoined: bool,
    /// Leave the baselines out, and the filters beside a denoiser.
    #[arg(long)]
    no_baselines: bool,
    /// Write a page with calibration, residuals and all scores; of a latent model, those of its one-step predictions.
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
    /// Draw the first sequence of denoised zeros and ones: what was played, what was observed, and the probabilities.
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
                "{}: a checkpoint does not know its data; name a config with --data",
                self.evaluated.display()
            ),
        }
    }
}

/// A part of the data.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Split {
    Train,
    Valid,
    Test,
}

impl Split {
    fn of(self, data: &Dataset) -> &[Sequence] {
        match self {
            Split::Train => &data.train,
            Split::Valid => &data.valid,
            Split::Test => &data.test,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Valid => "valid",
            Split::Test => "test",
        }
    }
}

/// What was found.
#[derive(Debug, Serialize)]
struct Evaluation {
    /// How to read the scores.
    convention: &'static str,
    /// The net as trained, or the runtime.
    #[serde(skip)]
    kind: &'static str,
    /// Of the model.
    #[serde(flatten)]
    scores: Scores,
    /// Of simple forecasts, on the same rows.
    baselines: Vec<Baseline>,
    /// Noise taken off the inputs, where their truth is known.
    #[serde(skip_serializing_if = "DenoisingScores::is_empty")]
    denoising: DenoisingScores,
}

const CONVENTION: &str = "NLL in nats, densities in raw units (standardised: in units of the training std_dev), \
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

/// Scores predictions, and draws them if that is wanted.
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

/// Scores a latent model and prints what was found.
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
    let scores = found.context("every value of these data is missing, so there is nothing to score")?;
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
