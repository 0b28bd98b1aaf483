//! What each subcommand of `quaver` does.

mod demo;
mod denoise;
mod eval;
mod evaluated_model;
mod export;
mod export_latent;
mod impute;
mod inspect;
mod plot_limits;
mod print;
mod progress;
mod row_io;
mod row_model;
mod run;
mod sample;
mod search;
mod text_table;
mod train;

use anyhow::Result;
use clap::Subcommand;

/// A subcommand with its arguments. What each does is said once, at its arguments, where the help takes it from.
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
    Denoise(denoise::Arguments),
    Sample(sample::Arguments),
    Impute(impute::Arguments),
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
            Command::Search(arguments) => search::run(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Inspect(arguments) => inspect::run(&arguments),
            Command::Run(arguments) => run::run(&arguments),
            Command::Denoise(arguments) => denoise::run(&arguments),
            Command::Sample(arguments) => sample::run(&arguments),
            Command::Impute(arguments) => impute::run(&arguments),
        }
    }
}
