//! The subcommands of `quaver`.

mod adapt;
mod boards;
mod checkpoint_file;
mod classify;
mod convert;
mod demo;
mod denoise;
mod embed;
mod eval;
mod evaluated_model;
mod export;
mod export_latent;
mod export_reduce;
mod export_text;
mod false_alarms;
mod fit;
mod implausible;
mod import;
mod impute;
mod init;
mod inspect;
mod keygen;
mod live;
mod plot_limits;
mod print;
mod progress;
mod prune;
mod range_options;
mod reading;
mod reducer_model;
#[cfg(test)]
mod reference;
mod row_io;
mod row_model;
mod run;
mod sample;
mod search;
mod sequence_io;
mod sign;
mod split;
mod text_model;
mod text_table;
mod train;
mod verify;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

use crate::data::watch_reading;
use crate::nn::parallel::threads_from_environment;
use crate::printable::{escaped, unprintable_in};
use reading::ReadingConsole;

/// Trains recurrent networks that predict a mean and a variance, and runs them as a microcontroller would.
#[derive(Debug, Parser)]
#[command(name = "quaver", version, arg_required_else_help = true)]
#[command(after_help = "Examples:
  quaver demo                                     train, export and check a model on a built-in signal
  quaver fit rows.csv --target force --board rp2040-pico --out fitted
                                                  from recordings to a model that fits the board
  quaver train config.toml --out runs/first       train with a config of your own
  quaver import weights.safetensors --like config.toml --out runs/torch
  quaver prune runs/first --blocks --keep 0.2 --out runs/pruned
  quaver export runs/first --weights int8 -o model.qvr
  quaver run model.qvr < rows.csv                 the runtime itself, row by row
  quaver adapt model.qvr --in one_person.csv      learn from labels while running
  quaver denoise runs/vosp --in noisy.csv --out clean.csv
  quaver sample runs/storn --prefix seen.csv --steps 50 --draws 20 --plot futures.html
  quaver impute runs/vrae --in gaps.csv --out filled.csv
  quaver classify runs/gestures --in gestures.csv which gesture each sequence is, or none of them
  quaver monitor /dev/ttyACM0                     watch a board in a browser
  quaver sign model.qvr --key ours.key --counter 7 -o model.qvs")]
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
    Fit(Box<fit::Arguments>),
    Init(Box<init::Arguments>),
    Boards(boards::Arguments),
    Train(train::Arguments),
    Search(search::Arguments),
    Import(import::Arguments),
    Eval(eval::Arguments),
    Prune(prune::Arguments),
    Export(export::Arguments),
    Inspect(inspect::Arguments),
    Run(run::Arguments),
    Adapt(adapt::Arguments),
    Denoise(denoise::Arguments),
    Sample(sample::Arguments),
    Impute(impute::Arguments),
    Embed(embed::Arguments),
    Classify(classify::Arguments),
    Monitor(live::monitor::Arguments),
    Record(live::record::Arguments),
    Label(live::label::Arguments),
    Convert(convert::Arguments),
    Keygen(keygen::Arguments),
    Sign(sign::Arguments),
    Verify(verify::Arguments),
}

/// The program: parses the command line, runs the subcommand, and prints an error if there is one.
pub fn main() -> ExitCode {
    watch_reading(Box::new(ReadingConsole::default()));
    let result = check_arguments(env::args_os().map(|argument| argument.to_string_lossy().into_owned()));
    match result.and_then(|()| CommandLine::parse().command.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", escaped(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Refuses names of files that would act on a terminal wherever they are printed. TOML may have several
/// lines.
fn check_arguments(arguments: impl IntoIterator<Item = String>) -> Result<()> {
    let mut sets_value = false;
    for argument in arguments {
        let text = if sets_value || argument.starts_with("--set=") {
            argument.replace(['\n', '\t'], " ")
        } else {
            argument
        };
        if let Some(character) = unprintable_in(&text) {
            bail!(
                "the control character {character} in the argument `{}`: rename the file, or type it again",
                text.escape_default()
            );
        }
        sets_value = text == "--set";
    }
    Ok(())
}

impl Command {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Describes what is wrong, where, and how to fix it.
    pub fn run(self) -> Result<()> {
        threads_from_environment().map_err(anyhow::Error::msg)?;
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Fit(arguments) => fit::run(&arguments),
            Command::Init(arguments) => init::run(&arguments),
            Command::Boards(arguments) => boards::run(&arguments),
            Command::Train(arguments) => train::run(&arguments),
            Command::Search(arguments) => search::run(&arguments),
            Command::Import(arguments) => import::run(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Prune(arguments) => prune::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Inspect(arguments) => inspect::run(&arguments),
            Command::Run(arguments) => run::run(&arguments),
            Command::Adapt(arguments) => adapt::run(&arguments),
            Command::Denoise(arguments) => denoise::run(&arguments),
            Command::Sample(arguments) => sample::run(&arguments),
            Command::Impute(arguments) => impute::run(&arguments),
            Command::Embed(arguments) => embed::run(&arguments),
            Command::Classify(arguments) => classify::run(&arguments),
            Command::Monitor(arguments) => live::monitor::run(&arguments),
            Command::Record(arguments) => live::record::run(&arguments),
            Command::Label(arguments) => live::label::run(&arguments),
            Command::Convert(arguments) => convert::run(&arguments),
            Command::Keygen(arguments) => keygen::run(&arguments),
            Command::Sign(arguments) => sign::run(&arguments),
            Command::Verify(arguments) => verify::run(&arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str]) -> Result<()> {
        check_arguments(arguments.iter().map(ToString::to_string))
    }

    #[test]
    fn control_characters_in_arguments_are_refused_but_for_line_breaks_in_toml() {
        check(&["quaver", "run", "größe 1.qvr"]).unwrap();
        check(&["quaver", "train", "--set", "data.train=[\n'a.csv']", "--set=seed=\n1"]).unwrap();
        for arguments in [&["quaver", "run", "a\n.qvr"][..], &["quaver", "--set", "a=\u{1b}"], &["\u{202e}"]]
        {
            let error = check(arguments).unwrap_err().to_string();
            assert!(
                error.starts_with("the control character U+") && unprintable_in(&error).is_none(),
                "{error}"
            );
        }
    }
}
