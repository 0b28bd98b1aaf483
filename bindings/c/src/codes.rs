//! Numbers of the interface. They never change their meaning; new ones are appended.

/// The version of this interface. It grows when a program that was compiled with an older header would no
/// longer work with this library; functions may be added without.
pub const QUAVER_ABI_VERSION: u32 = 1;

/// Alignment of an arena, in bytes.
pub const QUAVER_ARENA_ALIGNMENT: usize = 8;

/// It worked.
pub const QUAVER_OK: i32 = 0;
/// A pointer is null where something is needed.
pub const QUAVER_ERROR_NULL: i32 = -1;
/// A pointer is not aligned.
pub const QUAVER_ERROR_MISALIGNED: i32 = -2;
/// Memory that is written overlaps another argument, the arena or the model.
pub const QUAVER_ERROR_OVERLAP: i32 = -3;
/// Not a handle of this kind.
pub const QUAVER_ERROR_HANDLE: i32 = -4;
/// The handle is in use by another call.
pub const QUAVER_ERROR_BUSY: i32 = -5;
/// The memory for a result is too short.
pub const QUAVER_ERROR_SHORT: i32 = -6;
/// An argument is outside of its range.
pub const QUAVER_ERROR_RANGE: i32 = -7;
/// Not a checkpoint.
pub const QUAVER_ERROR_MAGIC: i32 = -20;
/// A checkpoint in a signed envelope.
pub const QUAVER_ERROR_SIGNED: i32 = -21;
/// A checkpoint of another kind.
pub const QUAVER_ERROR_KIND: i32 = -22;
/// A format version that this library does not read.
pub const QUAVER_ERROR_VERSION: i32 = -23;
/// The checkpoint is truncated, or longer than it says.
pub const QUAVER_ERROR_LENGTH: i32 = -24;
/// The checksum does not match.
pub const QUAVER_ERROR_CRC: i32 = -25;
/// The header cannot be decoded.
pub const QUAVER_ERROR_HEADER: i32 = -26;
/// A value of the checkpoint or a setting is outside of its range.
pub const QUAVER_ERROR_INVALID: i32 = -27;
/// The layout of the model is not built into this library.
pub const QUAVER_ERROR_NOT_BUILT_IN: i32 = -28;
/// The arena is too small.
pub const QUAVER_ERROR_ARENA: i32 = -29;
/// A step takes longer than allowed.
pub const QUAVER_ERROR_BUDGET: i32 = -30;
/// A saved state has another length.
pub const QUAVER_ERROR_STATE: i32 = -31;
/// A state holds a value that no step can have left.
pub const QUAVER_ERROR_STATE_VALUE: i32 = -32;
/// An error that this interface has no code for.
pub const QUAVER_ERROR_UNKNOWN: i32 = -99;

/// A checkpoint of one network: load it as a predictor.
pub const QUAVER_KIND_PREDICTOR: i32 = 1;
/// A latent model that removes noise: load it as a denoiser.
pub const QUAVER_KIND_DENOISER: i32 = 2;
/// A latent model that predicts and samples rows: load it as a sampler.
pub const QUAVER_KIND_SAMPLER: i32 = 3;

/// Feed back the mean of the next row: smooth futures.
pub const QUAVER_FEED_MEAN: i32 = 0;
/// Feed back a draw of the next row: futures like the data, noise included.
pub const QUAVER_FEED_DRAW: i32 = 1;

/// All numbers of the covariance of what is learned: exact.
pub const QUAVER_COVARIANCE_FULL: i32 = 0;
/// Its diagonal alone: less memory, learns more slowly.
pub const QUAVER_COVARIANCE_DIAGONAL: i32 = 1;

/// No anomaly, or a model without limits.
pub const QUAVER_ANOMALY_NONE: i32 = 0;
/// The row is unlikely given the rows before it.
pub const QUAVER_ANOMALY_UNLIKELY: i32 = 1;
/// The row is far from the training rows.
pub const QUAVER_ANOMALY_DISTANT: i32 = 2;
/// A channel has been off its prediction for some time in one direction.
pub const QUAVER_ANOMALY_SHIFTED: i32 = 3;
/// A channel has been predicted worse than usual for some time.
pub const QUAVER_ANOMALY_NOISY: i32 = 4;
/// A channel has not been what the other channels suggest for some time.
pub const QUAVER_ANOMALY_MISMATCHED: i32 = 5;
/// A channel changes more from row to row than it should.
pub const QUAVER_ANOMALY_ROUGH: i32 = 6;
/// A channel changes less from row to row than it should.
pub const QUAVER_ANOMALY_QUIET: i32 = 7;
/// A channel repeats one value.
pub const QUAVER_ANOMALY_STUCK: i32 = 8;
/// A channel returns to the same value above or below its mean.
pub const QUAVER_ANOMALY_SATURATED: i32 = 9;
/// The value of a channel is outside of its plausible range.
pub const QUAVER_ANOMALY_IMPLAUSIBLE: i32 = 10;
/// An anomaly that this interface has no code for.
pub const QUAVER_ANOMALY_OTHER: i32 = 99;
