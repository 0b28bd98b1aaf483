//! `quaver demo`: the whole path on a synthetic signal, from sensor rows to the same predictions on a
//! Cortex-M.

mod denoise;
mod emulate;
mod experiment;
mod gesture;
mod latent;
mod page;
mod sample;
mod training;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::print::{print_note, print_text};
use emulate::Emulation;
use experiment::Experiment;

/// Train, export and check a model on a built-in signal, down to an emulated Cortex-M
///
/// Generates surface EMG with known grip force, trains a small LSTM, stores it in int8, runs it with the
/// runtime here and on an emulated Cortex-M4F, and writes report.html. The folder contains all files,
/// including a config to start from.
///
/// Other tasks use the muscle activations and force of the same signal: `denoise` adds noise, trains a VOSP
/// that removes it, and compares it with filters tuned on the same data; `sample` trains a STORN and samples
/// continuations of a recording. Both run their int8 checkpoint with the runtime. `gesture` learns rest and
/// five gestures from windows of EMG, and must refuse a sixth one; it ends on the emulated core as well.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver demo
  quaver demo --out demo-of-seven --seed 7
  quaver demo --task denoise
  quaver demo --task sample
  quaver demo --task gesture")]
pub struct Arguments {
    /// What to demonstrate.
    #[arg(long, value_enum, default_value_t = Task::Predict)]
    task: Task,
    /// The folder to write; by default out/demo, or out/demo-TASK for other tasks. Files of an earlier demo
    /// are replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seed of the signal, the weights and the shuffling.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Value of `--task`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Task {
    /// Grip force from EMG with predicted variances, down to an emulated Cortex-M4F.
    Predict,
    /// Muscle activations and force without added noise.
    Denoise,
    /// Continuations of a recording.
    Sample,
    /// Gestures from EMG, and one that the model has never seen, down to an emulated Cortex-M4F.
    Gesture,
}

impl Task {
    fn folder(self) -> &'static str {
        match self {
            Task::Predict => "out/demo",
            Task::Denoise => "out/demo-denoise",
            Task::Sample => "out/demo-sample",
            Task::Gesture => "out/demo-gesture",
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.task.folder().into());
    fs::create_dir_all(&out).with_context(|| format!("cannot create the folder {}", out.display()))?;
    let out = fs::canonicalize(&out)?;
    match arguments.task {
        Task::Predict => predict(&out, arguments.seed),
        Task::Denoise => denoise::run(&out, arguments.seed),
        Task::Sample => sample::run(&out, arguments.seed),
        Task::Gesture => gesture::run(&out, arguments.seed),
    }
}

fn predict(out: &Path, seed: u64) -> Result<()> {
    let begun = Instant::now();

    eprintln!("1/5  recording: surface EMG of eight electrodes, with the grip force it stems from");
    let recordings = experiment::record(out, seed)?;
    eprintln!("2/5  training on {:.0} s of it", recordings.train_seconds());
    let trained = experiment::train(out)?;
    eprintln!("3/5  exporting int8 and measuring it through the runtime");
    let experiment = Experiment::new(out, recordings, trained)?;
    eprintln!("4/5  running it on an emulated Cortex-M4F");
    let emulation = emulate::replay(out, &experiment.model_path, experiment.emulated_rows())?;
    print_note(&format!("     {}", emulation.in_words()));
    eprintln!("5/5  writing the report\n");
    let report = out.join("report.html");
    page::write(&report, &experiment, &emulation)?;

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

/// The key figures.
fn key_numbers(experiment: &Experiment, emulation: &Emulation) -> [(&'static str, String); 6] {
    let scores = &experiment.int8_scores;
    let coverage = 100.0 * scores.uncertainty.coverage["90"];
    [
        ("held-out error", format!("{:.2} N rms, R² {:.3}", scores.mse.sqrt(), scores.r2)),
        ("90 % interval covers", format!("{coverage:.1} % of held-out force")),
        ("with 1, 2, 4 electrodes missing", missing_in_words(experiment)),
        ("int8 costs", format!("{:+.4} nats per step relative to f32", experiment.int8_cost())),
        (
            "memory",
            format!(
                "{} B of flash for the model, {} B of RAM",
                experiment.flash_bytes(),
                experiment.ram_bytes()
            ),
        ),
        ("host and Cortex-M4F", emulation.verdict().into()),
    ]
}

/// Mean coverage for each number of missing electrodes.
fn missing_in_words(experiment: &Experiment) -> String {
    let gaps = experiment.missing.iter().filter(|scores| scores.is_gap());
    let shares = gaps.filter_map(|scores| scores.groups.first()?.mean.coverage);
    let shares: Vec<String> = shares.map(|share| format!("{:.1}", 100.0 * share)).collect();
    format!("it covers {} %", shares.join(", "))
}
