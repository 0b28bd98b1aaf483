//! `quaver prune`: a run without the weights that it can do without.

mod page;
mod text;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use serde::Serialize;

use super::eval::RunCounter;
use super::print::{print_json, print_text};
use super::progress::{TrainingConsole, print_summary};
use crate::config::Config;
use crate::data::Dataset;
use crate::evaluate::{PrunableModel, PruningPoint, pruning_curve, pruning_point};
use crate::fit::{RunFolder, RunState, TrainOptions, check_network, create_begun_run, prune_state};
use crate::nn::{PruningCriterion, PruningOrder, PruningUnit, WeightsLeft, weights_left};
use crate::report::{self, plot};
use crate::runs::{self, TrainedState};

/// Shares that are removed for the curve: finer where networks begin to suffer.
const SHARES: [f64; 15] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99];

const CONVENTION: &str = "On the validation data, without further training: NLL in nats per time step with densities in raw \
                          units, of text per token; calibration error is the mean distance of observed from promised probabilities";

/// Remove the weights of a run that it can do without
///
/// Weights are removed in the order of their signal-to-noise ratio |μ|/σ if they have variances
/// (weights.posterior), otherwise of their magnitude relative to the other weights of their map; all maps
/// are ordered together, that of an embedding among them; biases stay. With --blocks, whole blocks of four
/// rows and two columns are removed, by their norm over their noise, and an embedding stays: the layout
/// sparse stores and computes only what is left of them, so that a board gains flash and time.
///
/// Prints NLL and calibration on the validation data against the share that is removed, to choose a point by.
/// With --keep and --out, writes a run folder in which that share is left: every command takes it like any
/// other, export chooses the layout, and `quaver train RUN/config.toml --out RUN --resume` goes on training
/// with removed weights held at zero, as --epochs does at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver prune runs/first --blocks --plot pruning.html      the curve, to choose a point by
  quaver prune runs/first --blocks --keep 0.2 --out runs/pruned
  quaver prune runs/first --blocks --keep 0.2 --epochs 20 --out runs/pruned
  quaver prune runs/first --keep 0.2 --epochs 20 --set training.learning_rate=0.002 --out runs/pruned
  quaver export runs/pruned -o pruned.qvr
  quaver prune runs/first --curve 0.5 --set training.refit_noise=true    noise refitted after removing
  quaver prune runs/first --curve 0.5,0.8,0.9 --json | jq '.curve[] | {removed, nll}'")]
pub struct Arguments {
    /// The run folder of a trained predictor or model of text.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Share of the weights, or of the blocks, that are left: above 0, at most 1.
    #[arg(long, value_name = "SHARE", value_parser = parse_keep)]
    keep: Option<f64>,
    /// The run folder to create.
    #[arg(long, value_name = "RUN2", requires = "keep")]
    out: Option<PathBuf>,
    /// Remove whole blocks of four rows and two columns.
    #[arg(long)]
    blocks: bool,
    /// Train for this many epochs afterwards, with removed weights held at zero; a schedule runs over them.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Shares to remove for the curve, separated by commas; the run as it is always comes first.
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = parse_removed)]
    curve: Vec<f64>,
    /// Draw the curve, as a page (F.html) or as its first figure alone (F.svg).
    #[arg(long, value_name = "F.html|F.svg")]
    plot: Option<PathBuf>,
    /// Override a value of the run's config, for the curve and for further training.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

fn parse_keep(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "give the share that is left, above 0 and at most 1, such as 0.2".into())
}

fn parse_removed(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "give shares to remove, from 0 to below 1, such as 0.5,0.8,0.9".into())
}

/// A curve, and what became of the chosen point.
#[derive(Serialize)]
struct Pruning {
    convention: &'static str,
    /// What is removed at once.
    unit: PruningUnit,
    /// What determines the order.
    criterion: PruningCriterion,
    /// Units of the whole network.
    units: usize,
    /// The network with each share of its units removed, without further training.
    curve: Vec<PruningPoint>,
    /// The point of --keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<PruningPoint>,
    /// What is left of each map at that point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    maps: Vec<MapLeft>,
    /// The same after further training.
    #[serde(skip_serializing_if = "Option::is_none")]
    trained: Option<TrainedPoint>,
}

/// What is left of one map.
#[derive(Serialize)]
struct MapLeft {
    name: String,
    #[serde(flatten)]
    weights: WeightsLeft,
}

/// A pruned network after further training.
#[derive(Serialize)]
struct TrainedPoint {
    /// Epochs of training.
    epochs: usize,
    /// The best of them; 0 if none was better than the pruned network.
    best_epoch: usize,
    #[serde(flatten)]
    point: PruningPoint,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let folder = RunFolder::new(&arguments.run);
    let trained = TrainedState::load(&folder.best_state())?;
    if let Some(out) = &arguments.out {
        RunFolder::new(out).check_empty()?;
    }
    let config = Config::load(&folder.config(), &overrides(arguments))?;
    let data = config.load_data()?;
    match trained {
        TrainedState::Predictor(state) => prune(arguments, &state, (&config, &data)),
        TrainedState::Text(state) => prune(arguments, &state, (&config, &data)),
        TrainedState::Reduce(_) => bail!(
            "{} is a run of a reducer, which cannot be pruned: prune predictors and models of text",
            arguments.run.display()
        ),
        TrainedState::Latent(_) => bail!(
            "{} is a run of a latent model, which cannot be pruned: prune predictors and models of text",
            arguments.run.display()
        ),
    }
}

/// What the config of the new run changes; what the user sets comes last.
fn overrides(arguments: &Arguments) -> Vec<String> {
    let keys = ["training.epochs", "training.schedule_epochs"];
    let epochs = arguments.epochs.iter().flat_map(|epochs| keys.map(|key| format!("{key}={epochs}")));
    epochs.chain(arguments.set.iter().cloned()).collect()
}

fn prune<A: PrunableModel>(
    arguments: &Arguments,
    trained: &RunState<A>,
    (config, data): (&Config, &Dataset),
) -> Result<()> {
    ensure!(
        trained.input_names == data.input_names && trained.target_names == data.target_names,
        "the channels of the data are no longer those that `{}` was trained on: restore the data",
        arguments.run.display()
    );
    check_network(&trained.spec, config, data)?;
    let unit = if arguments.blocks { PruningUnit::Block } else { PruningUnit::Weight };
    let order = PruningOrder::new(trained.spec.network(), &trained.parameters, unit);
    let shares = shares(&arguments.curve);
    let mut counter = RunCounter::new("pruning", shares.len());
    let curve = pruning_curve(trained, &order, &shares, (config, data), || counter.count())?;
    let mut found = Pruning {
        convention: CONVENTION,
        unit,
        criterion: order.criterion,
        units: order.units(),
        curve,
        chosen: None,
        maps: Vec::new(),
        trained: None,
    };
    if let Some(keep) = arguments.keep {
        let state = prune_state(trained, &order, keep, config);
        let left = weights_left(&state.parameters).into_iter();
        found.maps = left.map(|(name, weights)| MapLeft { name, weights }).collect();
        let removed = 1.0 - keep;
        let chosen = pruning_curve(trained, &order, &[removed], (config, data), || ())?;
        found.chosen = chosen.into_iter().next();
        found.trained = write(arguments, state, (&order, removed), (config, data))?;
    }
    if let Some(path) = &arguments.plot {
        draw(path, &page::page(&arguments.run, &found))?;
    }
    if arguments.json { print_json(&found) } else { print_text(&text::render(arguments, &found)) }
}

/// What is removed for the curve, ascending from nothing: changes are those from the first point.
fn shares(asked: &[f64]) -> Vec<f64> {
    let mut shares = if asked.is_empty() { SHARES.to_vec() } else { [&[0.0], asked].concat() };
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    shares
}

/// Writes the run folder and trains, if that is asked for.
fn write<A: PrunableModel>(
    arguments: &Arguments,
    state: RunState<A>,
    (order, removed): (&PruningOrder, f64),
    (config, data): (&Config, &Dataset),
) -> Result<Option<TrainedPoint>> {
    let Some(out) = &arguments.out else { return Ok(None) };
    let mut console = TrainingConsole::new();
    create_begun_run(state, (config, data), out, &mut console)?;
    if arguments.epochs.is_none() {
        return Ok(None);
    }
    let summary = runs::train(config, data, out, TrainOptions::resuming(true), &mut console)?;
    drop(console);
    print_summary(&summary, config);
    let state = RunState::<A>::load(&RunFolder::new(out).best_state())?;
    Ok(Some(TrainedPoint {
        epochs: summary.epochs,
        best_epoch: summary.best.map_or(0, |best| best.epoch),
        point: pruning_point(&state, order, removed, data)?,
    }))
}

fn draw(path: &std::path::Path, page: &report::Report) -> Result<()> {
    let figure = page.sections.iter().find_map(|section| match &section.body {
        report::Body::Svg(figure) => Some(figure),
        report::Body::Table(_) | report::Body::Pre(_) => None,
    });
    match figure {
        Some(figure) if path.extension().is_some_and(|end| end == "svg") => plot::standalone(path, figure),
        _ => report::write(path, page),
    }
}
