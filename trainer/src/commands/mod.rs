//! What each subcommand of `quaver` does.

mod demo;
mod eval;
mod export;
mod inspect;
mod progress;
mod run;
mod subject;
mod table;
mod train;

use anyhow::Result;
use clap::Subcommand;

/// A subcommand with its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the main job on a built-in signal: train, export, check on an emulated Cortex-M, report.
    Demo(demo::Arguments),
    /// Train a model as a config says.
    Train(train::Arguments),
    /// Score a run or a checkpoint on data.
    Eval(eval::Arguments),
    /// Write a run's best model as a checkpoint, and say what that costs.
    Export(export::Arguments),
    /// Show what a checkpoint holds and what it needs.
    Inspect(inspect::Arguments),
    /// Run a checkpoint through the runtime, row by row.
    Run(run::Arguments),
}

impl Command {
    /// Does what was asked.
    ///
    /// # Errors
    /// Says what is wrong, where, and what to do.
    pub fn run(self) -> Result<()> {
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Train(arguments) => train::run(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Inspect(arguments) => inspect::run(&arguments),
            Command::Run(arguments) => run::run(&arguments),
        }
    }
}
