//! `cargo xtask test`: everything that must hold, stage by stage, up to the first failure.

mod firmware;
mod host;
mod rounds;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::setup::{self, Needs};
use crate::{
    bindings, boards, comments, deny, kernels, layers, package, qemu, shared_build, signed, sizes, sweeps,
};

/// When a stage runs: alone, or in one of two lanes, which run side by side because most of their stages
/// keep a single core busy. `Firmware` begins with what builds in the target folder of the emulated
/// images, so that it does not wait for the tests to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Alone,
    Host,
    Firmware,
}
use Lane::{Alone, Firmware, Host};

/// A stage, its lane, and the work that returns a short remark on success.
type Stage = (&'static str, Lane, fn() -> Result<String>);

/// What takes seconds comes first. Stages that run alone come before the lanes.
const STAGES: &[Stage] = &[
    ("targets, components and QEMU", Alone, set_up),
    ("formatting", Alone, host::formatting),
    ("width of comments", Alone, comments::check),
    ("layers of modules", Alone, layers::check),
    ("lints of the workspace", Alone, host::lints),
    ("one build of Burn for demo and tests", Alone, shared_build::check),
    ("unit, doc and integration tests", Host, host::tests),
    ("a short round of Miri", Host, rounds::short_round),
    ("documentation", Host, host::documentation),
    ("packages as they would be published", Host, package::check),
    ("licences and duplicate versions", Host, deny::check),
    ("feature combinations", Host, host::features),
    ("interfaces to C, C++, Python, ROS 2 and LSL", Host, bindings::run_quietly),
    ("sweeps on Slurm and HyperQueue", Host, sweeps::check),
    ("lints of the firmware", Firmware, firmware::firmware_lints),
    ("firmware for every core", Firmware, firmware::firmware),
    ("no heap in the firmware", Firmware, firmware::no_heap),
    ("no panic path in loading and stepping", Firmware, firmware::no_panic),
    ("size of code by kind of model", Firmware, sizes::check),
    ("the firmware example", Firmware, firmware::example),
    ("text on an emulated core", Firmware, firmware::text),
    ("golden streams on every core", Firmware, qemu::run_quietly),
    ("signed models on every core", Firmware, signed::check),
    ("boards, linked and emulated", Firmware, boards::check),
    ("the monitor with an emulated board", Firmware, boards::watch::check),
    ("runtime for every core", Firmware, firmware::runtime_for_cores),
    ("choice of kernels", Firmware, kernels::check_choice),
];

/// Stages that are selected, and what became of them.
struct Progress {
    stages: Vec<Stage>,
    passed: AtomicUsize,
    failed: AtomicUsize,
}

/// Runs the stages whose titles contain `only`, in order within each lane; none begins after one has failed.
/// The last line counts them.
pub(crate) fn run(only: &str) -> Result<ExitCode> {
    let progress =
        Progress { stages: selected(only)?, passed: AtomicUsize::new(0), failed: AtomicUsize::new(0) };
    progress.run(Alone);
    std::thread::scope(|scope| {
        scope.spawn(|| progress.run(Firmware));
        progress.run(Host);
    });
    let [passed, failed] = [&progress.passed, &progress.failed].map(|count| count.load(Relaxed));
    println!("\n{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Progress {
    /// Runs the stages of a lane until one fails, in this lane or in the other.
    fn run(&self, lane: Lane) {
        for (index, (title, _, work)) in self.stages.iter().enumerate().filter(|(_, stage)| stage.1 == lane) {
            if self.failed.load(Relaxed) > 0 {
                return;
            }
            let name = format!("[{:2}/{}] {title}", index + 1, self.stages.len());
            println!("{name} ...");
            let begin = Instant::now();
            let outcome = work();
            let seconds = begin.elapsed().as_secs_f32();
            let count = if outcome.is_ok() { &self.passed } else { &self.failed };
            count.fetch_add(1, Relaxed);
            // One call for each, so that lines of both lanes stay whole.
            match outcome {
                Ok(remark) if remark.is_empty() => println!("{name}: ok, {seconds:.1} s"),
                Ok(remark) => println!("{name}: ok, {seconds:.1} s: {remark}"),
                Err(error) => {
                    println!("{name}: FAILED after {seconds:.1} s\n\n{error:#}\n\nstage {title:?} failed\n");
                }
            }
        }
    }
}

fn selected(only: &str) -> Result<Vec<Stage>> {
    let stages: Vec<Stage> = STAGES.iter().filter(|(title, ..)| title.contains(only)).copied().collect();
    let titles = || STAGES.iter().map(|(title, ..)| format!("  {title}")).collect::<Vec<_>>().join("\n");
    ensure!(!stages.is_empty(), "no stage has `{only}` in its title; there are\n{}", titles());
    Ok(stages)
}

fn set_up() -> Result<String> {
    setup::ensure(&Needs::everything()?)?;
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_selected_by_a_part_of_their_title() {
        assert_eq!(selected("").expect("all").len(), STAGES.len());
        assert_eq!(selected("layers").expect("one").len(), 1);
        let lanes: Vec<Lane> = STAGES.iter().map(|stage| stage.1).collect();
        assert!(lanes.is_sorted_by_key(|lane| *lane != Alone), "what runs alone comes first");
        assert!(selected("no such stage").expect_err("none").to_string().contains("golden streams"));
    }
}
