//! Words that handles take at the start of their arenas: constants of the header, so that an arena can be
//! sized when a program is compiled. Some room is left, so that they change rarely; a change is a new
//! version of the interface.

/// Words of a predictor's handle.
#[cfg(target_pointer_width = "32")]
pub const QUAVER_PREDICTOR_WORDS: usize = 200;
/// Words of a denoiser's handle.
#[cfg(target_pointer_width = "32")]
pub const QUAVER_DENOISER_WORDS: usize = 376;
/// Words of a sampler's handle.
#[cfg(target_pointer_width = "32")]
pub const QUAVER_SAMPLER_WORDS: usize = 376;
/// Words of the handle of an adaptive predictor.
#[cfg(target_pointer_width = "32")]
pub const QUAVER_ADAPTIVE_WORDS: usize = 224;
/// Words of the handle of rollouts.
#[cfg(target_pointer_width = "32")]
pub const QUAVER_ROLLOUTS_WORDS: usize = 16;

/// Words of a predictor's handle.
#[cfg(target_pointer_width = "64")]
pub const QUAVER_PREDICTOR_WORDS: usize = 288;
/// Words of a denoiser's handle.
#[cfg(target_pointer_width = "64")]
pub const QUAVER_DENOISER_WORDS: usize = 544;
/// Words of a sampler's handle.
#[cfg(target_pointer_width = "64")]
pub const QUAVER_SAMPLER_WORDS: usize = 544;
/// Words of the handle of an adaptive predictor.
#[cfg(target_pointer_width = "64")]
pub const QUAVER_ADAPTIVE_WORDS: usize = 336;
/// Words of the handle of rollouts.
#[cfg(target_pointer_width = "64")]
pub const QUAVER_ROLLOUTS_WORDS: usize = 32;
