//! What `replay` replays: a model of `quaver fit` with rows of its test data where `QUAVER_FIT` names its
//! folder while this is built, or else the model of `quaver demo`.

use quaver::{Arena, arena_words};

use crate::stepper::Labels;

include!(concat!(env!("OUT_DIR"), "/replayed.rs"));

/// Memory of a stream of [`MODEL`].
pub type ModelArena = Arena<{ arena_words(MODEL) }>;

/// Units of [`MODEL`].
pub const fn labels(device: &'static str) -> Labels {
    Labels { device, rate_hz: RATE_HZ as f32, inputs: INPUT_UNITS, outputs: OUTPUT_UNITS }
}
