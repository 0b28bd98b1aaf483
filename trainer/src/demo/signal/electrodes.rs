//! From activation to the counts that the armband sends, with all that a sensor does to a signal on the
//! way.

use core::f64::consts::TAU;

use super::RAW_RATE_HZ;
use super::body::{self, ELECTRODES, MUSCLES};
use super::filter::BandPass;
use super::rng::{OrnsteinUhlenbeck, SignalRng};

/// Band of surface EMG that survives sampling at 200 Hz.
const BAND_HZ: [f64; 2] = [20.0, 95.0];

/// Standard deviation, in counts, of a fully active muscle under a perfect contact. The converter ends at
/// ±128 counts, so that strong grasps clip now and then.
const FULL_EFFORT_COUNTS: f64 = 110.0;

/// Noise of electrode and amplifier, in counts.
const SENSOR_STD_DEV: f64 = 2.0;

/// Mains hum: frequency, and the largest amplitude in counts.
const HUM_HZ: f64 = 50.0;
const HUM_MAX: f64 = 2.5;

/// Baseline wander from sweat and cable motion: standard deviation in counts, and how long it lasts.
const BASELINE_STD_DEV: f64 = 2.0;
const BASELINE_S: f64 = 1.5;

/// Drift of the gain (as a logarithm) while the band settles on the skin, and how long it lasts.
const GAIN_DRIFT_STD_DEV: f64 = 0.08;
const GAIN_DRIFT_S: f64 = 60.0;

/// A lost contact: how long it lasts, and how long until the next one somewhere on the band.
const DROPOUT_S: [f64; 2] = [0.2, 1.0];
const DROPOUT_PAUSE_S: [f64; 2] = [6.0, 30.0];

/// What the armband sends: counts per electrode, NaN while one has lost contact.
pub(super) fn record(root: &mut SignalRng, activations: &[[f64; MUSCLES]]) -> Vec<[f32; ELECTRODES]> {
    let sources = sources(&mut root.branch(), activations);
    let mut rows = vec![[0.0; ELECTRODES]; activations.len()];
    for electrode in 0..ELECTRODES {
        let mut channel = Electrode::new(root.branch(), electrode);
        for (sample, (row, source)) in rows.iter_mut().zip(&sources).enumerate() {
            row[electrode] = channel.sample(sample, source);
        }
    }
    lose_contacts(&mut root.branch(), &mut rows);
    rows
}

/// The electrical signal of each muscle, full effort being of variance 1.
fn sources(noise: &mut SignalRng, activations: &[[f64; MUSCLES]]) -> Vec<[f64; MUSCLES]> {
    let mut carriers: [BandPass; MUSCLES] =
        core::array::from_fn(|_| BandPass::new(BAND_HZ[0], BAND_HZ[1], RAW_RATE_HZ));
    let source = |row: &[f64; MUSCLES]| {
        core::array::from_fn(|muscle| amplitude(row[muscle]) * carriers[muscle].step(noise.normal()))
    };
    activations.iter().map(source).collect()
}

/// EMG amplitude over activation. It bends upwards: weak efforts recruit small, quiet motor units, strong
/// ones large units that are heard well at the skin.
fn amplitude(activation: f64) -> f64 {
    activation * (0.6 + 0.4 * activation)
}

/// One electrode, its amplifier and its converter.
struct Electrode {
    noise: SignalRng,
    pick_up: [f64; MUSCLES],
    hum_amplitude: f64,
    hum_phase: f64,
    baseline: OrnsteinUhlenbeck,
    log_gain: OrnsteinUhlenbeck,
}

impl Electrode {
    fn new(mut noise: SignalRng, electrode: usize) -> Self {
        Self {
            pick_up: body::pick_up(electrode),
            hum_amplitude: noise.uniform(0.3, 1.0) * HUM_MAX,
            hum_phase: noise.uniform(0.0, TAU),
            baseline: OrnsteinUhlenbeck::new(&mut noise, BASELINE_STD_DEV, BASELINE_S, RAW_RATE_HZ),
            log_gain: OrnsteinUhlenbeck::new(&mut noise, GAIN_DRIFT_STD_DEV, GAIN_DRIFT_S, RAW_RATE_HZ),
            noise,
        }
    }

    /// The count for one sample of all muscles' signals.
    fn sample(&mut self, sample: usize, source: &[f64; MUSCLES]) -> f32 {
        let heard: f64 = self.pick_up.iter().zip(source).map(|(gain, signal)| gain * signal).sum();
        let gain = FULL_EFFORT_COUNTS * libm::exp(self.log_gain.step(&mut self.noise));
        let time_s = sample as f64 / RAW_RATE_HZ;
        let hum = self.hum_amplitude * libm::sin(TAU * HUM_HZ * time_s + self.hum_phase);
        let baseline = self.baseline.step(&mut self.noise);
        convert(gain * heard + hum + baseline + SENSOR_STD_DEV * self.noise.normal())
    }
}

/// The analogue-to-digital converter: whole counts of a signed byte.
fn convert(counts: f64) -> f32 {
    // Adding 0 turns −0 into 0: a converter knows one zero.
    counts.round().clamp(f64::from(i8::MIN), f64::from(i8::MAX)) as f32 + 0.0
}

/// Replaces stretches of single channels by NaN.
fn lose_contacts(noise: &mut SignalRng, rows: &mut [[f32; ELECTRODES]]) {
    let mut now_s = noise.uniform(DROPOUT_PAUSE_S[0], DROPOUT_PAUSE_S[1]);
    while now_s * RAW_RATE_HZ < rows.len() as f64 {
        let end_s = now_s + noise.uniform(DROPOUT_S[0], DROPOUT_S[1]);
        let electrode = noise.index(ELECTRODES);
        let end = ((end_s * RAW_RATE_HZ) as usize).min(rows.len());
        for row in &mut rows[(now_s * RAW_RATE_HZ) as usize..end] {
            row[electrode] = f32::NAN;
        }
        now_s = end_s + noise.uniform(DROPOUT_PAUSE_S[0], DROPOUT_PAUSE_S[1]);
    }
}
