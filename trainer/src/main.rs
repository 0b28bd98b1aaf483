//! The command line of Quaver.

use std::process::ExitCode;

use quaver_trainer::commands;

// The system allocator returns the pages of large tensors after every step, and page faults follow; this one
// keeps them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::main()
}
