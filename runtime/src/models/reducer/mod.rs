//! Sequences reduced to points and classes: a network, a pool over time and a classifier.

mod classification;
mod classify;
mod model;
mod pool;
mod reducer_handle;
mod saved;
mod state;
mod taught;

pub use classification::{Classification, Embedding};
pub use model::ReducerModel;
pub(super) use model::reducer_words;
pub use reducer_handle::Reducer;
