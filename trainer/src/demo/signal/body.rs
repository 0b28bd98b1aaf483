//! The one person who wears the armband: where their muscles lie and how strong these are.

use core::f64::consts::TAU;

/// Electrodes of the armband, evenly spaced around the forearm.
pub const ELECTRODES: usize = 8;

/// Muscles whose activation the electrodes see and the force comes from.
pub const MUSCLES: usize = 3;

/// Where each muscle lies around the forearm, in radians from the first electrode.
const MUSCLE_ANGLE: [f64; MUSCLES] = [0.5, 2.3, 4.6];

/// Force of each muscle at full activation, in newtons.
pub(super) const MUSCLE_STRENGTH_N: [f64; MUSCLES] = [55.0, 40.0, 25.0];

/// How well each electrode touches the skin: its gain relative to the best.
const CONTACT: [f64; ELECTRODES] = [0.93, 0.78, 1.00, 0.66, 0.88, 0.97, 0.72, 0.84];

/// How quickly a muscle fades around the arm. Skin and fat blur: at 3, a quarter turn away still leaves 5
/// %.
const FOCUS: f64 = 3.0;

/// What an electrode picks up of each muscle, 1 being the muscle right under a perfect contact.
pub(super) fn pick_up(electrode: usize) -> [f64; MUSCLES] {
    let angle = TAU * electrode as f64 / ELECTRODES as f64;
    MUSCLE_ANGLE.map(|muscle| CONTACT[electrode] * libm::exp(FOCUS * (libm::cos(angle - muscle) - 1.0)))
}
