//! Images in emulators, and what they send.

use std::fs::{self, File};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::rp2040js;
use crate::shell::Shell;

/// Rows that must arrive: once all that are stored.
pub(super) const ROWS: usize = 200;
/// Bytes that hold so many rows, with names and units once per second; a row takes at most 72.
pub(super) const BYTES: u64 = 16_000;
/// A healthy image is done within seconds, on an idle machine.
pub(super) const LIMIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(50);

/// What executes an image.
pub(super) enum Emulator {
    /// The RP2040, by rp2040js on Node.js; bytes come from UART 0.
    Rp2040js,
    /// A machine of QEMU whose first serial port the image sends to.
    QemuSerial { machine: &'static str },
    /// A machine of QEMU to whose standard output the image sends, by semihosting. An instruction takes 2ⁿ
    /// nanoseconds: embassy waits in a loop there, which costs as many instructions as time.
    QemuSemihosting { machine: &'static str, nanoseconds: u32, ends_itself: bool },
}

impl Emulator {
    /// In one line, what is missing to run it.
    pub(super) fn missing(&self) -> Result<Option<String>> {
        match self {
            Emulator::Rp2040js => rp2040js::missing(),
            Emulator::QemuSerial { .. } | Emulator::QemuSemihosting { .. } => {
                let version = Shell::new("qemu-system-arm").argument("--version").capture();
                let is_there = version.is_ok_and(|captured| captured.status.success());
                Ok((!is_there).then(|| "QEMU missing; type: cargo xtask setup".into()))
            }
        }
    }

    /// Runs an image until it has sent enough, or ends itself.
    pub(super) fn run(&self, image: &Path, sent: &Path, limit: Duration) -> Result<()> {
        let kernel = |qemu: Shell| qemu.argument("-kernel").argument(image.display().to_string());
        match self {
            Emulator::Rp2040js => rp2040js::run(image, sent),
            Emulator::QemuSerial { machine } => {
                let serial = format!("file:{}", sent.display());
                let qemu = qemu(machine).words("-icount shift=3,sleep=off -serial").argument(serial);
                let nowhere = File::create(sent.with_extension("log"))?;
                until_enough(&kernel(qemu), nowhere, sent, false, limit)
            }
            Emulator::QemuSemihosting { machine, nanoseconds, ends_itself } => {
                let qemu = qemu(machine)
                    .words("-serial none -semihosting-config enable=on,target=native -icount")
                    .argument(format!("shift={nanoseconds}"));
                let stdout =
                    File::create(sent).with_context(|| format!("cannot write {}", sent.display()))?;
                until_enough(&kernel(qemu), stdout, sent, *ends_itself, limit)
            }
        }
    }
}

fn qemu(machine: &str) -> Shell {
    Shell::new("qemu-system-arm").words("-nographic -monitor none -machine").argument(machine)
}

/// Images that replay rows do so for ever, and are ended when there is enough to compare; others end
/// themselves.
fn until_enough(
    command: &Shell,
    stdout: File,
    sent: &Path,
    ends_itself: bool,
    limit: Duration,
) -> Result<()> {
    let mut child = command.spawn_into(stdout).with_context(|| format!("to repeat: {command}"))?;
    let outcome = wait(&mut child, sent, ends_itself, limit);
    let _ = child.kill();
    let _ = child.wait();
    outcome.with_context(|| format!("to repeat: {command}"))
}

fn wait(child: &mut Child, sent: &Path, ends_itself: bool, limit: Duration) -> Result<()> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "the emulator ended with {status}");
            return Ok(());
        }
        if !ends_itself && fs::metadata(sent).is_ok_and(|file| file.len() >= BYTES) {
            return Ok(());
        }
        if begin.elapsed() > limit {
            bail!("{} bytes after {} s", fs::metadata(sent).map_or(0, |file| file.len()), limit.as_secs());
        }
        thread::sleep(POLL);
    }
}
