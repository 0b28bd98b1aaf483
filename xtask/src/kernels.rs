//! The runtime's choice of kernels, seen from outside: in images, and as errors of a build.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::elf;
use crate::setup::toolchain::has_target;
use crate::shell::Shell;

/// Kernels in assembler.
const KERNELS: [&str; 5] = ["baseline", "mainline", "dsp", "helium", "riscv"];

/// Kernels that an image must have: Helium leaves to `dsp` what it has no vectors for.
fn expected_of(kernel: &str) -> Vec<&'static str> {
    let is_expected = |name: &&str| *name == kernel || (kernel == "helium" && *name == "dsp");
    KERNELS.into_iter().filter(is_expected).collect()
}

/// Targets for which the runtime is built where the compiler has them, with a feature that forces kernels
/// which they cannot run.
const OPTIONAL_TARGETS: [(&str, &str); 6] = [
    ("thumbv8m.base-none-eabi", "kernel-mainline"),
    ("armv7r-none-eabihf", "kernel-dsp"),
    ("armv8r-none-eabihf", "kernel-dsp"),
    ("armv7a-none-eabihf", "kernel-dsp"),
    ("riscv32i-unknown-none-elf", "kernel-riscv"),
    ("riscv32imc-unknown-none-elf", "kernel-dsp"),
];

/// Targets and features that force kernels which they cannot run.
const WRONG: [(&str, &str); 5] = [
    ("thumbv6m-none-eabi", "kernel-mainline"),
    ("thumbv7m-none-eabi", "kernel-dsp"),
    ("thumbv7em-none-eabihf", "kernel-helium"),
    ("thumbv7em-none-eabi", "kernel-riscv"),
    ("riscv32imac-unknown-none-elf", "kernel-baseline"),
];

/// Whether the kernels in assembler in an image are those expected, and no others.
pub(crate) fn check_image(image: &Path, kernel: &str) -> Result<()> {
    let found = kernels_in(&elf::symbols(image)?);
    let expected = expected_of(kernel);
    ensure!(found == expected, "the image has the kernels {found:?} instead of {expected:?}");
    Ok(())
}

/// Modules of kernels that have symbols, by their mangled names.
fn kernels_in(symbols: &[String]) -> Vec<&'static str> {
    let has = |name: &&str| {
        let module = format!("7kernels{}{name}", name.len());
        symbols.iter().any(|symbol| symbol.contains(&module))
    };
    KERNELS.into_iter().filter(has).collect()
}

/// Whether a model was accelerated where it should be: at a multiple of four, on a core with kernels in
/// assembler.
pub(crate) fn check_acceleration(printed: &str, kernel: &str) -> Result<()> {
    let line = printed.lines().find_map(|line| line.strip_prefix("# accelerated at offsets 0 to 3:"));
    let line = line.context("the image does not print where a model is accelerated")?;
    let expected = format!(" {} false false false", KERNELS.contains(&kernel));
    ensure!(line == expected, "a model at offsets 0 to 3 is accelerated:{line}; expected:{expected}");
    Ok(())
}

/// Builds with forced kernels: an error where the target cannot run them, and a choice where several are
/// named.
pub(crate) fn check_choice() -> Result<String> {
    for (target, feature) in WRONG {
        is_refused(target, feature)?;
    }
    // On this machine, which runs build scripts and tests of firmware.
    for features in ["--all-features", "--features kernel-dsp"] {
        Shell::cargo("check --quiet --release -p quaver").words(features).run()?;
    }
    let (mut built, mut skipped) = (Vec::new(), Vec::new());
    for (target, wrong) in OPTIONAL_TARGETS {
        if has_target(target) {
            Shell::cargo("build --quiet --release -p quaver --target").argument(target).run()?;
            is_refused(target, wrong)?;
            built.push(target);
        } else {
            skipped.push(target);
        }
    }
    let list = |what: &str, targets: &[&str]| match targets {
        [] => String::new(),
        _ => format!("; {what} {}", targets.join(", ")),
    };
    Ok(format!(
        "{} wrong ones refused{}{}",
        WRONG.len() + built.len(),
        list("built for", &built),
        list("not installed:", &skipped)
    ))
}

/// Whether a build fails with the build script's message.
fn is_refused(target: &str, feature: &str) -> Result<()> {
    let check = Shell::cargo("check --quiet --release -p quaver --target")
        .argument(target)
        .words("--features")
        .argument(feature);
    let captured = check.capture()?;
    let message = format!("the feature `{feature}` forces kernels that {target} cannot run");
    ensure!(
        !captured.status.success() && captured.stderr.contains(&message),
        "{feature} should be refused for {target}:\n{}\nto repeat: {check}",
        captured.stderr
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_under_their_mangled_names() {
        let symbols =
            ["Reset", "_RNvNtNtNtCs1_6quaver9quantized7kernels3dsp6blocks10dot_blocks"].map(String::from);
        assert_eq!(kernels_in(&symbols), ["dsp"]);
        let symbols = ["_ZN6quaver9quantized7kernels8mainline6layers10lstm_layer17hE".to_string()];
        assert_eq!(kernels_in(&symbols), ["mainline"]);
        assert!(kernels_in(&["_ZN6quaver9quantized7kernels8portable3dot17hE".into()]).is_empty());
        let symbols = ["4lstm10lstm_layer", "5elman10tanh_layer"]
            .map(|function| format!("_RNvNtNtNtCs1_6quaver9quantized7kernels6helium{function}"));
        assert_eq!(kernels_in(&symbols), ["helium"]);
        assert_eq!(expected_of("helium"), ["dsp", "helium"]);
        assert_eq!(expected_of("dsp"), ["dsp"]);
        assert!(expected_of("portable").is_empty());
    }

    #[test]
    fn only_a_multiple_of_four_is_accelerated() {
        let printed =
            |values: &str| format!("# accelerated at offsets 0 to 3: {values}\nlstm steps=1 hash=0\n");
        assert!(check_acceleration(&printed("true false false false"), "dsp").is_ok());
        assert!(check_acceleration(&printed("false false false false"), "dsp").is_err());
        assert!(check_acceleration(&printed("true true false false"), "baseline").is_err());
        assert!(check_acceleration(&printed("false false false false"), "portable").is_ok());
        assert!(check_acceleration("lstm steps=1 hash=0\n", "portable").is_err());
    }
}
