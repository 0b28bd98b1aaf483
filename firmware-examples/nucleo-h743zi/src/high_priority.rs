//! An executor in an interrupt: its tasks interrupt those of the main one, where the model runs.

#![allow(unsafe_code, reason = "interrupt handlers are unsafe functions")]

use embassy_executor::{InterruptExecutor, SendSpawner};
use embassy_stm32::interrupt;
use embassy_stm32::interrupt::{InterruptExt, Priority};

static EXECUTOR: InterruptExecutor = InterruptExecutor::new();

/// The SPI of this interrupt is not in use.
#[interrupt]
unsafe fn SPI3() {
    // SAFETY: this is the handler of the interrupt with which the executor was started.
    unsafe { EXECUTOR.on_interrupt() }
}

/// Below the priority of drivers' own interrupts, above that of the main executor.
pub(crate) fn start() -> SendSpawner {
    interrupt::SPI3.set_priority(Priority::P6);
    EXECUTOR.start(interrupt::SPI3)
}
