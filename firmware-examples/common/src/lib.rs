//! What the boards share, so that a board's own code is clocks, pins and drivers.
//!
//! A row's way: a source ([`rows::replay`], an [`imu`], the envelopes of an [`emg`]) offers it to a
//! [`RowQueue`] and never waits; the stepping task ([`step::run`]) takes it, steps the model, counts late
//! steps, and offers a frame to a [`Line`]; the board's sending task drains the line into a UART or USB.
//! With the feature `defmt` predictions are printed as well: "force_n 51.7 ± 4.7 N".
//!
//! Without an executor a [`Stepper`] does the same, one call per row.
#![cfg_attr(not(feature = "check"), no_std)]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod bench;
#[cfg(target_arch = "arm")]
mod cycles;
pub mod emg;
pub mod imu;
mod line;
pub mod models;
#[cfg(feature = "defmt")]
mod print;
pub mod programs;
mod queue;
pub mod replayed;
pub mod rows;
pub mod step;
mod stepper;
mod text;

#[cfg(test)]
mod tests;

#[cfg(target_arch = "arm")]
pub use cycles::CycleCounter;
pub use line::Line;
pub use queue::{Row, RowQueue};
pub use stepper::{FRAME_BYTES, Labels, Load, Step, Stepper, unit};
