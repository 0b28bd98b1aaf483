//! `cargo xtask miri`: the runtime in Miri, which finds undefined behaviour: reads outside of memory, of what
//! was never written, or through a reference that is no longer valid.
//!
//! The unit tests of the runtime, then fixtures, damaged and crafted checkpoints (the program `interpreted` of
//! `quaver-tests`; its tests would build Burn). Miri is some hundred times slower than the machine, so the
//! default leaves out tests that integrate or draw by the million.

use anyhow::{Result, ensure};
use clap::Args;

use crate::setup::nightly::{self, Tool, nightly as run_nightly};
use crate::shell::Shell;

/// Tests that compare with integrals or millions of draws: plain arithmetic without memory to go wrong in.
const SLOW: [&str; 3] = ["moments::tests", "random::tests", "conformal::tests"];

#[derive(Args)]
pub(crate) struct Arguments {
    /// All unit tests, every fixture, every byte of a checkpoint damaged, and more crafted checkpoints: an hour
    #[arg(long)]
    all: bool,
}

/// How much to run.
struct Round {
    /// What unit tests are left out, or the only ones that are run.
    filter: String,
    fixtures: u64,
    damaged: u64,
    crafted: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    nightly::ensure(Tool::Miri)?;
    let skipped: String = SLOW.iter().map(|name| format!(" --skip {name}")).collect();
    let round = if arguments.all {
        Round { filter: String::new(), fixtures: u64::MAX, damaged: u64::MAX, crafted: 400 }
    } else {
        Round { filter: skipped, fixtures: 8, damaged: 40, crafted: 20 }
    };
    for command in [round.unit_tests(), round.program()] {
        eprintln!("running: {command}");
        ensure!(command.stream()?.success(), "Miri found something: see above");
    }
    Ok(())
}

/// A handful of tests within half a minute; what was run, in one line.
pub(crate) fn short_round() -> Result<String> {
    let round = Round { filter: String::new(), fixtures: 4, damaged: 4, crafted: 2 };
    let printed = round.program().run()?;
    Ok(printed.lines().collect::<Vec<_>>().join(", "))
}

impl Round {
    fn unit_tests(&self) -> Shell {
        miri("cargo miri test -p quaver --lib --features write --").words(&self.filter)
    }

    fn program(&self) -> Shell {
        let program = miri("cargo miri run --quiet -p quaver-tests --bin interpreted --");
        [self.fixtures, self.damaged, self.crafted]
            .iter()
            .fold(program, |program, count| program.argument(count.to_string()))
    }
}

/// Fixtures are files, which Miri keeps programs from by default.
fn miri(command: &str) -> Shell {
    run_nightly(command).variable("MIRIFLAGS", "-Zmiri-disable-isolation")
}
