//! What the chores need on this machine: compiler targets, toolchain components and QEMU.
//!
//! Targets and components are added with rustup without asking: they go into the user's own toolchain. QEMU
//! is a system package, so [`permission`] decides whether it may be installed. What needs a nightly toolchain
//! ([`nightly`]) is set up only by the chores that are for it.

pub(crate) mod nightly;
mod permission;
pub(crate) mod programs;
mod qemu;
pub(crate) mod toolchain;

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::machine::MACHINES;
use toolchain::Toolchain;

/// What has to be there.
#[derive(Clone, Debug)]
pub(crate) struct Needs {
    toolchain: Toolchain,
    emulators: Vec<&'static str>,
}

impl Needs {
    /// Everything in `rust-toolchain.toml`, and an emulator for every machine.
    pub(crate) fn everything() -> Result<Self> {
        Ok(Needs { toolchain: Toolchain::listed()?, emulators: emulators(|_| true) })
    }

    /// What it takes to build for every machine and to run the results.
    pub(crate) fn emulation() -> Result<Self> {
        let toolchain = Toolchain { components: Vec::new(), ..Toolchain::listed()? };
        Ok(Needs { toolchain, emulators: emulators(|_| true) })
    }

    /// What it takes to build for these targets; emulators are left to those who run the results.
    pub(crate) fn to_build(targets: impl Iterator<Item = &'static str>) -> Self {
        let targets = targets.map(String::from).collect();
        Needs { toolchain: Toolchain { targets, components: Vec::new() }, emulators: Vec::new() }
    }

    /// What it takes to build for one target and to run the result.
    fn of_target(target: &str) -> Result<Self> {
        let emulators = emulators(|machine_target| machine_target == target);
        ensure!(!emulators.is_empty(), "no machine in xtask/src/machine.rs is built for `{target}`");
        let toolchain = Toolchain { targets: vec![target.into()], components: Vec::new() };
        Ok(Needs { toolchain, emulators })
    }
}

/// Sets up what is missing; an error is one line with what to type.
pub(crate) fn ensure(needs: &Needs) -> Result<()> {
    needs.toolchain.ensure()?;
    qemu::ensure(&needs.emulators)
}

/// `cargo xtask setup`: standard output has the result and nothing else, one line for each thing that is
/// still missing.
pub(crate) fn run(target: Option<&str>) -> Result<ExitCode> {
    let needs = target.map_or_else(Needs::everything, Needs::of_target)?;
    let outcomes = [needs.toolchain.ensure(), qemu::ensure(&needs.emulators)];
    let missing: Vec<String> =
        outcomes.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    if missing.is_empty() {
        println!("everything is there: {} and {}", needs.toolchain, needs.emulators.join(", "));
        return Ok(ExitCode::SUCCESS);
    }
    missing.iter().for_each(|line| println!("{line}"));
    Ok(ExitCode::FAILURE)
}

/// The QEMU programs of the machines whose target is wanted, each once.
fn emulators(wanted: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let machines = MACHINES.iter().filter(|machine| wanted(machine.target));
    let mut programs: Vec<_> = machines.map(|machine| machine.program()).collect();
    programs.sort_unstable();
    programs.dedup();
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_target_needs_one_emulator_and_no_component() {
        let needs = Needs::of_target("thumbv7em-none-eabihf").expect("a listed machine");
        assert_eq!(needs.emulators, ["qemu-system-arm"]);
        assert!(needs.toolchain.components.is_empty());
        assert!(Needs::of_target("x86_64-unknown-linux-gnu").is_err());
    }

    #[test]
    fn every_machine_is_built_for_a_listed_target() {
        let listed = Toolchain::listed().expect("a readable rust-toolchain.toml").targets;
        for machine in &MACHINES {
            assert!(listed.iter().any(|target| target == machine.target), "{}", machine.target);
        }
    }
}
