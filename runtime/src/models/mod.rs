//! Models with their streams: what a user holds.

mod adaptive;
#[cfg_attr(not(feature = "float"), allow(dead_code))] // other backends step streams one by one
mod batch;
mod classes;
mod cost;
mod display;
mod embedded;
mod emitter;
mod handle;
mod implausible;
mod input;
mod input_density;
mod latent;
mod linear_part;
mod memory;
mod model;
mod monitor;
mod outputs;
mod parts;
mod prediction;
mod predictor;
mod reducer;
mod row_step;
mod state;
mod tracking;

pub use adaptive::{AdaptOptions, AdaptivePredictor, Covariance};
#[cfg(feature = "write")]
pub(crate) use classes::draw_class_at;
pub use display::WithUnit;
pub use embedded::{Embedded, is_predictor, is_sealed};
pub use latent::{
    Denoiser, EmbeddedLatent, FeedMode, Futures, KnownLatent, LatentModel, LoadedLatent, Rollouts, Sampler,
    is_denoiser, is_sampler,
};
pub use memory::{adaptive_arena_words, arena_words};
pub use model::Model;
pub use parts::{Known, Loaded};
pub use prediction::{Novelty, Output, Prediction, Surprise};
pub use predictor::Predictor;
pub use reducer::{Classification, Embedding, Reducer, ReducerModel};
pub use state::State;
