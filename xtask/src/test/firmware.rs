//! Stages that build for the cores and look into the images.

use anyhow::{Result, ensure};

use crate::machine::{DEFAULT_TARGET, targets};
use crate::setup::toolchain::Toolchain;
use crate::shell::Shell;
use crate::{elf, image, qemu, signed};

/// The function of the panic check.
const PANIC_SYMBOL: &str = "loading_or_stepping_can_panic";

pub(super) fn runtime_for_cores() -> Result<String> {
    // One call for all targets, so that their builds share the machine's own cores.
    let targets = Toolchain::listed()?.targets;
    for features in ["", "defmt"] {
        let build = Shell::cargo("build --quiet --release -p quaver --features").argument(features);
        targets.iter().fold(build, |build, target| build.words("--target").argument(target)).run()?;
    }
    // A firmware that depends on a folder sees the warnings of each backend alone.
    for backend in ["float", "quantized"] {
        let lint = Shell::cargo("clippy --quiet --release -p quaver --no-default-features --features")
            .argument(backend);
        let lint = targets.iter().fold(lint, |lint, target| lint.words("--target").argument(target));
        lint.words("-- -D warnings").run()?;
    }
    Ok(targets.join(", "))
}

pub(super) fn firmware_lints() -> Result<String> {
    for target in targets() {
        Shell::cargo("clippy --quiet --release --features signed --target")
            .argument(target)
            .words("-- -D warnings")
            .in_folder(image::FOLDER)
            .run()?;
    }
    Ok(String::new())
}

pub(super) fn firmware() -> Result<String> {
    for target in targets() {
        let others = ["quaver-qemu", "bits", "class_bits", "bench", "text"].into_iter();
        let images = others.chain(qemu::IMAGES).chain(qemu::KNOWN_IMAGES);
        image::build_command_of_all(images, target).run()?;
        image::build(signed::IMAGE, target)?;
    }
    Ok(String::new())
}

/// Images that link only as long as nothing in them can panic.
const PANIC_FREE: [&str; 6] =
    ["step_only", "static_only", "latent_only", "adapt_only", "reducer_only", "signed_only"];
/// The one that does so for boards alone: on a host its libraries have vector code with checks of bounds.
const BOARDS_ALONE: &str = "signed_only";
/// A target of hosts for which they can be linked too, where it is that of this machine.
const HOST_TARGET: &str = "x86_64-unknown-linux-gnu";
const OPT_LEVELS: [&str; 3] = ["s", "z", "3"];

/// Links the images for every core, and each backend at every level of optimisation for one core and for a
/// host: which panic paths survive depends on what the compiler can prove. A panic path put in on purpose
/// shows that the check can fail.
pub(super) fn no_panic() -> Result<String> {
    for (target, image) in pairs(&targets(), &PANIC_FREE) {
        image::build(image, target)?;
    }
    let host = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
    let thorough = if host { vec![DEFAULT_TARGET, HOST_TARGET] } else { vec![DEFAULT_TARGET] };
    let checked = |(target, image): &(&str, &str)| *target != HOST_TARGET || *image != BOARDS_ALONE;
    for (target, image) in pairs(&thorough, &PANIC_FREE).into_iter().filter(checked) {
        for (level, kind) in pairs(&OPT_LEVELS, &image::KINDS) {
            let build = image::build_command_with(image, target, kind);
            build.variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", level).run()?;
        }
        let control = image::build_command(image, target).words("--features panic-control");
        let captured = control.capture()?;
        ensure!(
            !captured.status.success() && captured.stderr.contains(PANIC_SYMBOL),
            "an image with a panic in it links all the same: the check proves nothing; to repeat: {control}"
        );
    }
    Ok(format!("opt-levels {} on {}", OPT_LEVELS.join(", "), thorough.join(", ")))
}

/// Every element of one list with every one of another.
fn pairs<'l>(first: &[&'l str], second: &[&'l str]) -> Vec<(&'l str, &'l str)> {
    first.iter().flat_map(|first| second.iter().map(|second| (*first, *second))).collect()
}

pub(super) fn no_heap() -> Result<String> {
    let symbols = elf::symbols(&image::build("quaver-qemu", DEFAULT_TARGET)?)?;
    ensure!(
        symbols.iter().any(|symbol| symbol == "Reset"),
        "the image has lost its symbols, nothing can be checked"
    );
    let found = elf::heap_symbols(&symbols);
    ensure!(found.is_empty(), "the image holds heap functions: {found:?}");
    Ok(format!("{} symbols", symbols.len()))
}

/// The whole instruction of the example's README.
pub(super) fn example() -> Result<String> {
    let shown = Shell::cargo("run --quiet").in_folder(image::FOLDER).run()?;
    ensure!(shown.contains(" ± "), "the firmware example shows no prediction: {shown}");
    Ok(format!("{} lines", shown.lines().count()))
}

/// The text that a model writes on an emulated Cortex-M4F is the one that it writes here.
pub(super) fn text() -> Result<String> {
    let shown = Shell::cargo("run --quiet --release --bin text").in_folder(image::FOLDER).run()?;
    let expected = Shell::cargo("run --quiet --release -p quaver-tests --bin text").run()?;
    ensure!(shown == expected, "the firmware writes {shown:?}, this machine {expected:?}");
    Ok(format!("{} characters", shown.chars().count()))
}
