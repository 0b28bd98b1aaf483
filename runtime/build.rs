//! Chooses the kernels of the quantized backend from the target, as `cfg(quaver_kernel = "…")`.
//!
//! | target | kernels |
//! |---|---|
//! | `thumbv6m-*`, `thumbv8m.base-*` (Cortex-M0, M0+, M23) | `baseline` |
//! | `thumbv7m-*` (M3) | `mainline` |
//! | `thumbv7em-*` (M4, M7, any float ABI) | `dsp` |
//! | `thumbv8m.main-*` (M33, M55, M85) | `mainline`; `dsp` or `helium` where the compiler's flags name a core that has it |
//! | `riscv32im*` (ESP32-C3, C6 and H2, RP2350's Hazard3, CH32V2 and V3) | `riscv` |
//! | any other | `portable`; on x86-64 with sums in SSE2, which each of them has |
//!
//! DSP instructions are optional in Armv8-M Mainline, and so is Helium (MVE) in Armv8.1-M. They are used
//! where `-C target-cpu` names a core that LLVM builds with them, such as `cortex-m33` or `cortex-m55`, where
//! `-C target-feature` has `+dsp` or `+mve`, or where the feature `kernel-dsp` or `kernel-helium` forces
//! them.
//!
//! A feature `kernel-*` forces kernels. Of several the most modest wins, so that `--all-features` builds
//! everywhere. Kernels that the target cannot run are an error; under an operating system, where build
//! scripts and tests of firmware run with its features, they are ignored.
//!
//! It also says where square roots are one instruction, as `cfg(quaver_vsqrt)`.
//!
//! A script is needed because a stable compiler shows a crate neither the architecture of an Arm target nor
//! its features: `thumbv7em-none-eabihf`, `thumbv8m.main-none-eabihf` and `armv7r-none-eabihf` have the same
//! `cfg`.

use std::env;

/// Kernels. Those for Arm are each able to run wherever those after it can; portable ones run everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kernel {
    Portable,
    Baseline,
    Mainline,
    Dsp,
    Helium,
    Riscv,
}

impl Kernel {
    const ALL: [Kernel; 6] =
        [Kernel::Portable, Kernel::Baseline, Kernel::Mainline, Kernel::Dsp, Kernel::Helium, Kernel::Riscv];

    /// Its name in `cfg` and, after `kernel-`, as a feature.
    fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            Kernel::Baseline => "baseline",
            Kernel::Mainline => "mainline",
            Kernel::Dsp => "dsp",
            Kernel::Helium => "helium",
            Kernel::Riscv => "riscv",
        }
    }

    /// Whether these kernels run where `largest` are the most demanding ones that do.
    fn runs_where(self, largest: Kernel) -> bool {
        let one_family = (self == Kernel::Riscv) == (largest == Kernel::Riscv);
        self == Kernel::Portable || one_family && self <= largest
    }
}

/// What the compiler's flags say about the core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Core {
    /// `-C target-cpu`.
    pub(crate) name: Option<String>,
    /// Whether it has DSP instructions, if anything says so.
    pub(crate) has_dsp: Option<bool>,
    /// Whether it has Helium, if anything says so.
    pub(crate) has_mve: Option<bool>,
}

/// Armv8-M cores that LLVM builds with DSP instructions, as values of `-C target-cpu`.
const DSP_CORES: [&str; 7] =
    ["cortex-m33", "cortex-m35p", "cortex-m52", "cortex-m55", "cortex-m85", "star-mc1", "star-mc3"];

/// Those that it builds with Helium.
const MVE_CORES: [&str; 3] = ["cortex-m52", "cortex-m55", "cortex-m85"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let names = Kernel::ALL.map(|kernel| format!("{:?}", kernel.name())).join(", ");
    println!("cargo::rustc-check-cfg=cfg(quaver_kernel, values({names}))");
    println!("cargo::rustc-check-cfg=cfg(quaver_vsqrt)");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let mut core = Core::of_flags(&flags.split('\x1f').collect::<Vec<_>>());
    // Where the compiler shows it: not in stable releases yet.
    for feature in variable("CARGO_CFG_TARGET_FEATURE").split(',') {
        match feature {
            "dsp" => core.has_dsp = Some(true),
            "mve" => core.has_mve = Some(true),
            _ => {}
        }
    }
    let is_forced = |kernel: &Kernel| {
        env::var_os(format!("CARGO_FEATURE_KERNEL_{}", kernel.name().to_uppercase())).is_some()
    };
    let forced = Kernel::ALL.into_iter().find(is_forced);
    let target = variable("TARGET");
    match choose(&target, &core, forced) {
        Ok(kernel) => {
            println!("cargo::rustc-cfg=quaver_kernel={:?}", kernel.name());
            if has_square_roots(kernel, &variable("CARGO_CFG_TARGET_ABI")) {
                println!("cargo::rustc-cfg=quaver_vsqrt");
            }
        }
        Err(message) => println!("cargo::error={message}"),
    }
    let [before, after] = dsp_directives(&target, &core);
    println!("cargo::rustc-env=QUAVER_ACCEPT_DSP={before}");
    println!("cargo::rustc-env=QUAVER_ACCEPT_MVE={ACCEPT_MVE}");
    println!("cargo::rustc-env=QUAVER_ACCEPT_TARGET={after}");
}

/// Whether the core has an instruction for square roots, `cfg(quaver_vsqrt)`: its ABI passes numbers in
/// registers of a floating-point unit, and it is one that kernels in assembler are for.
pub(crate) fn has_square_roots(kernel: Kernel, abi: &str) -> bool {
    abi == "eabihf" && matches!(kernel, Kernel::Mainline | Kernel::Dsp | Kernel::Helium)
}

/// The architecture of a target: its name up to the first hyphen.
fn architecture(target: &str) -> &str {
    target.split('-').next().unwrap_or(target)
}

/// The kernels for a target.
pub(crate) fn choose(target: &str, core: &Core, forced: Option<Kernel>) -> Result<Kernel, String> {
    // Kernels by default, and the most demanding ones that the architecture allows.
    let (default, largest) = match architecture(target) {
        "thumbv6m" | "thumbv8m.base" => (Kernel::Baseline, Kernel::Baseline),
        "thumbv7m" => (Kernel::Mainline, Kernel::Mainline),
        "thumbv7em" => (Kernel::Dsp, Kernel::Dsp),
        "thumbv8m.main" => (Kernel::Mainline, Kernel::Helium),
        // Without M, or with the 16 registers of E, a core has nothing to gain from them.
        riscv if riscv.starts_with("riscv32im") => (Kernel::Riscv, Kernel::Riscv),
        _ => (Kernel::Portable, Kernel::Portable),
    };
    // What an Arm core has and has not of the extensions, the larger one last.
    let known = [(core.has_dsp, Kernel::Dsp, Kernel::Mainline), (core.has_mve, Kernel::Helium, Kernel::Dsp)];
    let (default, largest) =
        known.into_iter().fold((default, largest), |(default, largest), known| match known {
            _ if largest == Kernel::Riscv => (default, largest),
            (Some(true), with, _) => (default.max(largest.min(with)), largest),
            (Some(false), _, without) => (default.min(without), largest.min(without)),
            (None, ..) => (default, largest),
        });
    let kernel = forced.unwrap_or(default);
    let is_bare_metal = target.split('-').any(|part| part == "none");
    let runs = kernel.runs_where(largest);
    if !runs && !is_bare_metal {
        return Ok(default);
    }
    if !runs {
        let (wanted, possible) = (kernel.name(), largest.name());
        return Err(format!(
            "the feature `kernel-{wanted}` forces kernels that {target} cannot run; drop the feature to let the \
             target decide, or use `kernel-{possible}`"
        ));
    }
    Ok(kernel)
}

/// The directive before a function with Helium instructions; the one behind it is that of [`dsp_directives`].
/// LLVM has no name for the extension alone.
const ACCEPT_MVE: &str = ".cpu cortex-m55";

/// Directives before and after a function with DSP instructions: those that make the assembler accept them,
/// and those that make it accept what it did before.
///
/// The compiler also parses assembly without its flags, by the target alone, to find symbols; on Armv8-M it
/// then refuses DSP instructions whatever the flags are. With link-time optimisation the assembly of all
/// crates is one text, hence the second directive.
pub(crate) fn dsp_directives(target: &str, core: &Core) -> [String; 2] {
    if architecture(target) != "thumbv8m.main" {
        return [String::new(), String::new()];
    }
    let after = match &core.name {
        Some(name) => format!(".cpu {name}"),
        None if core.has_mve == Some(true) => ACCEPT_MVE.into(),
        None if core.has_dsp == Some(true) => ".cpu cortex-m33".into(),
        // The floating-point unit that goes with the ABI.
        None if target.ends_with("hf") => ".arch armv8-m.main; .fpu fpv5-sp-d16".into(),
        None => ".arch armv8-m.main".into(),
    };
    [".arch armv7e-m".into(), after]
}

impl Core {
    /// `-C target-feature` goes before `-C target-cpu`, as in the compiler itself.
    pub(crate) fn of_flags(flags: &[&str]) -> Self {
        let (mut dsp, mut mve, mut name) = (None, None, None);
        for option in codegen_options(flags) {
            match option.split_once('=') {
                Some(("target-cpu", core)) => name = Some(core.to_string()),
                Some(("target-feature", list)) => {
                    for feature in list.split(',') {
                        match feature {
                            "+dsp" => dsp = Some(true),
                            "-dsp" => dsp = Some(false),
                            "+mve" | "+mve.fp" => mve = Some(true),
                            "-mve" => mve = Some(false),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let among =
            |cores: &[&str]| name.as_deref().is_some_and(|name| cores.contains(&name)).then_some(true);
        Core { has_dsp: dsp.or(among(&DSP_CORES)), has_mve: mve.or(among(&MVE_CORES)), name }
    }
}

/// The values of `-C` and `--codegen`, in one argument or two.
fn codegen_options<'f>(flags: &[&'f str]) -> Vec<&'f str> {
    let mut options = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let attached = flag.strip_prefix("--codegen=").or_else(|| flag.strip_prefix("-C"));
        match attached {
            Some("") => options.extend(flags.next().copied()),
            Some(option) => options.push(option.trim_start()),
            None if *flag == "--codegen" => options.extend(flags.next().copied()),
            None => {}
        }
    }
    options
}
