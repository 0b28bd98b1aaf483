//! Limits on magnitudes. Together they keep every sum of a step inside the finite range of f32.
//!
//! Units and inputs are within ±10⁶ with variances up to 10¹², weights within ±10⁶ with variances up to 10¹²
//! (checked when a checkpoint is read). A pre-activation of the widest layer then stays below 10¹⁶, and its
//! variance below 10³⁵ even with the strongest noise.

/// Largest magnitude of a unit's mean, and square root of its largest variance.
///
/// Saturating units never reach it. It keeps an unstable network of rectified linear units, or a cell that
/// counts for weeks, inside the finite range.
pub(crate) const UNIT_LIMIT: f32 = 1e6;
/// Largest magnitude of a weight, a bias or a noise variance of units.
pub(crate) const WEIGHT_LIMIT: f32 = 1e6;
/// Largest variance of a weight, a bias or an output's noise.
pub(crate) const VAR_LIMIT: f32 = 1e12;
/// Scales of raw units lie between the inverse of this and this.
pub(crate) const SCALE_LIMIT: f32 = 1e18;
/// Largest magnitude of a channel's training mean.
pub(crate) const MEAN_LIMIT: f32 = 1e30;
/// Largest magnitude of a component of an embedding: a sum of 2²⁴ values within the limit of units.
pub(crate) const EMBEDDING_LIMIT: f32 = 2e13;
