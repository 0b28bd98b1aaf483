//! Conformal calibration: quantiles of residuals instead of those of a normal distribution, and a scale of
//! the error bar that follows the stream.
//!
//! A central interval of a level is m ± q s, with mean m, standard deviation s and a quantile q of |y − m|/s:
//! that of a normal distribution ([`normal_quantile`]), or one measured on held-out data (split conformal
//! prediction; Vovk, Gammerman and Shafer 2005, *Algorithmic Learning in a Random World*).
//!
//! When the truth arrives, a [`ScaleTracker`] corrects s by a factor e^θ: adaptive conformal inference (Gibbs
//! and Candès 2021, "Adaptive conformal inference under distribution shift", eq. 2) on the logarithm of a
//! scale, the quantile tracking of Angelopoulos, Candès and Tibshirani (2023, "Conformal PID control for time
//! series prediction", sec. 2). With the indicator e_t of a miss, the miss rate α and the rate γ,
//!
//! θ_{t+1} = θ_t + γ (e_t − α), |θ| ≤ B.
//!
//! The sum of γ (e_t − α) is θ_{T+1} − θ_1. Hence, as long as θ has not reached its bounds, *for any stream*,
//! drifting or adversarial,
//!
//! |(1/T) Σ e_t − α| ≤ (|θ_1| + B + γ) / (γ T).
//!
//! At a bound the rate of misses is whatever the stream makes it: intervals cannot grow further. A step
//! without truth changes nothing, and T counts the steps with truth.

use crate::random::quantile;

/// Levels of central intervals whose conformal quantiles a checkpoint can hold, increasing.
pub const LEVELS: [f32; 4] = [0.5, 0.8, 0.9, 0.95];

/// Half the width of a central interval of a normal distribution in standard deviations, Φ⁻¹((1 + level)/2),
/// to seven digits. Levels are kept within 0 and 1 − 10⁻⁶; NaN counts as 0.
///
/// ```
/// assert!((quaver::conformal::normal_quantile(0.9) - 1.644_854).abs() < 1e-5);
/// ```
pub fn normal_quantile(level: f32) -> f32 {
    let level = if level > 0.0 { level } else { 0.0 };
    let level = if level < MAX_LEVEL { level } else { MAX_LEVEL };
    -quantile(0.5 * (1.0 - level))
}

const MAX_LEVEL: f32 = 1.0 - 1e-6;

/// Index of a level in [`LEVELS`], up to the rounding of 1 − α.
pub fn stored_level(level: f32) -> Option<usize> {
    LEVELS.iter().position(|stored| (stored - level).abs() < 1e-6)
}

/// Half the width of a central interval in standard deviations, from quantiles that are stored for
/// [`LEVELS`].
///
/// Between two levels, the ratio to the normal quantile is interpolated linearly in the level; beyond them it
/// is that of the nearest.
pub fn interval_quantile(stored: impl Fn(usize) -> f32, level: f32) -> f32 {
    if let Some(index) = stored_level(level) {
        return stored(index);
    }
    let known = |index: usize| LEVELS.get(index).copied().unwrap_or(0.5);
    let ratio = |index: usize| stored(index) / normal_quantile(known(index));
    let smaller = LEVELS.iter().take_while(|known| **known < level).count();
    let (below, above) = (smaller.saturating_sub(1), smaller.min(LEVELS.len() - 1));
    let (low, high) = (known(below), known(above));
    let part = if high > low { (level - low) / (high - low) } else { 0.0 };
    (ratio(below) + part * (ratio(above) - ratio(below))) * normal_quantile(level)
}

/// Whether an observation lies outside the interval of `quantile` standard deviations: (y − m)² > q² v.
#[inline]
pub fn is_missed(mean: f32, variance: f32, observed: f32, quantile: f32) -> bool {
    let residual = observed - mean;
    residual * residual > quantile * quantile * variance
}

/// The step of adaptive conformal inference on a factor of the variance, e^2θ.
///
/// A miss multiplies the factor by e^(2γ(1 − α)), a hit by e^(−2γα). Both are computed once, so that a step
/// is a product and two comparisons. Rounding adds at most 2⁻²³/γ to the bound on the miss rate: each product
/// is off by a factor of at most 1 ± 2⁻²³, which counts like a change of α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleTracker {
    widen: f32,
    narrow: f32,
    smallest: f32,
    largest: f32,
}

impl ScaleTracker {
    /// A tracker with the rate γ, the miss rate α and the bound B on |θ|.
    pub fn new(rate: f32, miss_rate: f32, bound: f32) -> Self {
        ScaleTracker {
            widen: libm::expf(2.0 * rate * (1.0 - miss_rate)),
            narrow: libm::expf(-2.0 * rate * miss_rate),
            smallest: libm::expf(-2.0 * bound),
            largest: libm::expf(2.0 * bound),
        }
    }

    /// The factor on the variance after a miss or a hit.
    #[inline]
    pub fn next(&self, scale: f32, missed: bool) -> f32 {
        let scale = scale * if missed { self.widen } else { self.narrow };
        let scale = if scale < self.largest { scale } else { self.largest };
        if scale > self.smallest { scale } else { self.smallest }
    }

    /// Smallest and largest factor on the variance.
    pub fn bounds(&self) -> [f32; 2] {
        [self.smallest, self.largest]
    }
}

#[cfg(test)]
mod tests;
