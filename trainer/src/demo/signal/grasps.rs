//! The efforts of the wearer: grasps of varied strength and length with rests between them.

use super::RAW_RATE_HZ;
use super::body::MUSCLES;
use super::rng::{OrnsteinUhlenbeck, SignalRng};

/// One effort: every muscle rises to its level, holds it and relaxes, with a small delay relative to the
/// others.
struct Grasp {
    start_s: f64,
    rise_s: f64,
    hold_s: f64,
    fall_s: f64,
    level: [f64; MUSCLES],
    lag_s: [f64; MUSCLES],
}

/// Maximum delay of a muscle after the first, in seconds.
const MAX_LAG_S: f64 = 0.08;

/// Relative standard deviation of the effort around its target, and its time constant: nobody holds a force
/// quite still.
const UNSTEADINESS: f64 = 0.08;
const UNSTEADINESS_S: f64 = 0.4;

/// Fraction of efforts without a hold phase: bells rather than trapezoids.
const BELL_SHARE: f64 = 0.35;

impl Grasp {
    /// A random grasp that starts at `start_s`.
    fn draw(noise: &mut SignalRng, start_s: f64) -> Self {
        let strength = noise.uniform(0.15, 1.0);
        let is_bell = noise.uniform(0.0, 1.0) < BELL_SHARE;
        Self {
            start_s,
            rise_s: noise.uniform(0.25, 0.9),
            hold_s: if is_bell { 0.0 } else { noise.uniform(0.3, 2.5) },
            fall_s: noise.uniform(0.25, 0.9),
            // Pinch, hook and fist distribute the effort differently over the muscles.
            level: core::array::from_fn(|_| strength * noise.uniform(0.2, 1.0)),
            lag_s: core::array::from_fn(|_| noise.uniform(0.0, MAX_LAG_S)),
        }
    }

    /// When the last muscle has relaxed.
    fn end_s(&self) -> f64 {
        self.start_s + MAX_LAG_S + self.rise_s + self.hold_s + self.fall_s
    }

    /// Activation of one muscle at time `t`, in 0…1.
    fn activation(&self, muscle: usize, t: f64) -> f64 {
        let since_onset = t - self.start_s - self.lag_s[muscle];
        let since_release = since_onset - self.rise_s - self.hold_s;
        self.level[muscle]
            * (minimum_jerk(since_onset / self.rise_s) - minimum_jerk(since_release / self.fall_s))
    }
}

/// The minimum-jerk polynomial from 0 at `progress` = 0 to 1 at `progress` = 1 (Flash and Hogan 1985, "The
/// coordination of arm movements", point-to-point movement).
fn minimum_jerk(progress: f64) -> f64 {
    let p = progress.clamp(0.0, 1.0);
    p * p * p * (10.0 + p * (6.0 * p - 15.0))
}

/// The activations of all muscles over `samples` samples.
pub(super) fn activations(noise: &mut SignalRng, samples: usize) -> Vec<[f64; MUSCLES]> {
    let mut activations = vec![[0.0; MUSCLES]; samples];
    let mut now_s = noise.uniform(0.2, 1.0);
    while now_s * RAW_RATE_HZ < samples as f64 {
        let grasp = Grasp::draw(noise, now_s);
        paint(&mut activations, &grasp);
        now_s = grasp.end_s() + noise.uniform(0.3, 1.5);
    }
    unsteady(&mut noise.branch(), &mut activations);
    activations
}

/// Adds random deviations to each muscle's effort, within its range.
fn unsteady(noise: &mut SignalRng, activations: &mut [[f64; MUSCLES]]) {
    let mut strays: [OrnsteinUhlenbeck; MUSCLES] =
        core::array::from_fn(|_| OrnsteinUhlenbeck::new(noise, UNSTEADINESS, UNSTEADINESS_S, RAW_RATE_HZ));
    for row in activations {
        for (activation, stray) in row.iter_mut().zip(&mut strays) {
            *activation = (*activation * (1.0 + stray.step(noise))).clamp(0.0, 1.0);
        }
    }
}

/// Writes one grasp into the samples it spans.
fn paint(activations: &mut [[f64; MUSCLES]], grasp: &Grasp) {
    let first = (grasp.start_s * RAW_RATE_HZ) as usize;
    let end = ((grasp.end_s() * RAW_RATE_HZ) as usize + 1).min(activations.len());
    for (sample, row) in activations.iter_mut().enumerate().take(end).skip(first) {
        *row = core::array::from_fn(|muscle| grasp.activation(muscle, sample as f64 / RAW_RATE_HZ));
    }
}
