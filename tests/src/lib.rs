//! Material shared by the tests across crates, by the firmware images and by the benchmarks: small models and
//! streams that are the same, bit for bit, wherever they are made.
//!
//! - [`golden`]: one case per thing the runtime can do, replayed on the host and on every emulated core.
//! - [`attack`]: crafted checkpoints at and just beyond every bound of the format.
//! - [`golden_adaptive`]: the same for models that learn while they run.
//! - [`golden_ranges`]: the same for models with plausible ranges.
//! - [`golden_linear`]: the same for models with a linear part.
//! - [`golden_latent`]: the same for denoiser, sampler and rollouts.
//! - [`golden_pruned`]: the same for pruned networks.
//! - [`golden_reducer`]: the same for reducers.
//! - [`golden_text`]: the same for tokens and draws of them.
//! - [`damage`]: damaged checkpoints, which every reader refuses.
//! - [`fixtures`]: checkpoints of the past, with what they answered.
//! - [`forearm`]: a reducer made by hand; the runtime's example.
//! - [`gait`]: a model made by hand whose predictions make sense to a reader; the firmware example shows it.
//! - [`latent`]: latent models of every kind.
//! - [`leg`]: latent models made by hand, whose answers can be worked out on paper.
//! - [`pruning`]: networks without some of their weights.
//! - [`reducer`]: reducers of every kind.
//! - [`soak`]: bursts of garbage between stretches of a clean stream, for hours.
//! - [`stream`]: a stream of any kind of model.
//! - [`mod@bench`]: models of typical sizes, for instruction counts and memory.
//! - [`signing`]: signed envelopes, with a key that everybody knows.
//! - [`replay`], [`fingerprint`], [`numbers`], [`text`]: what firmware shares, from `quaver-streams`.

pub mod attack;
pub mod bench;
pub mod damage;
pub mod fixtures;
pub mod forearm;
pub mod gait;
pub mod golden;
pub mod golden_adaptive;
pub mod golden_latent;
pub mod golden_linear;
pub mod golden_pruned;
pub mod golden_ranges;
pub mod golden_reducer;
pub mod golden_text;
pub mod latent;
pub mod leg;
pub mod pruning;
pub mod reducer;
pub mod signing;
pub mod soak;
pub mod stream;

pub use quaver_streams::{fingerprint, numbers, replay, text};

/// A model and the rows it is to see.
#[derive(Clone, Debug)]
pub struct Case {
    /// Lower-case words joined by hyphens.
    pub name: String,
    /// The checkpoint.
    pub model: Vec<u8>,
    /// Channels per row.
    pub inputs: usize,
    /// Row after row, in raw units; NaN is a missing value.
    pub stream: Vec<f32>,
    /// What is asked of the model.
    pub task: replay::Task,
}

/// The example of a how-to page, compiled and run likewise.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/choose-a-size.md")]
pub struct ChooseASize;

/// The examples of the project's README, compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
