//! The objective by hand, its gradients against a slow reference; runs that learn, repeat, resume and fail as
//! they should.

mod drawn;
mod gradients;
mod learning;
mod objective;
mod pruned;
mod reference;
mod runs;

use std::path::Path;

use quaver::checkpoint::{Likelihood, Target};

use super::{NoProgress, RunSummary, TrainOptions};
use crate::config::Config;
use crate::data::batch::Batch;
use crate::data::{Dataset, Rows, Sequence};
use crate::random::{Purpose, normal, stream};
use crate::runs::train;

/// Normal numbers from a seed.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut rng = stream(seed, Purpose::Initialisation);
    (0..count).map(|_| normal(&mut rng) as f32).collect()
}

/// A batch of 4 steps and 3 rows with some input variance; the last row ends after 2 steps, one target is
/// missing.
fn ragged_batch(inputs: usize, outputs: usize, binary: bool) -> Batch {
    let (steps, rows) = (4, 3);
    let mut targets = numbers(2, steps * rows * outputs);
    if binary {
        targets.iter_mut().for_each(|target| *target = if *target > 0.0 { 1.0 } else { 0.0 });
    }
    let mut mask = vec![1.0; targets.len()];
    for step in 2..steps {
        mask[(step * rows + 2) * outputs..][..outputs].fill(0.0);
    }
    mask[0] = 0.0;
    let inputs_var = numbers(3, steps * rows * inputs).iter().map(|draw| 0.3 * draw * draw).collect();
    Batch {
        steps,
        rows,
        inputs_mean: numbers(1, steps * rows * inputs),
        inputs_var,
        targets,
        mask,
        target: Target::Columns,
        chunks: Vec::new(),
        // Two of three lanes begin at their first step.
        starts: vec![0, 1],
        linear: None,
    }
}

const LIKELIHOODS: [Likelihood; 4] =
    [Likelihood::Gaussian, Likelihood::Bernoulli, Likelihood::Heteroscedastic, Likelihood::Categorical];

fn is_binary(likelihood: Likelihood) -> bool {
    matches!(likelihood, Likelihood::Bernoulli | Likelihood::Categorical)
}

/// Two normal inputs per step; the targets are a function of all inputs, evaluated at each step.
fn sequences_of(
    function: impl Fn(&Rows, usize) -> Vec<f32>,
    seed: u64,
    sequences: usize,
    steps: usize,
) -> Vec<Sequence> {
    (0..sequences as u64)
        .map(|index| {
            let inputs = Rows { channels: 2, values: numbers(1000 * seed + index, 2 * steps) };
            let targets: Vec<Vec<f32>> = (0..steps).map(|step| function(&inputs, step)).collect();
            let targets = Rows { channels: targets[0].len(), values: targets.concat() };
            Sequence::columns(inputs, targets)
        })
        .collect()
}

/// One input some steps ago; 0 before the first.
fn past(inputs: &Rows, step: usize, delay: usize, channel: usize) -> f32 {
    step.checked_sub(delay).map_or(0.0, |earlier| inputs.row(earlier)[channel])
}

/// What a net can only know by remembering: x₁(t−1) + x₂(t−3), a constant factor apart.
fn delayed_sum(inputs: &Rows, step: usize) -> Vec<f32> {
    vec![3.0 * (past(inputs, step, 1, 0) + past(inputs, step, 3, 1))]
}

fn dataset(function: impl Fn(&Rows, usize) -> Vec<f32> + Copy) -> Dataset {
    let train = sequences_of(function, 1, 12, 90);
    let target_names = (0..train[0].targets.channels).map(|index| format!("target{index}")).collect();
    let splits = [train, sequences_of(function, 2, 3, 70), Vec::new()];
    Dataset { target_names, target: Target::Columns, ..Dataset::of(splits, &["left", "right"]) }
}

fn config(cell: &str, overrides: &[&str]) -> Config {
    let text = format!(
        "seed = 3\n[data]\ntrain = \"none.csv\"\ntargets = \"target0\"\n[model]\ncell = \"{cell}\"\nlayers = [12]\n\
         [training]\nbatch = 8\nchunk = 30\nlearning_rate = 0.01\nepochs = 4\n"
    );
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Config::parse("test.toml", &text, &overrides).unwrap()
}

fn run(config: &Config, out: &Path, resume: bool) -> anyhow::Result<RunSummary> {
    train(config, &dataset(delayed_sum), out, TrainOptions::resuming(resume), &mut NoProgress)
}
