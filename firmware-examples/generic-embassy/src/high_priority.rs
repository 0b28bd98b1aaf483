//! An executor in an interrupt: its tasks interrupt those of the main one, where the model runs.

#![allow(unsafe_code, reason = "interrupt handlers are unsafe functions")]

use cortex_m::interrupt::InterruptNumber;
use cortex_m_rt::exception;
use embassy_executor::{InterruptExecutor, SendSpawner};

static EXECUTOR: InterruptExecutor = InterruptExecutor::new();

/// An interrupt that no hardware raises on the emulated machines.
#[derive(Clone, Copy)]
struct Unused;

// SAFETY: 25 is below the number of interrupts of every Cortex-M with 32 or more, and is the only one in use.
unsafe impl InterruptNumber for Unused {
    fn number(self) -> u16 {
        25
    }
}

/// The handler of every interrupt.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    // SAFETY: the only interrupt that is enabled is the one with which the executor was started.
    unsafe { EXECUTOR.on_interrupt() }
}

/// Starts it; the main executor has a lower priority, since it is no interrupt at all.
pub fn start() -> SendSpawner {
    EXECUTOR.start(Unused)
}
