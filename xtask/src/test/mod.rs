//! `cargo xtask test`: everything that must hold, stage by stage, up to the first failure.

mod firmware;
mod host;
mod rounds;

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::setup::{self, Needs};
use crate::{
    bindings, boards, comments, deny, kernels, layers, package, qemu, shared_build, signed, sizes, sweeps,
};

/// A stage, and the work that returns a short remark on success.
type Stage = (&'static str, fn() -> Result<String>);

/// What takes seconds comes first.
const STAGES: &[Stage] = &[
    ("targets, components and QEMU", set_up),
    ("formatting", host::formatting),
    ("width of comments", comments::check),
    ("layers of modules", layers::check),
    ("lints of the workspace", host::lints),
    ("one build of Burn for demo and tests", shared_build::check),
    ("unit, doc and integration tests", host::tests),
    ("a short round of Miri", rounds::short_round),
    ("documentation", host::documentation),
    ("packages as they would be published", package::check),
    ("feature combinations", host::features),
    ("runtime for every core", firmware::runtime_for_cores),
    ("choice of kernels", kernels::check_choice),
    ("lints of the firmware", firmware::firmware_lints),
    ("firmware for every core", firmware::firmware),
    ("licences and duplicate versions", deny::check),
    ("no panic path in loading and stepping", firmware::no_panic),
    ("no heap in the firmware", firmware::no_heap),
    ("size of code by kind of model", sizes::check),
    ("the firmware example", firmware::example),
    ("text on an emulated core", firmware::text),
    ("interfaces to C, C++, Python, ROS 2 and LSL", bindings::run_quietly),
    ("golden streams on every core", qemu::run_quietly),
    ("signed models on every core", signed::check),
    ("boards, linked and emulated", boards::check),
    ("the monitor with an emulated board", boards::watch::check),
    ("sweeps on Slurm and HyperQueue", sweeps::check),
];

/// Runs the stages whose titles contain `only`, in order, and stops at the first that fails. The last line
/// counts them.
pub(crate) fn run(only: &str) -> Result<ExitCode> {
    let stages = selected(only)?;
    let mut passed = 0;
    for (index, (title, work)) in stages.iter().enumerate() {
        print!("[{:2}/{}] {title} ... ", index + 1, stages.len());
        stdout().flush()?;
        let begin = Instant::now();
        let outcome = work();
        let seconds = begin.elapsed().as_secs_f32();
        match outcome {
            Ok(remark) if remark.is_empty() => println!("ok, {seconds:.1} s"),
            Ok(remark) => println!("ok, {seconds:.1} s: {remark}"),
            Err(error) => {
                println!("FAILED after {seconds:.1} s\n\n{error:#}\n\nstage {title:?} failed\n");
                println!("{passed} passed, 1 failed");
                return Ok(ExitCode::FAILURE);
            }
        }
        passed += 1;
    }
    println!("\n{passed} passed, 0 failed");
    Ok(ExitCode::SUCCESS)
}

fn selected(only: &str) -> Result<Vec<Stage>> {
    let stages: Vec<Stage> = STAGES.iter().filter(|(title, _)| title.contains(only)).copied().collect();
    let titles = || STAGES.iter().map(|(title, _)| format!("  {title}")).collect::<Vec<_>>().join("\n");
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
        assert!(selected("no such stage").expect_err("none").to_string().contains("golden streams"));
    }
}
