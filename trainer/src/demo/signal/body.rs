//! The wearer of the armband: position and strength of their muscles.

use core::f64::consts::TAU;

/// Electrodes of the armband, evenly spaced around the forearm.
pub const ELECTRODES: usize = 8;

/// Muscles whose activation the electrodes see and the force comes from.
pub const MUSCLES: usize = 3;

/// Position of each muscle around the forearm, in radians from the first electrode.
const MUSCLE_ANGLE: [f64; MUSCLES] = [0.5, 2.3, 4.6];

/// Force of each muscle at full activation, in newtons.
pub(super) const MUSCLE_STRENGTH_N: [f64; MUSCLES] = [55.0, 40.0, 25.0];

/// Contact quality of each electrode: its gain relative to the best.
const CONTACT: [f64; ELECTRODES] = [0.93, 0.78, 1.00, 0.66, 0.88, 0.97, 0.72, 0.84];

/// Attenuation of a muscle around the arm by skin and fat: at 3, a quarter turn away leaves 5 %.
const FOCUS: f64 = 3.0;

/// Gain of each muscle at an electrode; 1 for a muscle directly under a perfect contact.
pub(super) fn pick_up(electrode: usize) -> [f64; MUSCLES] {
    pick_up_of(MUSCLE_ANGLE, electrode)
}

/// Gain of muscles at these angles at an electrode.
pub(super) fn pick_up_of<const N: usize>(muscles: [f64; N], electrode: usize) -> [f64; N] {
    let angle = TAU * electrode as f64 / ELECTRODES as f64;
    muscles.map(|muscle| CONTACT[electrode] * libm::exp(FOCUS * (libm::cos(angle - muscle) - 1.0)))
}
