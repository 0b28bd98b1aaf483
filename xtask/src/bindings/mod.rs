//! `cargo xtask bindings`: the interfaces to other languages, built and tested part by part. A part whose
//! tools are missing is skipped in one line that names them.

mod archive;
mod bridges;
pub(crate) mod environment;
mod firmware;
mod host;
pub(crate) mod library;
pub(crate) mod python;
mod pytorch;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::dist;
use crate::setup::programs::{
    self, ARM_GCC, CC, CMAKE, CXX, PKG_CONFIG, PYTHON, Program, QEMU_ARM, VALGRIND,
};
use crate::shell::Shell;

/// A part: its title, the programs that it needs, and the work that returns a short remark.
type Part = (&'static str, &'static [Program], fn() -> Result<String>);

const PARTS: &[Part] = &[
    ("crate and header of the C interface", &[], host::crate_and_header),
    ("symbols and panic paths of the libraries", &[], host::symbols),
    ("C: errors, sanitizers", &[CC], host::interface),
    ("C: golden streams", &[CC], host::golden),
    ("C: valgrind", &[CC, VALGRIND], host::valgrind),
    ("C: no system call, no allocation", &[CC], host::bounded),
    ("C: next to another Rust library", &[CC], host::neighbours),
    ("C++: wrapper with and without exceptions", &[CXX], host::wrapper),
    ("C++: control loop", &[CXX], host::control_loop),
    ("C: golden streams on a Cortex-M4F", &[ARM_GCC, QEMU_ARM], firmware::golden),
    ("PyTorch: imported networks", &[], pytorch::import),
    ("package in an empty folder", &[CC, CXX, CMAKE, PKG_CONFIG], dist::check_small),
    ("Python: the crate of the package", &[], python::crate_lints),
    ("Python: the wheel in a clean environment", &[PYTHON], python::wheel),
    ("what the bridges to ROS 2 and LSL share", &[], bridges::shared),
    ("ROS 2: a node and Cyclone DDS", &[PYTHON], bridges::ros2),
    ("LSL: a bridge and pylsl", &[PYTHON, CXX, CMAKE], bridges::lsl),
];

/// Runs the parts whose titles contain `only`, and prints a line for each.
pub(crate) fn run(only: &str) -> Result<()> {
    let parts: Vec<&Part> = PARTS.iter().filter(|(title, ..)| title.contains(only)).collect();
    if parts.is_empty() {
        let titles: Vec<&str> = PARTS.iter().map(|(title, ..)| *title).collect();
        bail!("no part has `{only}` in its title; there are\n  {}", titles.join("\n  "));
    }
    for part in parts {
        println!("{}: {}", part.0, run_part(part)?);
    }
    Ok(())
}

/// All parts as one stage: what was skipped, and how many ran.
pub(crate) fn run_quietly() -> Result<String> {
    let mut skipped = Vec::new();
    for part in PARTS {
        let remark = run_part(part)?;
        if remark.starts_with(SKIPPED) {
            skipped.push(format!("{}: {remark}", part.0));
        }
    }
    Ok([vec![format!("{} parts", PARTS.len() - skipped.len())], skipped].concat().join("; "))
}

const SKIPPED: &str = "skipped, ";

fn run_part((title, needs, work): &Part) -> Result<String> {
    match programs::missing(needs) {
        Some(line) => Ok(format!("{SKIPPED}{line}")),
        None => work().with_context(|| format!("the part {title:?} failed")),
    }
}

/// A folder for what the chores build, emptied by nobody.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let metadata = Shell::cargo("metadata --no-deps --offline --format-version 1").run()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    let folder = PathBuf::from(target).join("bindings").join(name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_its_tools_is_skipped() {
        let ready: Part = ("a part", &[], || Ok("done".into()));
        assert_eq!(run_part(&ready).expect("no failure"), "done");
        let failing: Part = ("a part", &[], || bail!("broken"));
        assert!(format!("{:#}", run_part(&failing).expect_err("a failure")).contains("a part"));
        assert!(run("no such part").is_err());
    }
}
