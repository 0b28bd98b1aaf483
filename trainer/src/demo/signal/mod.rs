//! Surface EMG of a forearm, and the grip force it stems from, made from scratch so that the truth is
//! known.
//!
//! A recording is built in the order in which a body and an armband would make it:
//!
//! 1. hidden activations of three muscles rise and fall in minimum-jerk efforts;
//! 2. each muscle turns its activation into band-limited noise whose *amplitude* follows the effort;
//! 3. eight electrodes pick up mixtures of the three, add noise, hum, wander and drift, clip and quantise,
//!    and now and then lose contact;
//! 4. the same activations, late and smoothed by the muscle twitch, become force.
//!
//! The sign of the EMG says nothing about the force, only its variance does, so a network has to rectify
//! and smooth before it can predict, which is the work that a real prosthesis or exoskeleton asks of it.
//!
//! Every number comes from `libm` and from one seeded generator: a seed gives the same recording on any
//! machine.

mod body;
mod electrodes;
mod filter;
mod force;
mod grasps;
mod recording;
mod rng;
#[cfg(test)]
mod tests;

pub use body::{ELECTRODES, MUSCLES};
pub use force::noise_std_dev as force_noise_std_dev;
pub use recording::{Recording, write_csv};

use rng::SignalRng;

/// Samples per second of the electrodes, before any reduction.
const RAW_RATE_HZ: f64 = 200.0;

/// Raw samples that one value of the envelope summarises: 20 ms.
const ENVELOPE_WINDOW: usize = 4;

/// What the armband sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignalForm {
    /// Every sample of every electrode: signed counts at 200 Hz.
    Raw200Hz,
    /// What many armbands send instead to save power: the mean absolute value over 20 ms, at 50 Hz.
    #[default]
    Envelope50Hz,
}

/// Records `seconds` of grasping and resting. The person is always the same; `seed` decides what they do
/// and all noise.
pub fn generate(seed: u64, seconds: f32, stream: SignalForm) -> Recording {
    let raw = record(seed, seconds);
    match stream {
        SignalForm::Raw200Hz => raw,
        SignalForm::Envelope50Hz => raw.envelope(ENVELOPE_WINDOW),
    }
}

/// A recording at the full rate.
///
/// Each part draws from a generator of its own, so that a change to one leaves the others' noise as it was.
fn record(seed: u64, seconds: f32) -> Recording {
    let samples = (f64::from(seconds) * RAW_RATE_HZ).max(0.0) as usize;
    let mut root = SignalRng::from_seed(seed);
    let activations = grasps::activations(&mut root.branch(), samples);
    let emg = electrodes::record(&mut root, &activations);
    let force_true = force::from_activations(&activations);
    let force = force::measure(&mut root.branch(), &force_true);
    Recording {
        rate_hz: RAW_RATE_HZ as f32,
        emg,
        force,
        force_true: force_true.iter().map(|&newton| newton as f32).collect(),
        activations: activations.iter().map(|row| row.map(|a| a as f32)).collect(),
    }
}
