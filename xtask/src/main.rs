//! One door for every chore: `cargo xtask test`, `cargo xtask qemu`, `cargo xtask bench`, `cargo xtask
//! bench-train`, `cargo xtask results`.

mod bench;
mod bench_train;
mod image;
mod install;
mod machine;
mod qemu;
mod results;
mod shell;
mod table;
mod test;

use std::process::ExitCode;

use bench_train::Beside;
use clap::Parser;

/// Chores of the Quaver workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", after_help = "Example: cargo xtask test")]
enum Chore {
    /// Everything that must hold before a change is merged: formatting, lints, tests, builds for every core, QEMU
    Test,
    /// Replay the golden streams on the host and on every emulated core
    Qemu {
        /// Take today's answers as golden, provided that all machines agree
        #[arg(long)]
        overwrite: bool,
    },
    /// Count instructions per step, flash, RAM and stack on every emulated core
    Bench {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        /// Measure only models whose names begin so, for example lstm-16-64
        #[arg(value_name = "MODEL", default_value = "")]
        only: String,
    },
    /// Time training steps of four networks on this machine, and show the memory they need
    BenchTrain {
        /// Time the same networks in PyTorch as well, installed for this run alone
        #[arg(long)]
        torch: bool,
        /// Take PyTorch from this Python interpreter instead of installing it
        #[arg(long, value_name = "PATH")]
        python: Option<String>,
        /// Print JSON instead of tables
        #[arg(long)]
        json: bool,
    },
    /// Repeat the benchmarks behind docs/results.md on public data
    #[command(after_help = "Example: cargo xtask results uci-energy --data ~/data --only 0,1")]
    Results(results::Arguments),
}

fn main() -> ExitCode {
    perform(Chore::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn perform(chore: Chore) -> anyhow::Result<ExitCode> {
    match chore {
        Chore::Test => return test::run(),
        Chore::Qemu { overwrite } => install::ensure_qemu().and_then(|()| qemu::run(overwrite))?,
        Chore::Bench { json, only } => install::ensure_qemu().and_then(|()| bench::run(json, &only))?,
        Chore::BenchTrain { torch, python, json } => {
            let beside = match python {
                Some(python) => Beside::Python(python),
                None if torch => Beside::Throwaway,
                None => Beside::Nothing,
            };
            bench_train::run(beside, json)?;
        }
        Chore::Results(arguments) => results::run(&arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}
