//! Every chore of the workspace: `cargo xtask test`, `setup`, `qemu`, `bench`, `bench-host`, `bench-train`,
//! `sizes`, `boards`, `bindings`, `dist`, `attack`, `fuzz`, `miri`, `soak`, `sweep-load`, `results`.

mod attack;
mod bench;
mod bench_train;
mod bindings;
mod boards;
mod comments;
mod deny;
mod dist;
mod elf;
mod files;
mod fuzz;
mod image;
mod kernels;
mod layers;
mod machine;
mod miri;
mod package;
mod qemu;
mod results;
mod setup;
mod shared_build;
mod shell;
mod signed;
mod sizes;
mod soak;
mod sweeps;
mod table;
mod test;

use std::process::ExitCode;

use bench_train::PyTorch;
use clap::Parser;
use setup::Needs;
use shell::Shell;

/// Chores of the Quaver workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", after_help = "Example: cargo xtask test")]
enum Chore {
    /// Everything that must hold before a change is merged: formatting, lints, tests, builds for every core,
    /// QEMU
    #[command(after_help = "Examples: cargo xtask test; cargo xtask test layers")]
    Test {
        /// Run only the stages that have this in their titles
        #[arg(value_name = "STAGE", default_value = "")]
        only: String,
    },
    /// Install what the other chores need: compiler targets and components with rustup, QEMU with the
    /// system's package manager
    #[command(after_help = "QEMU is installed when run as root, with CI=true, or after a yes on a terminal.")]
    Setup {
        /// Only what it takes to build for this target and to run the result
        #[arg(long)]
        target: Option<String>,
    },
    /// Replay the golden streams on the host and on every emulated core, and open signed models there
    Qemu {
        /// Take today's answers as golden, provided that all machines agree
        #[arg(long)]
        overwrite: bool,
    },
    /// Count instructions per step, flash, RAM and stack on every emulated core
    #[command(
        after_help = "Example: cargo xtask bench --json --core M55 --core RV32 lstm-16-64 gru-12-40-fast"
    )]
    Bench {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        /// Measure on this core alone, for example M55; may be repeated
        #[arg(long = "core", value_name = "NAME", value_parser = machine::core_named)]
        cores: Vec<String>,
        /// Measure only models whose names begin so, for example lstm-16-64, or one of any size, such as
        /// gru-12-40-fast; may be repeated
        #[arg(value_name = "MODEL", default_value = "")]
        only: Vec<String>,
    },
    /// Build images that step one model and do nothing else, and compare their code in flash with the golden
    /// sizes
    #[command(after_help = "Examples: cargo xtask sizes; cargo xtask sizes --overwrite")]
    Sizes {
        /// Take today's sizes as golden
        #[arg(long)]
        overwrite: bool,
    },
    /// Time a step on this machine and count its instructions, compared with the same network by nalgebra and
    /// by Burn
    BenchHost {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Time training steps of four networks on this machine, and show the memory they need
    BenchTrain {
        /// Time the same networks in PyTorch as well, installed for this run alone
        #[arg(long)]
        torch: bool,
        /// Take PyTorch from this Python interpreter instead of installing it
        #[arg(long, value_name = "PATH")]
        python: Option<String>,
        /// Instead, how time and memory grow with units, sequence length and threads: some minutes
        #[arg(long, conflicts_with_all = ["torch", "python"])]
        scale: bool,
        /// Print JSON instead of tables
        #[arg(long)]
        json: bool,
    },
    /// Build, link and size the firmware of every board, and execute what emulators can: QEMU and rp2040js
    #[command(
        after_help = "Examples: cargo xtask boards; cargo xtask boards rp2040; cargo xtask boards --write"
    )]
    Boards(boards::Arguments),
    /// Build and test the interfaces to C, C++ and Python, on this machine, on an emulated core and from
    /// packages, and the bridges to ROS 2 and the Lab Streaming Layer
    #[command(
        after_help = "Examples: cargo xtask bindings; cargo xtask bindings Python; cargo xtask bindings \"ROS 2\"
\
                      Compilers, CMake, Python, valgrind and QEMU are installed when run as root, with CI=true, or after a yes \
                      on a terminal; a part whose tools are missing is skipped."
    )]
    Bindings {
        /// Run only the parts that have this in their titles
        #[arg(value_name = "PART", default_value = "")]
        only: String,
    },
    /// Make the package for C and C++ with the libraries of all cores, and try it in an empty folder
    #[command(after_help = "Example: cargo xtask dist")]
    Dist,
    /// Load and step crafted checkpoints: valid encodings at and just beyond every bound of the format
    #[command(
        after_help = "Examples: cargo xtask attack --minutes 60; cargo xtask attack --replay target/attack/1-42.qvr"
    )]
    Attack(attack::Arguments),
    /// Run the fuzz targets of every parser in turn, with a corpus that grows from run to run
    #[command(
        after_help = "Examples: cargo xtask fuzz --minutes 60; cargo xtask fuzz checkpoint latent state\n\
                            cargo-fuzz is installed when run as root, with CI=true, or after a yes on a terminal."
    )]
    Fuzz(fuzz::Arguments),
    /// Run the runtime in Miri, which finds undefined behaviour: unit tests, old, damaged and crafted
    /// checkpoints
    #[command(after_help = "Examples: cargo xtask miri; cargo xtask miri --all\n\
                            Miri is added to a nightly toolchain; a missing toolchain is installed as root, with CI=true, or after a yes.")]
    Miri(miri::Arguments),
    /// Step models of every cell and layout with bursts of garbage between clean rows, and measure how they
    /// find back
    #[command(after_help = "Examples: cargo xtask soak; cargo xtask soak --steps 1e6 lstm gru-small")]
    Soak(soak::Arguments),
    /// Count what the workers of a search ask of a shared file system
    #[command(after_help = "Example: cargo xtask sweep-load --workers 16\n\
                            strace is installed when run as root, with CI=true, or after a yes on a terminal.")]
    SweepLoad(sweeps::Arguments),
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
        Chore::Test { only } => return test::run(&only),
        Chore::Setup { target } => return setup::run(target.as_deref()),
        Chore::Qemu { overwrite } => {
            setup::ensure(&Needs::emulation()?)?;
            qemu::run(overwrite)?;
            println!("signed models: {}", signed::check()?);
        }
        Chore::Bench { json, cores, only } => {
            setup::ensure(&Needs::emulation()?)?;
            bench::run(json, &cores, &only)?;
        }
        Chore::Sizes { overwrite } => {
            setup::ensure(&Needs::to_build([machine::DEFAULT_TARGET].into_iter()))?;
            sizes::run(overwrite)?;
        }
        Chore::BenchHost { json } => {
            // As part of the workspace, for which Burn is built already.
            let program =
                image::path_of(&Shell::cargo("build --quiet --release --workspace --bin quaver-bench"))?;
            let bench = Shell::new(program.display().to_string());
            print!("{}", if json { bench.argument("--json") } else { bench }.run()?);
        }
        Chore::BenchTrain { scale: true, json, .. } => bench_train::scale::run(json)?,
        Chore::BenchTrain { torch, python, json, .. } => {
            let torch = match python {
                Some(python) => PyTorch::Python(python),
                None if torch => PyTorch::Throwaway,
                None => PyTorch::Nothing,
            };
            bench_train::run(torch, json)?;
        }
        Chore::Boards(arguments) => {
            setup::ensure(&Needs::to_build(boards::folders().map(|(_, target)| target)))?;
            boards::run(&arguments)?;
        }
        Chore::Bindings { only } => bindings::run(&only)?,
        Chore::Dist => dist::run()?,
        Chore::Attack(arguments) => attack::run(&arguments)?,
        Chore::Fuzz(arguments) => fuzz::run(&arguments)?,
        Chore::Miri(arguments) => miri::run(&arguments)?,
        Chore::Soak(arguments) => soak::run(&arguments)?,
        Chore::SweepLoad(arguments) => sweeps::count_operations(&arguments)?,
        Chore::Results(arguments) => results::run(&arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}
