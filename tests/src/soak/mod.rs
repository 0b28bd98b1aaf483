//! Hours of a stream in minutes: bursts of garbage between stretches of clean rows, and a periodic input that
//! goes on and on.
//!
//! A twin of the stream reads the clean rows alone. After each burst the two are compared: how many clean
//! rows does it take until the predictions agree again, and do they ever? All the while every prediction is
//! finite, no variance is negative, and now and then, in the middle of a burst as well, the state is checked,
//! saved, restored and continued. `cargo xtask soak` runs it; the test `soak` is a short round.
//!
//! - [`cases`]: the models, and their clean rows. [`bursts`]: the garbage.
//! - [`recovery`]: bursts and the way back. [`drift`]: a periodic input.
//! - [`campaign`]: all cases on all cores of this machine. [`table`]: what it prints.

pub mod bursts;
pub mod campaign;
pub mod cases;
pub mod drift;
pub mod recovery;
pub mod table;
