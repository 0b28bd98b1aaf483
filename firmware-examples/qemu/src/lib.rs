//! What the images share: the embedded models, their streams, and the way out.
//!
//! One body for every core. Nothing here knows which machine it runs on except the choice of start-up crate and,
//! for the measuring image, [`meter`].

#![no_std]

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

#[path = "../../../tests/src/fingerprint.rs"]
pub mod fingerprint;
pub mod jobs;
pub mod meter;
#[path = "../../../tests/src/numbers.rs"]
pub mod numbers;
#[path = "../../../tests/src/replay.rs"]
pub mod replay;

use core::fmt::Display;

use semihosting::{eprintln, process};

/// Ends the emulation with success.
pub fn done() -> ! {
    process::exit(0)
}

/// Says why on the host's standard error and ends the emulation with failure.
pub fn fail(reason: impl Display) -> ! {
    eprintln!("{reason}");
    process::exit(1)
}
