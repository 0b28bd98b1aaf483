//! The C and C++ interfaces on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::library::{self, FOLDER, HOST, M4F};
use super::scratch;
use crate::qemu;
use crate::shell::{Shell, root};

/// Warnings are errors.
const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wshadow -Werror -g -O1";
const SANITIZERS: &str = "-fsanitize=address,undefined -fno-sanitize-recover=all";
/// A test program ends within seconds.
const LIMIT: Duration = Duration::from_secs(300);
/// What a test returns where it cannot run.
const NOT_HERE: i32 = 77;
/// What the control loop returns when its controller has stopped.
const STOPPED: i32 = 3;

/// Formatting, lints and unit tests of the crate; its header is current.
pub(super) fn crate_and_header() -> Result<String> {
    Shell::cargo("fmt --check").in_folder(FOLDER).run()?;
    Shell::cargo("clippy --quiet --release -- -D warnings").in_folder(FOLDER).run()?;
    Shell::cargo("test --quiet").in_folder(FOLDER).run()?;
    Ok("current".into())
}

/// The libraries of this machine and of a board have the interface and nothing else.
pub(super) fn symbols() -> Result<String> {
    host_library()?;
    HOST.shared()?;
    M4F.package(&scratch(M4F.name)?)?;
    library::check_panic_control(&scratch("panic-control")?)?;
    Ok("the interface alone, no panic path, no heap".into())
}

fn host_library() -> Result<PathBuf> {
    HOST.package(&scratch(HOST.name)?)
}

/// A compiler's command with the headers and the library.
pub(super) fn compile(
    compiler: &str,
    options: &str,
    sources: &[&str],
    library: &Path,
    program: &Path,
) -> Shell {
    let folder = root().join(FOLDER);
    let command = ["include", "tests/c", "examples/models"]
        .iter()
        .fold(Shell::new(compiler).words(WARNINGS).words(options), |command, include| {
            command.argument(format!("-I{}", folder.join(include).display()))
        });
    let command = sources
        .iter()
        .fold(command, |command, source| command.argument(folder.join(source).display().to_string()));
    command
        .argument(library.display().to_string())
        .argument("-lm")
        .argument("-o")
        .argument(program.display().to_string())
}

/// Builds a program for this machine and returns the command that runs it.
fn program(name: &str, compiler: &str, options: &str, sources: &[&str]) -> Result<Shell> {
    let (library, path) = (host_library()?, scratch("programs")?.join(name));
    compile(compiler, options, sources, &library, &path).run()?;
    Ok(Shell::new(path.display().to_string()).limit(LIMIT))
}

fn with_models(command: Shell, models: &[&str]) -> Shell {
    let path = |model: &&str| root().join("runtime/examples").join(model).display().to_string();
    models.iter().map(path).fold(command, Shell::argument)
}

const MODELS: [&str; 3] = ["grip_force.qvr", "denoiser.qvr", "sampler.qvr"];

pub(super) fn interface() -> Result<String> {
    let options = format!("-std=c99 {SANITIZERS}");
    let interface = program("interface", "cc", &options, &["tests/c/interface.c"])?;
    with_models(interface, &MODELS).run()?;
    Ok("address and undefined-behaviour sanitizer".into())
}

pub(super) fn valgrind() -> Result<String> {
    let sources = ["tests/c/interface.c"];
    let path = scratch("programs")?.join("interface-plain");
    compile("cc", "-std=c99", &sources, &host_library()?, &path).run()?;
    let valgrind = Shell::new("valgrind").words("--quiet --error-exitcode=9 --leak-check=full").limit(LIMIT);
    with_models(valgrind.argument(path.display().to_string()), &MODELS).run()?;
    Ok("no error".into())
}

/// The folder of the golden cases as files.
pub(super) fn golden_files() -> Result<PathBuf> {
    let folder = scratch("golden")?;
    Shell::cargo("run --quiet --release -p quaver-tests --bin golden_files --")
        .argument(folder.display().to_string())
        .run()?;
    Ok(folder)
}

pub(super) fn golden() -> Result<String> {
    let replay = program("golden", "cc", "-std=c99", &["tests/c/golden.c", "tests/c/replay.c"])?;
    compare(&replay.argument(golden_files()?.display().to_string()).run()?)
}

/// Compares what a program printed with the golden streams.
pub(super) fn compare(printed: &str) -> Result<String> {
    let mut found = qemu::parsed(printed);
    let mut golden = qemu::golden_lines()?;
    found.sort();
    golden.sort();
    let differing: Vec<&str> =
        golden.iter().filter(|line| !found.contains(line)).map(|(case, _)| case.as_str()).collect();
    ensure!(
        found == golden,
        "through C, these differ from tests/golden/streams.txt: {}",
        differing.join(", ")
    );
    Ok(format!("{} golden streams, the same bits", golden.len()))
}

pub(super) fn bounded() -> Result<String> {
    let bounded = program("bounded", "cc", "-std=gnu99", &["tests/c/bounded.c"])?;
    let captured = bounded.capture()?;
    if captured.status.code() == Some(NOT_HERE) {
        return Ok(format!("skipped, {}", captured.stderr.trim()));
    }
    ensure!(captured.status.success(), "a step makes a system call or an allocation; to repeat: {bounded}");
    for control in ["1", "2"] {
        let caught = !bounded.clone().argument(control).capture()?.status.success();
        ensure!(caught, "control {control} passes all the same: the check proves nothing");
    }
    Ok(captured.stdout.trim().into())
}

pub(super) fn wrapper() -> Result<String> {
    let kinds = [
        ("wrapper", "-std=c++17".to_string()),
        ("wrapper-bare", "-std=c++17 -fno-exceptions -fno-rtti".into()),
        ("wrapper-sanitized", format!("-std=c++20 {SANITIZERS}")),
    ];
    for (name, options) in &kinds {
        with_models(program(name, "c++", options, &["tests/c/wrapper.cpp"])?, &MODELS[1..]).run()?;
    }
    Ok(format!("{} builds", kinds.len()))
}

/// The loop follows its reference, lowers its gain where a sensor is lost, and stops where one is stuck.
pub(super) fn control_loop() -> Result<String> {
    let control = program("control_loop", "c++", "-std=c++17 -O2", &["examples/control_loop/main.cpp"])?;
    let run = |arguments: &str| control.clone().words("--fast --seconds 6").words(arguments).capture();
    let (sound, lost, stuck) = (run("")?, run("--fault encoder-lost")?, run("--fault encoder-stuck")?);
    let gain = |printed: &str| -> Option<f64> {
        printed.split("smallest gain ").nth(1)?.split('\n').next()?.parse().ok()
    };
    let gains = [gain(&sound.stdout).unwrap_or(0.0), gain(&lost.stdout).unwrap_or(1.0)];
    ensure!(sound.status.success(), "the controller stops without a fault:\n{}", sound.stdout);
    ensure!(gains[1] < 0.7 * gains[0], "a lost encoder hardly lowers the gain: {gains:?}");
    ensure!(stuck.status.code() == Some(STOPPED), "a stuck encoder does not stop it:\n{}", stuck.stdout);
    Ok(format!("smallest gain {:.2}, {:.2} without encoder; stops where it is stuck", gains[0], gains[1]))
}
