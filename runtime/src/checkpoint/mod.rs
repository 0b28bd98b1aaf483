//! Checkpoint files: read without copying, written with the feature `write`.
//!
//! The format is specified in `SPEC.md` next to this module. A [`Checkpoint`] is one network: its
//! architecture, a [`ModelSpec`], and its numbers. A [`LatentCheckpoint`] is two of them, a
//! [`ReducerCheckpoint`] one and a classifier. Reading checks everything once, so that a step has nothing
//! left to check.

mod latent;
mod latent_known;
mod latent_validate;
mod read;
mod reducer;
mod reducer_validate;
#[cfg(feature = "write")]
mod rewrite;
#[cfg(feature = "write")]
mod write;
#[cfg(feature = "write")]
mod write_latent;
#[cfg(feature = "write")]
mod write_reducer;

pub use crate::format::{Error, Kind, Part, Recheck, VERSION};
pub use crate::spec::{
    Activation, AnomalySpec, AutoregressivePrior, CellKind, ClassifierSpec, DensitySpec, Extensions, Family,
    Forecast, Imputation, LatentSpec, LayerSpec, Layout, Likelihood, LinearSpec, MAX_DRAWS, MAX_LAYERS,
    MAX_NEIGHBOURS, MAX_POOLS, MAX_WIDTH, ModelSpec, MomentForm, NoveltyScore, OutputMode, OutputSpec,
    PoolOver, Pooling, Prior, ReducerSpec, Target, TrackingSpec, UnitNoise, WeightFormat, Window,
};
pub use latent::LatentCheckpoint;
pub(crate) use latent_known::KnownLatentCheckpoint;
pub use read::Checkpoint;
pub use reducer::ReducerCheckpoint;
pub(crate) use reducer::{ClassifierNumbers, line};

#[cfg(feature = "write")]
pub use crate::encode::Affine;
#[cfg(feature = "write")]
pub use crate::format::WriteError;
#[cfg(feature = "write")]
pub use rewrite::rewrite;
#[cfg(feature = "write")]
pub use write::{Contents, Scaler, write};
#[cfg(feature = "write")]
pub use write_latent::{FittedPrior, write_latent};
#[cfg(feature = "write")]
pub use write_reducer::{ReducerContents, write_reducer};

/// Checks a checkpoint of one network or of a latent model and returns the number by which
/// [`embed_model!`](crate::embed_model), [`embed_denoiser!`](crate::embed_denoiser) and
/// [`embed_sampler!`](crate::embed_sampler) recognise exactly its bytes. `quaver export` writes it into
/// `model.rs`.
///
/// # Errors
/// As [`Checkpoint::read`] and [`LatentCheckpoint::read`].
pub fn seal(bytes: &[u8]) -> Result<u64, Error> {
    match Kind::of(bytes) {
        Some(Kind::Latent) => LatentCheckpoint::read(bytes).map(|_| ())?,
        _ => Checkpoint::read(bytes).map(|_| ())?,
    }
    Ok(crate::format::fingerprint(bytes))
}

/// Embeds a checkpoint in the program, at an address that is a multiple of 16, as accelerated kernels need
/// it.
///
/// ```
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
/// assert!(quaver::checkpoint::Checkpoint::read(MODEL).is_ok());
/// ```
#[macro_export]
macro_rules! include_checkpoint {
    ($path:expr $(,)?) => {{
        #[repr(C, align(16))]
        struct Aligned<T: ?Sized>(T);
        static CHECKPOINT: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &CHECKPOINT.0
    }};
}
