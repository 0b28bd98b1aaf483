//! Reducers: a network reads a sequence, pooling makes it a point, its embedding, and a classifier makes the
//! point a class (Bayer 2015, thesis, chapter 3).
//!
//! [`ReduceModel`] is the architecture: forward pass and pooling of a batch, and the [`objective`] that
//! training minimises. [`embed`] computes embeddings of whole data sets, mean and variance, by the formulas
//! of the runtime; [`classifier`] fits what makes them classes, and [`FittedReducer`] is all of it together.

pub mod classifier;
mod embed;
mod fitted;
mod model;
pub mod objective;
mod pool;

#[cfg(test)]
mod tests;

pub use embed::{Embeddings, embed};
pub use fitted::{FittedReducer, fit};
pub use model::ReduceModel;
