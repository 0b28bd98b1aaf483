//! The command line of Quaver.

use std::process::ExitCode;

use clap::Parser;
use quaver_trainer::commands::Command;

// Large tensors page-fault through the system's allocator at every step; this one keeps their pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Trains recurrent networks that know how sure they are, and runs them as a microcontroller would.
#[derive(Debug, Parser)]
#[command(name = "quaver", version, arg_required_else_help = true)]
#[command(after_help = "Examples:
  quaver demo                                     train, export and check a model on a built-in signal
  quaver train config.toml --out runs/first       train on your own recordings
  quaver export runs/first --weights int8 -o model.qvr
  quaver run model.qvr < rows.csv                 the runtime itself, row by row
  quaver denoise runs/vosp --in noisy.csv --out clean.csv
  quaver sample runs/storn --prefix seen.csv --steps 50 --draws 20 --plot futures.html
  quaver impute runs/vrae --in gaps.csv --out filled.csv")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
