//! A synthetic signal: surface EMG of a forearm and the grip force it stems from, so that the truth is known.
//!
//! A recording is generated in the order in which a body and an armband produce it:
//!
//! 1. hidden activations of three muscles rise and fall in minimum-jerk efforts;
//! 2. each muscle turns its activation into band-limited noise whose *amplitude* follows the effort;
//! 3. eight electrodes pick up mixtures of the three, add noise, mains hum, baseline wander and drift, clip
//!    and quantise, and sometimes lose contact;
//! 4. the same activations, delayed and smoothed by the muscle twitch, become force.
//!
//! The sign of the EMG carries no information about the force, only its variance does, so a network must
//! rectify and smooth it, as for a real prosthesis or exoskeleton.
//!
//! All numbers come from `libm` and one seeded generator: a seed gives the same recording on every machine.

mod body;
mod effort;
mod electrodes;
mod filter;
mod force;
mod gestures;
mod grasps;
mod recording;
mod rng;
#[cfg(test)]
mod tests;

pub use body::{ELECTRODES, MUSCLES};
pub use force::noise_std_dev as force_noise_std_dev;
pub use gestures::{GESTURES, GestureRecording, UNSEEN_GESTURE, generate_gestures, gestures_to_csv};
pub use recording::{Recording, write_csv};

use rng::SignalRng;

/// Samples per second of the electrodes, before any reduction.
const RAW_RATE_HZ: f64 = 200.0;

/// Raw samples per value of the envelope: 20 ms.
const ENVELOPE_WINDOW: usize = 4;

/// The form of the recorded signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignalForm {
    /// Every sample of every electrode: signed counts at 200 Hz.
    Raw200Hz,
    /// The mean absolute value over 20 ms, at 50 Hz, which many armbands send to save power.
    #[default]
    Envelope50Hz,
}

/// Generates `seconds` of grasping and resting. The person is always the same; `seed` determines their
/// efforts and all noise.
pub fn generate(seed: u64, seconds: f32, stream: SignalForm) -> Recording {
    let raw = record(seed, seconds);
    match stream {
        SignalForm::Raw200Hz => raw,
        SignalForm::Envelope50Hz => raw.envelope(ENVELOPE_WINDOW),
    }
}

/// A recording at the full rate.
///
/// Each part has its own generator, so that a change to one does not change the noise of the others.
fn record(seed: u64, seconds: f32) -> Recording {
    let samples = (f64::from(seconds) * RAW_RATE_HZ).max(0.0) as usize;
    let mut root = SignalRng::from_seed(seed);
    let activations = grasps::activations(&mut root.branch(), samples);
    let emg = electrodes::record(&mut root, &activations, body::pick_up);
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
