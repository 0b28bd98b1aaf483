//! The command line of Quaver.

use std::process::ExitCode;

use clap::Parser;
use quaver_trainer::commands::CommandLine;

// The system allocator returns the pages of large tensors after every step, and page faults follow; this one
// keeps them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match CommandLine::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
