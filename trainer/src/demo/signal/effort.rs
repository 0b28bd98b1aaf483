//! One effort of some muscles, and how unsteady it is.

use super::RAW_RATE_HZ;
use super::rng::{OrnsteinUhlenbeck, SignalRng};

/// One effort: every muscle rises to its level, holds it and relaxes, with a small delay relative to the
/// others.
pub(super) struct Effort<const MUSCLES: usize> {
    pub(super) start_s: f64,
    pub(super) rise_s: f64,
    pub(super) hold_s: f64,
    pub(super) fall_s: f64,
    pub(super) level: [f64; MUSCLES],
    pub(super) lag_s: [f64; MUSCLES],
}

/// Maximum delay of a muscle after the first, in seconds.
pub(super) const MAX_LAG_S: f64 = 0.08;

/// Relative standard deviation of the effort around its target, and its time constant: nobody holds a force
/// quite still.
const UNSTEADINESS: f64 = 0.08;
const UNSTEADINESS_S: f64 = 0.4;

impl<const MUSCLES: usize> Effort<MUSCLES> {
    /// When the last muscle has relaxed.
    pub(super) fn end_s(&self) -> f64 {
        self.start_s + MAX_LAG_S + self.rise_s + self.hold_s + self.fall_s
    }

    /// Activation of one muscle at time `t`, in 0…1.
    fn activation(&self, muscle: usize, t: f64) -> f64 {
        let since_onset = t - self.start_s - self.lag_s[muscle];
        let since_release = since_onset - self.rise_s - self.hold_s;
        self.level[muscle]
            * (minimum_jerk(since_onset / self.rise_s) - minimum_jerk(since_release / self.fall_s))
    }

    /// Writes the effort into the samples it spans.
    pub(super) fn paint(&self, activations: &mut [[f64; MUSCLES]]) {
        let first = (self.start_s * RAW_RATE_HZ) as usize;
        let end = ((self.end_s() * RAW_RATE_HZ) as usize + 1).min(activations.len());
        for (sample, row) in activations.iter_mut().enumerate().take(end).skip(first) {
            *row = core::array::from_fn(|muscle| self.activation(muscle, sample as f64 / RAW_RATE_HZ));
        }
    }
}

/// The minimum-jerk polynomial from 0 at `progress` = 0 to 1 at `progress` = 1 (Flash and Hogan 1985, "The
/// coordination of arm movements", point-to-point movement).
fn minimum_jerk(progress: f64) -> f64 {
    let p = progress.clamp(0.0, 1.0);
    p * p * p * (10.0 + p * (6.0 * p - 15.0))
}

/// Adds random deviations to each muscle's effort, within its range.
pub(super) fn unsteady<const MUSCLES: usize>(noise: &mut SignalRng, activations: &mut [[f64; MUSCLES]]) {
    let mut strays: [OrnsteinUhlenbeck; MUSCLES] =
        core::array::from_fn(|_| OrnsteinUhlenbeck::new(noise, UNSTEADINESS, UNSTEADINESS_S, RAW_RATE_HZ));
    for row in activations {
        for (activation, stray) in row.iter_mut().zip(&mut strays) {
            *activation = (*activation * (1.0 + stray.step(noise))).clamp(0.0, 1.0);
        }
    }
}
