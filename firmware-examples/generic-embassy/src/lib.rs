//! Any Cortex-M with SysTick: time, an interrupt for sampling, and frames by semihosting.
#![no_std]

mod high_priority;
mod panic;
pub mod port;
mod time;

pub use high_priority::start as start_sampling;
pub use time::{CLOCK_HZ, start as start_time, tick};

/// The name of the machine that the target's runner starts.
pub const NAME: &str = if cfg!(target_abi = "eabihf") { "netduinoplus2" } else { "microbit" };
