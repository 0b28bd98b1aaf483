//! `cargo xtask miri`: the runtime in Miri, which finds undefined behaviour: reads outside of memory, of what
//! was never written, or through a reference that is no longer valid.
//!
//! The unit tests of the runtime, then fixtures, damaged and crafted checkpoints (the program `interpreted`
//! of `quaver-tests`; its tests would build Burn). Miri is some hundred times slower than the machine, so the
//! default takes the tests that move bytes, and leaves out those that integrate or draw by the thousand.

use anyhow::{Result, ensure};
use clap::Args;

use crate::setup::nightly::{self, Tool, nightly as run_nightly};
use crate::shell::Shell;

/// Tests that read and write memory by offsets. The others compare arithmetic with integrals and with draws
/// by the thousand, in which Miri has little to see; vector instructions are not there in Miri.
const UNIT_TESTS: &str = "format:: backend:: spec:: models::display models::latent models::outputs encode::rounding \
                          quantized::state quantized::kernels --skip vectors";

#[derive(Args)]
pub(crate) struct Arguments {
    /// All unit tests, every fixture, every byte of a checkpoint damaged, and more crafted checkpoints
    #[arg(long)]
    all: bool,
}

/// How much to run.
struct Round {
    fixtures: u64,
    damaged: u64,
    crafted: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    nightly::ensure(Tool::Miri)?;
    let (filter, round) = if arguments.all {
        ("", Round { fixtures: u64::MAX, damaged: u64::MAX, crafted: 200 })
    } else {
        (UNIT_TESTS, Round { fixtures: 8, damaged: 40, crafted: 10 })
    };
    for command in [unit_tests(filter), round.program()] {
        eprintln!("running: {command}");
        ensure!(command.stream()?.success(), "Miri found something: see above");
    }
    Ok(())
}

/// Some checkpoints within a minute; what was run, in one line.
pub(crate) fn short_round() -> Result<String> {
    let printed = Round { fixtures: 4, damaged: 4, crafted: 1 }.program().run()?;
    Ok(printed.lines().collect::<Vec<_>>().join(", "))
}

fn unit_tests(filter: &str) -> Shell {
    miri("cargo miri test -p quaver --lib --features write --").words(filter)
}

impl Round {
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
