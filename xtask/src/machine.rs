//! The emulated cores, and how QEMU starts each.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::shell::Shell;

/// A healthy image ends within seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// A core and the machine that QEMU emulates around it.
#[derive(Debug)]
pub(crate) struct Machine {
    /// What to call the core in tables.
    pub(crate) core: &'static str,
    /// What the compiler builds for.
    pub(crate) target: &'static str,
    /// QEMU's program and the arguments that choose the machine.
    qemu: &'static str,
}

/// Every machine that golden streams run on.
pub(crate) const MACHINES: [Machine; 6] = [
    Machine { core: "M0", target: "thumbv6m-none-eabi", qemu: "qemu-system-arm -machine microbit" },
    Machine { core: "M3", target: "thumbv7m-none-eabi", qemu: "qemu-system-arm -machine mps2-an385" },
    Machine { core: "M4F", target: "thumbv7em-none-eabihf", qemu: "qemu-system-arm -machine mps2-an386" },
    Machine { core: "M7", target: "thumbv7em-none-eabihf", qemu: "qemu-system-arm -machine mps2-an500" },
    Machine { core: "M33", target: "thumbv8m.main-none-eabihf", qemu: "qemu-system-arm -machine mps2-an505" },
    Machine {
        core: "RV32",
        target: "riscv32imac-unknown-none-elf",
        qemu: "qemu-system-riscv32 -machine virt -bios none",
    },
];

/// The core that the firmware example is built for by default.
pub(crate) const DEFAULT_TARGET: &str = "thumbv7em-none-eabihf";

/// The targets of the machines, each once, in order.
pub(crate) fn targets() -> Vec<&'static str> {
    let mut targets: Vec<_> = MACHINES.iter().map(|machine| machine.target).collect();
    targets.dedup();
    targets
}

impl Machine {
    /// Runs an image and returns what it printed.
    pub(crate) fn run(&self, elf: &Path) -> Result<String> {
        self.command(elf, "").run().with_context(|| format!("{} on {}", elf.display(), self.core))
    }

    /// Like [`run`](Self::run), with time that passes by executed instructions: eight nanoseconds each, so
    /// that SysTick's 24 bits span the longest step and still resolve some five instructions.
    pub(crate) fn run_counting(&self, elf: &Path) -> Result<String> {
        self.command(elf, "-icount shift=3")
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
