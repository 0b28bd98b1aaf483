//! Recurrent networks that know how sure they are, one sample at a time, in fixed memory.
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

mod arena;
mod cells;
pub mod checkpoint;
mod kernels;
mod models;
pub mod moments;

pub use arena::Arena;
pub use checkpoint::Error;
pub use models::{Model, Output, Prediction, Predictor, State, Surprise};
