//! Checkpoints of latent sequences: two complete checkpoints and how they belong together.

mod read;
mod spec;
mod validate;
#[cfg(feature = "std")]
mod write;

pub(super) use read::Header;
pub use read::LatentCheckpoint;
pub use spec::{Family, Forecast, LatentSpec, MAX_DRAWS, Prior};
#[cfg(feature = "std")]
pub use write::write_latent;
