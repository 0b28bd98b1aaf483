//! From files to batches.
//!
//! A recording passes through the parts of this module in order: a file in one of five formats ([`csv`],
//! [`npy`], `parquet`, [`bag`], [`piano_roll`]) becomes a [`Table`] of named columns, split into sequences;
//! the `[data]` section of a config selects columns and rows and makes a [`Dataset`]; a [`Scaling`] is fitted
//! on its training split, an [`InputDensity`] and, if the config asks for one, a [`LinearPart`] with it; in
//! every epoch, an [`Augmentation`] and [`FreshNoise`] transform the training sequences, and [`InputGaps`]
//! remove inputs from them; and [`batch`] turns sequences into standardised, padded, masked arrays for
//! training.
//!
//! [`text`] becomes a stream of tokens instead, each the index of a word or a character in a vocabulary.
//!
//! [`labelled`] sequences have a class each, which is their only target.
//!
//! A missing value is `NaN` up to the batch, where it becomes a mean and a variance.

mod augment;
pub mod bag;
pub mod batch;
pub mod csv;
mod dataset;
mod density_shrinkage;
mod envelope;
mod infer_format;
mod input_density;
mod input_gaps;
mod interpolate;
pub mod labelled;
mod linear_part;
mod lines;
mod load;
mod look_ahead;
pub(crate) mod normal_equations;
pub mod npy;
mod overlap;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod piano_roll;
mod read_file;
mod read_source;
mod recording_noise;
pub(crate) mod ridge;
mod row_classes;
mod row_list;
mod row_source;
mod rows;
mod scaler;
mod select_columns;
mod split;
mod table;
pub mod text;
mod uninformative;
mod watch;

pub use augment::Augmentation;
pub use dataset::{Dataset, EpochChanges};
pub use input_density::InputDensity;
pub use input_gaps::InputGaps;
pub use interpolate::interpolated;
pub use labelled::LabelledSequences;
pub use linear_part::{LinearPart, MOST_LINEAR_VALUES};
pub use look_ahead::LookAhead;
pub use read_file::{FileChecksum, ReadFile, changed_file};
pub use recording_noise::FreshNoise;
pub use ridge::ridge_rows;
pub(crate) use row_source::open_rows;
pub use rows::{Rows, Sequence};
pub use scaler::{Scaler, Scaling};
pub use table::Table;
pub(crate) use watch::WatchedReading;
pub use watch::{ReadingObserver, watch_reading};

#[cfg(test)]
pub(crate) mod benchmark_tests;
#[cfg(test)]
mod mutation_tests;
