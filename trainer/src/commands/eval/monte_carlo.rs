//! Monte Carlo over weights and noise on units, compared with moments; the bound of a sharpened posterior.

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::ModelSpec;
use serde::Serialize;

use super::Arguments;
use super::run_counter::RunCounter;
use super::text::per_cent;
use crate::commands::evaluated_model::EvaluatedModel;
use crate::commands::text_table;
use crate::config::Config;
use crate::data::Sequence;
use crate::evaluate::{MonteCarloMixture, PredictionScores, Scores};
use crate::fit::{RunFolder, RunState, SharpenedBound, sharpened_bound};
use crate::nn::Parameters;
use crate::prediction::predict_by_draw;

/// Monte Carlo compared with moments of the same model.
#[derive(Debug, Serialize)]
pub(super) struct MonteCarloEvaluation {
    /// Number of draws.
    draws: u32,
    /// Their seed.
    seed: u64,
    /// One pass with moments.
    moments: PredictionScores,
    /// The mixture of the draws.
    monte_carlo: PredictionScores,
}

/// The bound of a sharpened posterior, in nats per time step.
#[derive(Debug, Serialize)]
pub(super) struct SharpenedEvaluation {
    /// Upper bound on the expected NLL, with densities in raw units.
    bound: f64,
    /// The same with densities in standardised units.
    bound_standardised: f64,
    /// NLL of the sharpened weights, a part of the bound in standardised units.
    nll_standardised: f64,
    /// Divergence of the sharpened posterior, the other part.
    divergence: f64,
    /// Draws that are averaged.
    draws: u32,
}

/// Scores of the draws, if they were requested.
pub(super) fn score(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    sequences: &[Sequence],
    moments: &Scores,
    std_devs: &[f32],
) -> Result<Option<MonteCarloEvaluation>> {
    let Some(draws) = arguments.mc_draws else { return Ok(None) };
    let RunState { spec, parameters, scaling, .. } = trained(evaluated, "--mc-draws")?;
    check_scales(spec, parameters)?;
    let seed = arguments.mc_seed;
    let mut counter = RunCounter::new("Monte Carlo", draws as usize);
    let mut mixture = MonteCarloMixture::new(spec.likelihood, sequences);
    for draw in 0..draws {
        mixture.add(&predict_by_draw(spec, parameters, scaling, sequences, (seed, draw.into())));
        counter.count();
    }
    let monte_carlo = mixture.scores(std_devs);
    Ok(Some(MonteCarloEvaluation { draws, seed, moments: moments.into(), monte_carlo }))
}

/// Refuses options that the model does not support, before anything is computed.
pub(super) fn check(arguments: &Arguments, evaluated: &EvaluatedModel) -> Result<()> {
    let options = [(arguments.mc_draws.is_some(), "--mc-draws"), (arguments.sharpened, "--sharpened")];
    let mut wanted = options.into_iter().filter(|(wanted, _)| *wanted);
    wanted.try_for_each(|(_, option)| trained(evaluated, option).map(|_| ()))
}

/// Refuses models whose variances are scaled, which no draw can be.
fn check_scales(spec: &ModelSpec, parameters: &Parameters) -> Result<()> {
    let resolved = parameters.resolved(spec);
    let mut scales = resolved.layers.iter().map(|layer| layer.variance_scale);
    ensure!(
        resolved.output.variance_scale == 1.0 && scales.all(|scale| scale == 1.0),
        "--mc-draws needs a network without model.learn_variance_scale: factors on variances cannot be drawn"
    );
    Ok(())
}

/// The trained predictor of a run folder.
fn trained<'a>(evaluated: &'a EvaluatedModel, option: &str) -> Result<&'a RunState> {
    match evaluated {
        EvaluatedModel::Run(state) => Ok(state),
        EvaluatedModel::Latent(_) | EvaluatedModel::LatentCheckpoint(_) => {
            bail!("{option} is for predictors; a latent model is scored by importance sampling, see --draws")
        }
        EvaluatedModel::Checkpoint(_) => {
            bail!("{option} draws from the trained network: give the run folder instead of its checkpoint")
        }
    }
}

/// The bound of a sharpened posterior, if it was requested.
pub(super) fn sharpened(
    arguments: &Arguments,
    evaluated: &EvaluatedModel,
    sequences: &[Sequence],
) -> Result<Option<SharpenedEvaluation>> {
    if !arguments.sharpened {
        return Ok(None);
    }
    let state = trained(evaluated, "--sharpened")?;
    ensure!(
        state.parameters.method.posterior.sharpening().is_some(),
        "--sharpened needs a model trained with weights.sharpen = true"
    );
    let config = Config::load(&RunFolder::new(&arguments.evaluated).config(), &[])?;
    let draws = arguments.mc_draws.unwrap_or(1);
    let mut counter = RunCounter::new("sharpened posterior", draws as usize);
    let options = (arguments.mc_seed, draws as usize);
    let found = sharpened_bound(state, &config.training, sequences, options, || counter.count());
    let bound = found.context("every target of these data is missing")?;
    Ok(Some(SharpenedEvaluation::new(&bound, raw_shift(state, sequences, bound.steps), draws)))
}

impl SharpenedEvaluation {
    fn new(bound: &SharpenedBound, shift: f64, draws: u32) -> Self {
        let SharpenedBound { nll, divergence, .. } = *bound;
        let bound_standardised = nll + divergence;
        let bound = bound_standardised + shift;
        SharpenedEvaluation { bound, bound_standardised, nll_standardised: nll, divergence, draws }
    }
}

/// Nats per time step between densities in raw and in standardised units: the mean of Σ ln s over the
/// observed outputs.
fn raw_shift(state: &RunState, sequences: &[Sequence], steps: usize) -> f64 {
    if !state.spec.likelihood.is_normal() {
        return 0.0;
    }
    let std_devs = &state.scaling.targets.std_dev;
    let rows = sequences.iter().flat_map(|sequence| sequence.targets.iter().skip(sequence.burn_in));
    let values = rows.flat_map(|row| row.iter().zip(std_devs));
    let logs = values.filter(|(value, _)| !value.is_nan()).map(|(_, std_dev)| f64::from(*std_dev).ln());
    logs.sum::<f64>() / steps.max(1) as f64
}

/// Both rows of the comparison, with an explanation.
pub(super) fn render(found: &MonteCarloEvaluation) -> String {
    let MonteCarloEvaluation { draws, seed, moments, monte_carlo } = found;
    let heading = ["inference", "NLL", "standardised", "RMSE", "50 %", "90 %", "95 %", "epistemic std. dev."];
    let rows = [
        heading.map(String::from).to_vec(),
        row("moments, one pass", moments),
        row(&format!("Monte Carlo, {draws} draws"), monte_carlo),
    ];
    format!(
        "\n{}Monte Carlo (seed {seed}): weights drawn once per draw and held over all sequences, noise on units drawn at every \
         step; NLL and intervals are those of the mixture of the draws, output by output\n",
        text_table::render(&rows)
    )
}

fn row(name: &str, scores: &PredictionScores) -> Vec<String> {
    let mut cells = vec![name.to_string()];
    cells.extend([scores.nll, scores.nll_standardised, scores.rmse].map(|number| format!("{number:.4}")));
    let covered = |percent: &str| scores.coverage.get(percent).map_or("-".into(), |share| per_cent(*share));
    cells.extend(["50", "90", "95"].map(covered));
    cells.push(format!("{:.4}", scores.epistemic.sqrt()));
    cells
}

/// The bound, labelled as one.
pub(super) fn render_sharpened(found: &SharpenedEvaluation) -> String {
    let SharpenedEvaluation { bound, bound_standardised, nll_standardised, divergence, draws } = found;
    format!(
        "\nsharpened posterior: NLL ≤ {bound:.4} nats per step, an upper bound (standardised ≤ {bound_standardised:.4} = \
         {nll_standardised:.4} + KL {divergence:.4}; {draws} draws). Each window is sharpened by its own targets: no \
         figure for predictions; exported models use the posterior that is not sharpened\n"
    )
}
