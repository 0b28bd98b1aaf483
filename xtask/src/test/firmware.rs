//! Stages that build for the cores and look into the images.

use anyhow::{Result, ensure};

use crate::machine::{DEFAULT_TARGET, targets};
use crate::setup::toolchain::Toolchain;
use crate::shell::Shell;
use crate::{elf, image};

/// Functions of the panic check and of heaps.
const PANIC_SYMBOL: &str = "loading_or_stepping_can_panic";
const HEAP_SYMBOLS: [&str; 8] =
    ["__rust_alloc", "__rust_realloc", "__rdl_alloc", "__rg_alloc", "malloc", "calloc", "realloc", "_sbrk"];

pub(super) fn runtime_for_cores() -> Result<String> {
    // One call for all targets, so that their builds share the machine's own cores.
    let targets = Toolchain::listed()?.targets;
    for features in ["", "defmt"] {
        let build = Shell::cargo("build --quiet --release -p quaver --features").argument(features);
        targets.iter().fold(build, |build, target| build.words("--target").argument(target)).run()?;
    }
    Ok(targets.join(", "))
}

pub(super) fn firmware_lints() -> Result<String> {
    for target in targets() {
        Shell::cargo("clippy --quiet --release --target")
            .argument(target)
            .words("-- -D warnings")
            .in_folder(image::FOLDER)
            .run()?;
    }
    Ok(String::new())
}

pub(super) fn firmware() -> Result<String> {
    for target in targets() {
        for image in ["quaver-qemu", "golden", "golden_latent", "bits", "bench"] {
            image::build(image, target)?;
        }
    }
    Ok(String::new())
}

/// The image links as long as nothing can panic. That the check can fail is shown with a panic put in on
/// purpose.
pub(super) fn no_panic() -> Result<String> {
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

pub(super) fn no_heap() -> Result<String> {
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

/// The whole instruction of the example's README.
pub(super) fn example() -> Result<String> {
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
