//! The efforts of the wearer: grasps of varied strength and length with rests between them.

use super::RAW_RATE_HZ;
use super::body::MUSCLES;
use super::effort::{Effort, MAX_LAG_S, unsteady};
use super::rng::SignalRng;

/// Fraction of efforts without a hold phase: bells rather than trapezoids.
const BELL_SHARE: f64 = 0.35;

/// A random grasp that starts at `start_s`.
fn draw(noise: &mut SignalRng, start_s: f64) -> Effort<MUSCLES> {
    let strength = noise.uniform(0.15, 1.0);
    let is_bell = noise.uniform(0.0, 1.0) < BELL_SHARE;
    Effort {
        start_s,
        rise_s: noise.uniform(0.25, 0.9),
        hold_s: if is_bell { 0.0 } else { noise.uniform(0.3, 2.5) },
        fall_s: noise.uniform(0.25, 0.9),
        // Pinch, hook and fist distribute the effort differently over the muscles.
        level: core::array::from_fn(|_| strength * noise.uniform(0.2, 1.0)),
        lag_s: core::array::from_fn(|_| noise.uniform(0.0, MAX_LAG_S)),
    }
}

/// The activations of all muscles over `samples` samples.
pub(super) fn activations(noise: &mut SignalRng, samples: usize) -> Vec<[f64; MUSCLES]> {
    let mut activations = vec![[0.0; MUSCLES]; samples];
    let mut now_s = noise.uniform(0.2, 1.0);
    while now_s * RAW_RATE_HZ < samples as f64 {
        let grasp = draw(noise, now_s);
        grasp.paint(&mut activations);
        now_s = grasp.end_s() + noise.uniform(0.3, 1.5);
    }
    unsteady(&mut noise.branch(), &mut activations);
    activations
}
