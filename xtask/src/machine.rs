//! The emulated cores, and how QEMU starts each.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::image;
use crate::shell::Shell;

/// A healthy image ends within seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// A core, the machine that QEMU emulates around it, and how images for it are built.
#[derive(Debug)]
pub(crate) struct Machine {
    /// What to call the core in tables.
    pub(crate) core: &'static str,
    /// What the compiler builds for.
    pub(crate) target: &'static str,
    /// The kernels that the runtime must choose.
    pub(crate) kernel: &'static str,
    /// The feature that forces them, if the target alone does not decide so.
    pub(crate) feature: Option<&'static str>,
    /// The memory map, if it is not the target's usual one.
    memory: Option<&'static str>,
    /// QEMU's program and the arguments that choose the machine.
    qemu: &'static str,
    /// Whether it is there to test a choice of kernels alone. Golden streams run on it; it is not checked in
    /// any other way.
    pub(crate) is_variant: bool,
    /// Whether steps of the typical models are counted on it although it is a variant.
    is_counted: bool,
}

impl Machine {
    const fn new(core: &'static str, target: &'static str, kernel: &'static str, qemu: &'static str) -> Self {
        Machine {
            core,
            target,
            kernel,
            feature: None,
            memory: None,
            qemu,
            is_variant: false,
            is_counted: false,
        }
    }

    const fn forced(self, feature: &'static str) -> Self {
        Machine { feature: Some(feature), ..self }
    }

    const fn memory(self, memory: &'static str) -> Self {
        Machine { memory: Some(memory), ..self }
    }

    const fn variant(self) -> Self {
        Machine { is_variant: true, ..self }
    }

    const fn counted(self) -> Self {
        Machine { is_counted: true, ..self }
    }
}

/// Every machine that golden streams run on.
///
/// QEMU's M33 of the image AN521 has neither DSP instructions nor a floating-point unit; that of AN505 has
/// both. QEMU has no M23: its kernels, in an image for the smaller Armv6-M, run on the M33, which executes
/// all that an M23 does. The M55 is built for the M33, and forced to Helium: what is compiled is the same for
/// both.
pub(crate) const MACHINES: [Machine; 13] = [
    Machine::new("M0", "thumbv6m-none-eabi", "baseline", "qemu-system-arm -machine microbit"),
    Machine::new("M3", "thumbv7m-none-eabi", "mainline", "qemu-system-arm -machine mps2-an385"),
    Machine::new("M4", "thumbv7em-none-eabi", "dsp", "qemu-system-arm -machine mps2-an386").variant(),
    Machine::new("M4 no DSP", "thumbv7em-none-eabi", "mainline", "qemu-system-arm -machine mps2-an386")
        .forced("kernel-mainline")
        .variant(),
    Machine::new("M4F", "thumbv7em-none-eabihf", "dsp", "qemu-system-arm -machine mps2-an386"),
    Machine::new("M7", "thumbv7em-none-eabihf", "dsp", "qemu-system-arm -machine mps2-an500"),
    Machine::new("M33", "thumbv8m.main-none-eabihf", "dsp", "qemu-system-arm -machine mps2-an505"),
    Machine::new("M33 no DSP", "thumbv8m.main-none-eabi", "mainline", "qemu-system-arm -machine mps2-an521")
        .variant()
        .counted(),
    Machine::new("M23 on M33", "thumbv6m-none-eabi", "baseline", "qemu-system-arm -machine mps2-an521")
        .memory("mps2-an505")
        .variant()
        .counted(),
    Machine::new("M55", "thumbv8m.main-none-eabihf", "helium", "qemu-system-arm -machine mps3-an547")
        .forced("kernel-helium")
        .memory("mps3-an547"),
    Machine::new("M55 no MVE", "thumbv8m.main-none-eabi", "dsp", "qemu-system-arm -machine mps3-an547")
        .forced("kernel-dsp")
        .memory("mps3-an547")
        .variant(),
    Machine::new("RV32", "riscv32imac-unknown-none-elf", "riscv", RISCV),
    Machine::new("RV32 portable", "riscv32imac-unknown-none-elf", "portable", RISCV)
        .forced("kernel-portable")
        .variant(),
];

const RISCV: &str = "qemu-system-riscv32 -machine virt -bios none";

/// The core that the firmware example is built for by default.
pub(crate) const DEFAULT_TARGET: &str = "thumbv7em-none-eabihf";

/// The machines that are measured and checked in every way.
pub(crate) fn main_machines() -> impl Iterator<Item = &'static Machine> {
    MACHINES.iter().filter(|machine| !machine.is_variant)
}

/// The machines on which steps are counted: `typical` models on some variants as well; or those of these
/// cores, if any is named.
pub(crate) fn counted_machines(typical: bool, cores: &[String]) -> impl Iterator<Item = &'static Machine> {
    let is_counted = move |machine: &&Machine| {
        let by_default = !machine.is_variant || typical && machine.is_counted;
        if cores.is_empty() { by_default } else { cores.iter().any(|core| core == machine.core) }
    };
    MACHINES.iter().filter(is_counted)
}

/// A core by name.
///
/// # Errors
/// When there is none; the message lists those there are.
pub(crate) fn core_named(name: &str) -> Result<String, String> {
    let cores = MACHINES.map(|machine| machine.core);
    let found = cores.iter().find(|core| core.eq_ignore_ascii_case(name));
    found.map(|core| core.to_string()).ok_or_else(|| format!("there are {}", cores.join(", ")))
}

/// The targets of the main machines, each once, in order.
pub(crate) fn targets() -> Vec<&'static str> {
    let mut targets: Vec<_> = main_machines().map(|machine| machine.target).collect();
    targets.dedup();
    targets
}

impl Machine {
    /// The command that builds an image for it.
    pub(crate) fn build_command(&self, image: &str) -> Shell {
        self.adapted(image::build_command(image, self.target))
    }

    /// A command that builds for its target, with its kernels and its memory map.
    pub(crate) fn adapted(&self, build: Shell) -> Shell {
        let build = self
            .feature
            .into_iter()
            .fold(build, |build, feature| build.words("--features").argument(feature));
        self.memory.into_iter().fold(build, |build, memory| build.variable("QUAVER_MEMORY", memory))
    }

    /// What an image for it depends on: one image serves all machines for which these are the same.
    pub(crate) fn image_kind(&self) -> [Option<&'static str>; 3] {
        [Some(self.target), self.feature, self.memory]
    }

    /// Runs an image and returns what it printed.
    pub(crate) fn run(&self, elf: &Path) -> Result<String> {
        self.command(elf, "").run().with_context(|| format!("{} on {}", elf.display(), self.core))
    }

    /// Like [`run`](Self::run), with time that passes by executed instructions: eight nanoseconds each, so
    /// that SysTick's 24 bits span the longest step and still resolve some five instructions; for an image
    /// that runs so many models.
    pub(crate) fn run_counting(&self, elf: &Path, models: u32) -> Result<String> {
        self.command(elf, "-icount shift=3")
            .limit(models * LIMIT)
            .run()
            .with_context(|| format!("{} on {}", elf.display(), self.core))
    }

    /// The QEMU program that emulates it.
    pub(crate) fn program(&self) -> &'static str {
        self.qemu.split(' ').next().unwrap_or(self.qemu)
    }

    fn command(&self, elf: &Path, extra: &str) -> Shell {
        Shell::new(self.program())
            .words(self.qemu.trim_start_matches(self.program()))
            .words("-nographic -monitor none -serial none -semihosting-config enable=on,target=native")
            .words(extra)
            .argument("-kernel")
            .argument(elf.display().to_string())
            .limit(LIMIT)
    }
}
