//! The subcommands of `quaver`.

mod adapt;
mod demo;
mod denoise;
mod eval;
mod evaluated_model;
mod export;
mod export_latent;
mod false_alarms;
mod impute;
mod inspect;
mod plot_limits;
mod print;
mod progress;
#[cfg(test)]
mod reference;
mod row_io;
mod row_model;
mod run;
mod sample;
mod search;
mod split;
mod text_table;
mod train;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Trains recurrent networks that predict a mean and a variance, and runs them as a microcontroller would.
#[derive(Debug, Parser)]
#[command(name = "quaver", version, arg_required_else_help = true)]
#[command(after_help = "Examples:
  quaver demo                                     train, export and check a model on a built-in signal
  quaver train config.toml --out runs/first       train on your own recordings
  quaver export runs/first --weights int8 -o model.qvr
  quaver run model.qvr < rows.csv                 the runtime itself, row by row
  quaver adapt model.qvr --in one_person.csv      learn from labels while running
  quaver denoise runs/vosp --in noisy.csv --out clean.csv
  quaver sample runs/storn --prefix seen.csv --steps 50 --draws 20 --plot futures.html
  quaver impute runs/vrae --in gaps.csv --out filled.csv")]
pub struct CommandLine {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand with its arguments. Each is described at its arguments, from which clap makes the help.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    Demo(demo::Arguments),
    Train(train::Arguments),
    Search(search::Arguments),
    Eval(eval::Arguments),
    Export(export::Arguments),
    Inspect(inspect::Arguments),
    Run(run::Arguments),
    Adapt(adapt::Arguments),
    Denoise(denoise::Arguments),
    Sample(sample::Arguments),
    Impute(impute::Arguments),
}

impl Command {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Describes what is wrong, where, and how to fix it.
    pub fn run(self) -> Result<()> {
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Train(arguments) => train::run(&arguments),
            Command::Search(arguments) => search::run(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Inspect(arguments) => inspect::run(&arguments),
            Command::Run(arguments) => run::run(&arguments),
            Command::Adapt(arguments) => adapt::run(&arguments),
            Command::Denoise(arguments) => denoise::run(&arguments),
            Command::Sample(arguments) => sample::run(&arguments),
            Command::Impute(arguments) => impute::run(&arguments),
        }
    }
}
