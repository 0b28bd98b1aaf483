//! Checkpoint files: what a model is, read without copying, written with the feature `std`.
//!
//! The byte layout is written down in `SPEC.md` beside this module. Reader and writer share one definition
//! of it: [`spec`] for the header and `layout` for the payload. A latent model is two such checkpoints in one
//! ([`LatentCheckpoint`]). This module moves bytes and checks them; it does none of the network's arithmetic.

#[cfg(feature = "std")]
mod arrange;
mod crc;
mod decode;
mod error;
mod floats;
mod frame;
mod latent;
mod layout;
mod memory;
#[cfg(feature = "std")]
mod pack;
#[cfg(feature = "float")]
mod plain;
#[cfg(feature = "quantized")]
mod quantized;
mod read;
#[cfg(feature = "std")]
mod rounding;
pub mod spec;
mod validate;
#[cfg(feature = "std")]
mod write;

pub use error::{Error, Part};
pub(crate) use floats::F32s;
pub use frame::Kind;
#[cfg(feature = "std")]
pub use latent::write_latent;
pub use latent::{Family, Forecast, LatentCheckpoint, LatentSpec, MAX_DRAWS, Prior};
#[cfg(all(feature = "std", feature = "float", target_arch = "x86_64"))]
pub(crate) use layout::LANES;
pub(crate) use layout::Vector;
#[cfg(feature = "float")]
pub(crate) use plain::{AffineView, Group, Weights};
#[cfg(feature = "quantized")]
pub(crate) use quantized::{QuantParams, QuantizedGroup, QuantizedView};
pub use read::Checkpoint;
pub(crate) use read::Cursor;
#[cfg(feature = "std")]
pub use rounding::GramMatrices;
pub use spec::{
    Activation, CellKind, LayerSpec, Layout, Likelihood, MAX_LAYERS, MAX_WIDTH, ModelSpec, MomentForm,
    OutputMode, OutputSpec, Target, UnitNoise, WeightFormat,
};
#[cfg(feature = "std")]
pub use write::{Affine, Contents, Scaler, write};

/// The format version this crate reads and writes.
pub const VERSION: u16 = 2;

/// Embeds a checkpoint in the program, aligned as accelerated kernels want it.
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
