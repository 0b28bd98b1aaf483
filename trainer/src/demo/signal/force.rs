//! From activations to the force that a gauge in the hand measures.

use super::RAW_RATE_HZ;
use super::body::{MUSCLE_STRENGTH_N, MUSCLES};
use super::filter::TwitchResponse;
use super::rng::SignalRng;

/// Electromechanical delay between the electrical signal and the pull on the tendon.
const DELAY_S: f64 = 0.06;

/// Contraction time of the twitch.
const CONTRACTION_S: f64 = 0.07;

/// Noise of the force gauge at rest, in newtons.
const GAUGE_STD_DEV_N: f64 = 0.4;

/// Additional noise per newton, since a hand is never quite still.
const GAUGE_STD_DEV_PER_N: f64 = 0.015;

/// Resolution of the gauge, in newtons.
const GAUGE_STEP_N: f64 = 0.01;

/// Standard deviation of the measured force around the true one, in newtons.
pub fn noise_std_dev(force_n: f64) -> f64 {
    GAUGE_STD_DEV_N + GAUGE_STD_DEV_PER_N * force_n
}

/// The true force: the sum over muscles, delayed and filtered by the twitch.
pub(super) fn from_activations(activations: &[[f64; MUSCLES]]) -> Vec<f64> {
    let delay = (DELAY_S * RAW_RATE_HZ) as usize;
    let rest = core::iter::repeat_n(&[0.0; MUSCLES], delay);
    let mut twitch = TwitchResponse::new(CONTRACTION_S, RAW_RATE_HZ);
    rest.chain(activations).take(activations.len()).map(|row| twitch.step(pull(row))).collect()
}

/// The static force of all muscles.
fn pull(activation: &[f64; MUSCLES]) -> f64 {
    activation.iter().zip(MUSCLE_STRENGTH_N).map(|(level, strength)| level * strength).sum()
}

/// The measured force.
pub(super) fn measure(noise: &mut SignalRng, force_n: &[f64]) -> Vec<f32> {
    let show = |&force: &f64| {
        let steps = ((force + noise_std_dev(force) * noise.normal()) / GAUGE_STEP_N).round();
        (steps * GAUGE_STEP_N) as f32 + 0.0
    };
    force_n.iter().map(show).collect()
}
