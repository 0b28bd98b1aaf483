//! `quaver train`: trains the model of a config.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::print::print_note;
use super::progress::{TrainingConsole, print_summary};
use crate::config::{Config, InitConfig};
use crate::fit::TrainOptions;
use crate::printable::escaped;
use crate::runs;

/// Train the model of a config
///
/// The run folder contains the config with all defaults, the metrics of every epoch (metrics.csv,
/// metrics.jsonl), and the best and the last state. Training stops early when the validation loss no longer
/// improves. docs/reference/config.md lists every key of a config. A config with nothing but [data] leaves
/// model and training to the size of the data; what is chosen is printed, and in the config of the run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver train config.toml --out runs/first
  quaver train config.toml --out runs/wide --set model.layers=[64] --set training.epochs=50
  quaver train config.toml --out runs/first --data-dir ~/recordings
  quaver train one_arm.toml --out runs/one_arm --from runs/many_arms   fine-tune another run
  quaver train config.toml --out runs/first --resume        continue exactly where it stopped")]
pub struct Arguments {
    /// The config: data, model and training.
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// The run folder to create.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// Folder for relative paths of data, instead of the config's folder. Stored in the run folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Fine-tune: start from the best state of another run, scaling included. Replaces `init.from`.
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// Resume the run in this folder, exactly where it stopped.
    #[arg(long)]
    resume: bool,
    /// Go on although data files have changed since the run started, or memory seems too small.
    #[arg(long)]
    force: bool,
    /// The run folder is locked by the process that started this one.
    #[arg(long, hide = true)]
    locked: bool,
    /// Override a value of the config.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut config =
        Config::load_with_data(&arguments.config, &arguments.set, arguments.data_dir.as_deref())?;
    if let Some(run) = &arguments.from {
        let run = std::path::absolute(run)
            .with_context(|| format!("{}: cannot resolve this path", run.display()))?;
        let sharpen_rate = config.init.sharpen_rate;
        config.init = InitConfig { from: Some(run), sharpen_rate, ..InitConfig::default() };
    }
    let left = Config::left_to_data(&arguments.config, &arguments.set)?;
    let data = config.load_data()?;
    if let Some(chosen) = config.choose(&left, data.size()) {
        print_note(&format!("note: {chosen}; edit the config.toml of the run to change them"));
    }
    data.notes.iter().for_each(|note| eprintln!("note: {}", escaped(note)));
    let Arguments { resume, force, locked, .. } = *arguments;
    let options = TrainOptions { resume, force, locked };
    let mut console = TrainingConsole::new();
    let summary = runs::train(&config, &data, &arguments.out, options, &mut console)?;
    drop(console);
    print_summary(&summary, &config);
    Ok(())
}
