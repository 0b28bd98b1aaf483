//! Times training steps of one network and watches the memory of the process; prints JSON.
//!
//! ```text
//! cargo run --release -p quaver-trainer --example training_step -- CELL UNITS FORM STEPS COUNT [WARM_UP]
//! ```
//!
//! CELL is `tanh`, `lstm` or `gru`, FORM `accurate` or `paper`, STEPS the length T of the sequences, COUNT
//! how many training steps are timed, and WARM_UP how many come before. One process measures one network,
//! so that its peak of resident memory is that network's own. `cargo xtask bench-train` runs this for every
//! row of its tables.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use quaver::checkpoint::ModelSpec;
use quaver_trainer::config::Config;
use quaver_trainer::data::batch::{Batch, Chunk};
use quaver_trainer::data::{Rows, Scaling, Sequence};
use quaver_trainer::fit::loss_and_gradient;
use quaver_trainer::fit::optimiser::{Adam, Optimiser, clip};
use quaver_trainer::nn::{Parameters, predictor_spec};
use quaver_trainer::random::{Purpose, normal, stream};
use serde_json::json;

// As in the command line: what is measured is what users run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sequences side by side.
const LANES: usize = 16;
/// Inputs, and outputs: the keys of a piano.
const KEYS: usize = 88;
/// Steps before the clock starts; the allocator and the caches have settled by then.
const WARM_UP: usize = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cell, units, form, steps, count, more @ ..] = arguments.as_slice() else {
        bail!("wanted: CELL UNITS FORM STEPS COUNT [WARM_UP], for example tanh 64 accurate 100 30");
    };
    let (steps, count): (usize, u32) = (steps.parse()?, count.parse()?);
    let warm_up = more.first().map_or(Ok(WARM_UP), |warm_up| warm_up.parse())?;
    let mut training = TrainingConfig::new(&config(cell, units, form)?, steps)?;
    let before = resident("VmRSS")?;
    for _ in 0..warm_up {
        training.step()?;
    }
    let warm = resident("VmHWM")?;
    let (mut milliseconds, busy_before) = (Vec::new(), busy_milliseconds());
    for _ in 0..count {
        let begin = Instant::now();
        training.step()?;
        milliseconds.push(1e3 * begin.elapsed().as_secs_f64());
    }
    let figures = json!({
        "milliseconds": milliseconds,
        "cpu_milliseconds": busy_milliseconds().zip(busy_before).map(|(now, then)| (now - then) / f64::from(count)),
        "nll": training.nll,
        "kib_before": before,
        "kib_warm": warm,
        "kib_peak": resident("VmHWM")?,
    });
    println!("{figures}");
    Ok(())
}

/// A piano-roll model with fast dropout on every connection, so that variances flow everywhere.
fn config(cell: &str, units: &str, form: &str) -> Result<Config> {
    let sparse = units.parse::<u16>().context("UNITS is a number")?.min(15);
    let text = format!(
        "[data]\ntrain = \"drawn.csv\"\ntargets = \"next\"\n\
         [model]\ncell = \"{cell}\"\nlayers = [{units}]\nlikelihood = \"bernoulli\"\nmoments = \"{form}\"\n\
         [noise]\ninput_keep = 0.9\nrecurrent_keep = 0.9\noutput_keep = 0.5\n\
         [init]\nspectral_radius = 1.1\nsparse = {sparse}\noutput_bias = -0.8\n"
    );
    Config::parse("training_step", &text, &[])
}

/// A network in training, always on the same batch.
struct TrainingConfig {
    spec: ModelSpec,
    parameters: Parameters,
    optimiser: Optimiser,
    batch: Batch,
    /// Loss at the last step.
    nll: f64,
}

impl TrainingConfig {
    fn new(config: &Config, steps: usize) -> Result<Self> {
        let spec = predictor_spec(config, KEYS, KEYS)?;
        let parameters = config.init.parameters(&spec, config.seed);
        let optimiser = Optimiser::Adam(Adam::new(&parameters));
        let sequences = piano_rolls(config.seed, steps);
        let chunks: Vec<Chunk> =
            (0..LANES).map(|sequence| Chunk { sequence, start: 0, len: steps }).collect();
        let batch = Batch::new(&sequences, &Scaling::fit(&sequences), &chunks);
        Ok(TrainingConfig { spec, parameters, optimiser, batch, nll: f64::NAN })
    }

    /// All that one step of a run does: loss, gradient, clipping, Adam.
    fn step(&mut self) -> Result<()> {
        let mut batch_loss =
            loss_and_gradient(&self.spec, &self.parameters, &self.batch).context("nothing counts")?;
        clip(&mut batch_loss.gradients, 225.0);
        self.optimiser.step(&mut self.parameters, &batch_loss.gradients, 0.001);
        self.nll = batch_loss.nll;
        Ok(())
    }
}

/// Keys that sound at random, 4 of 88 on average.
fn piano_rolls(seed: u64, steps: usize) -> Vec<Sequence> {
    let mut rng = stream(seed, Purpose::Shuffle { epoch: 0 });
    let mut sounds = || if normal(&mut rng) > 1.7 { 1.0 } else { 0.0 };
    let mut roll = || Rows { channels: KEYS, values: (0..steps * KEYS).map(|_| sounds()).collect() };
    (0..LANES).map(|_| Sequence::next(roll())).collect()
}

/// Processor time of all threads so far, in ticks of 10 ms; nothing where there is no such file.
fn busy_milliseconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may contain blanks; then come a letter and ten numbers.
    let (_, after) = text.rsplit_once(')')?;
    let ticks = after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    Some(10.0 * ticks.sum::<f64>())
}

/// A figure of `/proc/self/status` in KiB; nothing where there is no such file.
fn resident(name: &str) -> Result<Option<u64>> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return Ok(None) };
    let line = status.lines().find(|line| line.starts_with(name)).context("no such figure")?;
    let figure = line.split_whitespace().nth(1).context("no number")?;
    Ok(Some(figure.parse()?))
}
