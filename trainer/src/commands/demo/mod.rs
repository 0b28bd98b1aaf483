//! `quaver demo`: the whole path on a built-in signal, from sensor rows to the same error bars on a Cortex-M.

mod emulate;
mod experiment;
mod page;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use super::say::say;
use emulate::Emulation;
use experiment::Experiment;

/// Run the main job on a built-in signal: train, export, check on an emulated Cortex-M, report.
///
/// Makes recordings of surface EMG whose force is known, trains a small LSTM on them, stores it in int8, runs it through
/// the runtime here and on an emulated Cortex-M4F, and writes report.html. Everything stays in the folder, with a config
/// to start your own from.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver demo
  quaver demo --out /tmp/demo --seed 7")]
pub struct Arguments {
    /// The folder to write; what an earlier demo left there is replaced.
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Where all random numbers start from: signal, weights and shuffling.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let begun = Instant::now();
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot make the folder {}", arguments.out.display()))?;
    let out = fs::canonicalize(&arguments.out)?;

    eprintln!("1/5  recording: surface EMG of eight electrodes, with the grip force it stems from");
    let recordings = experiment::record(&out, arguments.seed)?;
    eprintln!("2/5  training on {:.0} s of it", recordings.train_seconds());
    let trained = experiment::train(&out)?;
    eprintln!("3/5  exporting int8 and measuring it through the runtime");
    let experiment = Experiment::new(&out, recordings, trained)?;
    eprintln!("4/5  running it on an emulated Cortex-M4F");
    let emulation = emulate::replay(&out, &experiment.model_path, experiment.emulated_rows())?;
    eprintln!("     {}", emulation.in_words());
    eprintln!("5/5  writing the report\n");
    let report = out.join("report.html");
    page::write(&report, &experiment, &emulation)?;

    let numbers =
        five_numbers(&experiment, &emulation).map(|(label, value)| format!("{label:<34} {value}\n"));
    say(&format!(
        "{}\nreport: {}\ntook {:.0} s, {:.0} s of it training\n",
        numbers.concat(),
        report.display(),
        begun.elapsed().as_secs_f64(),
        experiment.training_seconds
    ))?;
    emulation.check()
}

/// The numbers that someone with ten seconds should see.
fn five_numbers(experiment: &Experiment, emulation: &Emulation) -> [(&'static str, String); 5] {
    let scores = &experiment.int8_scores;
    let coverage = 100.0 * scores.coverage["90"];
    [
        ("held-out error", format!("{:.2} N rms, R² {:.3}", scores.mse.sqrt(), scores.r2)),
        ("90 % interval covers", format!("{coverage:.1} % of held-out force")),
        ("int8 costs", format!("{:+.4} nats per step against f32", experiment.int8_cost())),
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
