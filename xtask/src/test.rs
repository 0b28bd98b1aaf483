//! `cargo xtask test`: everything that must hold, stage by stage, up to the first failure.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::machine::{DEFAULT_TARGET, targets};
use crate::setup::toolchain::Toolchain;
use crate::setup::{self, Needs};
use crate::shell::Shell;
use crate::{elf, image, layers, qemu};

/// A stage, and the work that returns a short remark on success.
type Stage = (&'static str, fn() -> Result<String>);

const STAGES: [Stage; 14] = [
    ("targets, components and QEMU", set_up),
    ("formatting", formatting),
    ("layers of modules", layers::check),
    ("lints of the workspace", lints),
    ("unit, doc and integration tests", tests),
    ("documentation of the runtime", documentation),
    ("feature combinations of the runtime", features),
    ("runtime for every core", runtime_for_cores),
    ("lints of the firmware", firmware_lints),
    ("firmware for every core", firmware),
    ("no panic path in loading and stepping", no_panic),
    ("no heap in the firmware", no_heap),
    ("the firmware example", example),
    ("golden streams on every core", qemu::run_quietly),
];

/// Functions of the panic check and of heaps.
const PANIC_SYMBOL: &str = "loading_or_stepping_can_panic";
const HEAP_SYMBOLS: [&str; 8] =
    ["__rust_alloc", "__rust_realloc", "__rdl_alloc", "__rg_alloc", "malloc", "calloc", "realloc", "_sbrk"];

/// Runs the stages in order and stops at the first that fails. The last line counts them.
pub(crate) fn run() -> Result<ExitCode> {
    let mut passed = 0;
    for (index, (title, work)) in STAGES.iter().enumerate() {
        print!("[{:2}/{}] {title} ... ", index + 1, STAGES.len());
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

fn formatting() -> Result<String> {
    Shell::cargo("fmt --all --check").run()?;
    Shell::cargo("fmt --check").in_folder(image::FOLDER).run()?;
    Ok(String::new())
}

fn lints() -> Result<String> {
    Shell::cargo("clippy --quiet --release --workspace --all-targets -- -D warnings").run()?;
    Ok(String::new())
}

fn tests() -> Result<String> {
    let printed = Shell::cargo("test --quiet --release --workspace --no-fail-fast").run()?;
    let passed = |line: &str| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u32>().ok();
    Ok(format!("{} tests", printed.lines().filter_map(passed).sum::<u32>()))
}

fn documentation() -> Result<String> {
    Shell::cargo("doc --quiet --release --no-deps -p quaver")
        .variable("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(String::new())
}

fn features() -> Result<String> {
    let combinations =
        ["float", "quantized", "float,quantized", "float,defmt", "quantized,defmt", "std", "std,defmt"];
    for features in combinations {
        Shell::cargo("clippy --quiet --release -p quaver --no-default-features --features")
            .argument(features)
            .words("-- -D warnings")
            .run()?;
    }
    for kind in image::KINDS {
        Shell::cargo("test --quiet --release -p quaver --lib checkpoint --no-default-features --features")
            .argument(kind)
            .run()?;
    }
    Ok(format!("{} combinations", combinations.len()))
}

fn runtime_for_cores() -> Result<String> {
    // One call for all targets, so that their builds share the machine's own cores.
    let targets = Toolchain::listed()?.targets;
    for features in ["", "defmt"] {
        let build = Shell::cargo("build --quiet --release -p quaver --features").argument(features);
        targets.iter().fold(build, |build, target| build.words("--target").argument(target)).run()?;
    }
    Ok(targets.join(", "))
}

fn firmware_lints() -> Result<String> {
    for target in targets() {
        Shell::cargo("clippy --quiet --release --target")
            .argument(target)
            .words("-- -D warnings")
            .in_folder(image::FOLDER)
            .run()?;
    }
    Ok(String::new())
}

fn firmware() -> Result<String> {
    for target in targets() {
        for image in ["quaver-qemu", "golden", "golden_latent", "bits", "bench"] {
            image::build(image, target)?;
        }
    }
    Ok(String::new())
}

/// The image links as long as nothing can panic. That the check can fail is shown with a panic put in on purpose.
fn no_panic() -> Result<String> {
    for target in targets() {
        image::build("step_only", target)?;
        image::build("latent_only", target)?;
        for kind in image::KINDS {
            image::path_of(&image::build_command_with("step_only", target, kind))?;
        }
    }
    for image in ["step_only", "latent_only"] {
        let control = image::build_command(image, DEFAULT_TARGET).words("--features panic-control");
        let captured = control.capture()?;
        ensure!(
            !captured.status.success() && captured.stderr.contains(PANIC_SYMBOL),
            "an image with a panic in it links all the same: the check proves nothing; to repeat: {control}"
        );
    }
    Ok(String::new())
}

fn no_heap() -> Result<String> {
    let symbols = elf::symbols(&image::build("quaver-qemu", DEFAULT_TARGET)?)?;
    ensure!(
        symbols.iter().any(|symbol| symbol == "Reset"),
        "the image has lost its symbols, nothing can be checked"
    );
    let found = heap_symbols(&symbols);
    ensure!(found.is_empty(), "the image holds heap functions: {found:?}");
    Ok(format!("{} symbols", symbols.len()))
}

fn heap_symbols(symbols: &[String]) -> Vec<&String> {
    symbols.iter().filter(|symbol| HEAP_SYMBOLS.iter().any(|heap| symbol.contains(heap))).collect()
}

fn set_up() -> Result<String> {
    setup::ensure(&Needs::everything()?)?;
    Ok(String::new())
}

/// The whole instruction of the example's README.
fn example() -> Result<String> {
    let shown = Shell::cargo("run --quiet").in_folder(image::FOLDER).run()?;
    ensure!(shown.contains(" ± "), "the firmware example shows no prediction: {shown}");
    Ok(format!("{} lines", shown.lines().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_functions_are_found_under_their_mangled_names() {
        let symbols = ["Reset", "_RNvCs2bBX_7___rustc12___rust_alloc", "main", "malloc"].map(String::from);
        assert_eq!(heap_symbols(&symbols), ["_RNvCs2bBX_7___rustc12___rust_alloc", "malloc"]);
    }
}
