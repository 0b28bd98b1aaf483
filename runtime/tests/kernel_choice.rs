//! The build script's choice of kernels, for every kind of target.

#[allow(dead_code)] // its `main` is for cargo
#[path = "../build.rs"]
mod build;

use build::Kernel::{self, Baseline, Dsp, Helium, Mainline, Portable, Riscv};
use build::{Core, choose, dsp_directives, has_square_roots};

fn kernel(target: &str, flags: &[&str], forced: Option<Kernel>) -> Result<Kernel, String> {
    choose(target, &Core::of_flags(flags), forced)
}

#[test]
fn the_target_decides() {
    let expected = [
        ("thumbv6m-none-eabi", Baseline),
        ("thumbv7m-none-eabi", Mainline),
        ("thumbv7em-none-eabi", Dsp),
        ("thumbv7em-none-eabihf", Dsp),
        ("thumbv8m.base-none-eabi", Baseline),
        ("thumbv8m.main-none-eabi", Mainline),
        ("thumbv8m.main-none-eabihf", Mainline),
        ("thumbv4t-none-eabi", Portable),
        ("thumbv7a-none-eabihf", Portable),
        ("armv7r-none-eabihf", Portable),
        ("armv8r-none-eabihf", Portable),
        ("armv7a-none-eabihf", Portable),
        ("armebv7r-none-eabihf", Portable),
        ("arm-unknown-linux-gnueabihf", Portable),
        ("aarch64-unknown-none", Portable),
        ("riscv32im-unknown-none-elf", Riscv),
        ("riscv32imc-unknown-none-elf", Riscv),
        ("riscv32imac-unknown-none-elf", Riscv),
        ("riscv32imafc-unknown-none-elf", Riscv),
        ("riscv32imc-esp-espidf", Riscv),
        ("riscv32i-unknown-none-elf", Portable),
        ("riscv32emc-unknown-none-elf", Portable),
        ("riscv64imac-unknown-none-elf", Portable),
        ("riscv64gc-unknown-linux-gnu", Portable),
        ("x86_64-unknown-linux-gnu", Portable),
        ("", Portable),
    ];
    for (target, expected) in expected {
        assert_eq!(kernel(target, &[], None), Ok(expected), "{target}");
    }
}

#[test]
fn square_roots_are_an_instruction_where_an_arm_core_has_a_floating_point_unit() {
    for kernel in [Mainline, Dsp, Helium] {
        assert!(has_square_roots(kernel, "eabihf") && !has_square_roots(kernel, "eabi"), "{kernel:?}");
    }
    // Portable kernels also run on cores of other instruction sets with the same ABI.
    assert!([Portable, Baseline, Riscv].into_iter().all(|kernel| !has_square_roots(kernel, "eabihf")));
}

#[test]
fn flags_of_the_compiler_switch_dsp_on_and_off() {
    let with: [&[&str]; 6] = [
        &["-C", "target-cpu=cortex-m33"],
        &["-Ctarget-cpu=cortex-m55", "-Ctarget-feature=-mve"],
        &["--codegen", "target-cpu=star-mc1"],
        &["--codegen=target-feature=+fp64,+dsp"],
        &["-C", "opt-level=s", "-C", "target-feature=-dsp", "-C", "target-feature=+dsp"],
        &["-D", "warnings", "-Ctarget-cpu=cortex-m35p"],
    ];
    for flags in with {
        assert_eq!(kernel("thumbv8m.main-none-eabihf", flags, None), Ok(Dsp), "{flags:?}");
    }
    let without: [&[&str]; 5] = [
        &["-C", "target-cpu=generic"],
        &["-C", "target-cpu=cortex-m33", "-C", "target-feature=-dsp"],
        &["-C", "target-feature=+fp64"],
        &["-C", "link-arg=target-cpu=cortex-m33"],
        &["target-cpu=cortex-m33"],
    ];
    for flags in without {
        assert_eq!(kernel("thumbv8m.main-none-eabihf", flags, None), Ok(Mainline), "{flags:?}");
    }
    assert_eq!(kernel("thumbv7em-none-eabi", &["-C", "target-feature=-dsp"], None), Ok(Mainline));
    assert_eq!(kernel("riscv32imac-unknown-none-elf", &["-C", "target-feature=-dsp"], None), Ok(Riscv));
    // Flags that make no sense for a target do not bring kernels that it cannot run.
    assert_eq!(kernel("armv7r-none-eabihf", &["-C", "target-feature=+dsp"], None), Ok(Portable));
    assert_eq!(kernel("thumbv6m-none-eabi", &["-C", "target-feature=+dsp"], None), Ok(Baseline));
}

#[test]
fn flags_of_the_compiler_switch_helium_on_and_off() {
    let with: [&[&str]; 5] = [
        &["-C", "target-cpu=cortex-m55"],
        &["-Ctarget-cpu=cortex-m85"],
        &["--codegen=target-cpu=cortex-m52"],
        &["-C", "target-feature=+mve"],
        &["-C", "target-cpu=cortex-m33", "-C", "target-feature=+mve.fp"],
    ];
    for flags in with {
        assert_eq!(kernel("thumbv8m.main-none-eabihf", flags, None), Ok(Helium), "{flags:?}");
        assert_eq!(kernel("thumbv8m.main-none-eabihf", flags, Some(Dsp)), Ok(Dsp), "{flags:?}");
    }
    let off = ["-C", "target-cpu=cortex-m55", "-C", "target-feature=-dsp"];
    assert_eq!(kernel("thumbv8m.main-none-eabi", &off, None), Ok(Mainline));
    assert_eq!(kernel("thumbv7em-none-eabihf", &["-C", "target-feature=+mve"], None), Ok(Dsp));
}

#[test]
fn a_feature_forces_kernels_that_the_target_can_run() {
    assert_eq!(kernel("thumbv8m.main-none-eabi", &[], Some(Dsp)), Ok(Dsp));
    assert_eq!(kernel("thumbv8m.main-none-eabi", &[], Some(Helium)), Ok(Helium));
    assert_eq!(kernel("thumbv8m.main-none-eabihf", &["-Ctarget-cpu=cortex-m33"], Some(Helium)), Ok(Helium));
    assert_eq!(kernel("thumbv7em-none-eabi", &[], Some(Mainline)), Ok(Mainline));
    assert_eq!(kernel("thumbv7em-none-eabi", &[], Some(Baseline)), Ok(Baseline));
    assert_eq!(kernel("riscv32imc-unknown-none-elf", &[], Some(Riscv)), Ok(Riscv));
    let everywhere = [
        "thumbv7em-none-eabi",
        "armv7r-none-eabihf",
        "riscv32imc-unknown-none-elf",
        "x86_64-unknown-linux-gnu",
    ];
    for target in everywhere {
        assert_eq!(kernel(target, &[], Some(Portable)), Ok(Portable));
    }
    // Build scripts and tests of firmware run on a host with its features.
    assert_eq!(kernel("x86_64-unknown-linux-gnu", &[], Some(Dsp)), Ok(Portable));
    assert_eq!(kernel("riscv32imc-esp-espidf", &[], Some(Dsp)), Ok(Riscv));
}

#[test]
fn kernels_that_the_target_cannot_run_are_an_error_that_names_both() {
    let wrong = [
        ("thumbv6m-none-eabi", Mainline, "kernel-baseline"),
        ("thumbv7m-none-eabi", Dsp, "kernel-mainline"),
        ("thumbv7em-none-eabihf", Helium, "kernel-dsp"),
        ("thumbv8m.base-none-eabi", Dsp, "kernel-baseline"),
        ("armv7r-none-eabihf", Dsp, "kernel-portable"),
        ("riscv32imac-unknown-none-elf", Baseline, "kernel-riscv"),
        ("riscv32i-unknown-none-elf", Riscv, "kernel-portable"),
        ("thumbv7em-none-eabi", Riscv, "kernel-dsp"),
    ];
    for (target, forced, possible) in wrong {
        let message = kernel(target, &[], Some(forced)).expect_err(target);
        assert!(message.contains(target) && message.contains(possible), "{message}");
    }
    let off = kernel("thumbv8m.main-none-eabi", &["-C", "target-feature=-dsp"], Some(Dsp));
    assert!(off.is_err(), "the compiler's flags rule DSP out");
    let off = kernel("thumbv8m.main-none-eabi", &["-C", "target-feature=-mve"], Some(Helium));
    assert!(off.is_err(), "the compiler's flags rule Helium out");
}

#[test]
fn the_assembler_accepts_afterwards_what_it_did_before() {
    let after = |target: &str, flags: &[&str]| dsp_directives(target, &Core::of_flags(flags))[1].clone();
    assert_eq!(after("thumbv8m.main-none-eabi", &[]), ".arch armv8-m.main");
    assert_eq!(after("thumbv8m.main-none-eabihf", &[]), ".arch armv8-m.main; .fpu fpv5-sp-d16");
    assert_eq!(after("thumbv8m.main-none-eabihf", &["-Ctarget-cpu=cortex-m55"]), ".cpu cortex-m55");
    assert_eq!(after("thumbv8m.main-none-eabi", &["-Ctarget-feature=+dsp"]), ".cpu cortex-m33");
    assert_eq!(after("thumbv8m.main-none-eabi", &["-Ctarget-feature=+mve"]), ".cpu cortex-m55");
    // DSP instructions are part of the architecture.
    assert_eq!(after("thumbv7em-none-eabi", &[]), "");
}
