//! An executor in an interrupt: its tasks interrupt those of the main one, where the model runs.

#![allow(unsafe_code, reason = "interrupt handlers are unsafe functions")]

use embassy_executor::{InterruptExecutor, SendSpawner};
use embassy_rp::interrupt;
use embassy_rp::interrupt::{InterruptExt, Priority};

static EXECUTOR: InterruptExecutor = InterruptExecutor::new();

/// No hardware raises this interrupt.
#[interrupt]
unsafe fn SWI_IRQ_1() {
    // SAFETY: this is the handler of the interrupt with which the executor was started.
    unsafe { EXECUTOR.on_interrupt() }
}

/// Below the priority of drivers' own interrupts, above that of the main executor.
pub(crate) fn start() -> SendSpawner {
    interrupt::SWI_IRQ_1.set_priority(Priority::P2);
    EXECUTOR.start(interrupt::SWI_IRQ_1)
}
