//! From files to batches.
//!
//! A sample walks through this module in the order of its parts: a file in one of three formats ([`csv`],
//! [`npy`], [`piano_roll`]) becomes a [`Table`] of named columns cut into sequences; the [`DataConfig`] (the
//! `[data]` section of a config) picks columns and rows and puts a [`Dataset`] together; a [`Scaling`] is
//! fitted on its training split; in every epoch, an [`Augmentation`] and [`FreshNoise`] make training sequences what they might
//! have been; and [`batch`] turns sequences into standardised, padded, masked arrays for the trainer.
//!
//! A missing value is `NaN` in everything up to the batch, where it becomes a mean and a variance.

mod augment;
pub mod batch;
pub mod csv;
mod dataset;
mod envelope;
mod infer_format;
mod interpolate;
mod lines;
mod load;
pub mod npy;
pub mod piano_roll;
mod read_source;
mod recording_noise;
mod row_list;
mod rows;
mod scaler;
mod select_columns;
mod split;
mod table;

pub use augment::Augmentation;
pub use dataset::Dataset;
pub use interpolate::interpolated;
pub use recording_noise::FreshNoise;
pub use rows::{Rows, Sequence};
pub use scaler::{Scaler, Scaling};
pub use table::Table;

#[cfg(test)]
pub(crate) mod benchmark_tests;
#[cfg(test)]
mod mutation_tests;
