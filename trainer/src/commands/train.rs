//! `quaver train`: a run as a config says.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::progress::TrainingConsole;
use crate::config::{Config, InitConfig};
use crate::runs;

/// Train a model as a config says.
///
/// The run folder holds the config as run, the metrics of every epoch (metrics.csv, metrics.jsonl) and the best and
/// the last state. Training stops early when validation no longer improves.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver train config.toml --out runs/first
  quaver train config.toml --out runs/wide --set model.layers=[64] --set training.epochs=50
  quaver train config.toml --out runs/first --data-dir ~/recordings
  quaver train one_arm.toml --out runs/one_arm --from runs/many_arms   begin with what another run has learned
  quaver train config.toml --out runs/first --resume        go on exactly where it stopped")]
pub struct Arguments {
    /// Data, model and training.
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// The run folder to write.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// Where relative paths of data start, instead of the config's folder. The run folder remembers it.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Begin with the best state of another run, its scaling included: to fit to one person or machine what was learned
    /// from many. Replaces `init.from`.
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// Go on with the run in this folder.
    #[arg(long)]
    resume: bool,
    /// Replace a value of the config.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut config =
        Config::load_with_data(&arguments.config, &arguments.set, arguments.data_dir.as_deref())?;
    if let Some(run) = &arguments.from {
        let run = std::path::absolute(run)
            .with_context(|| format!("{}: cannot tell where this is", run.display()))?;
        config.init = InitConfig { from: Some(run), ..InitConfig::default() };
    }
    let data = config.load_data()?;
    runs::train(&config, &data, &arguments.out, arguments.resume, &mut TrainingConsole::new())?;
    Ok(())
}
