//! From activations to the counts that the armband sends, including all distortions of the sensor.

use core::f64::consts::TAU;

use super::RAW_RATE_HZ;
use super::body::ELECTRODES;
use super::filter::BandPass;
use super::rng::{OrnsteinUhlenbeck, SignalRng};

/// Band of surface EMG that remains after sampling at 200 Hz.
const BAND_HZ: [f64; 2] = [20.0, 95.0];

/// Standard deviation, in counts, of a fully active muscle under a perfect contact. The converter saturates
/// at ±128 counts, so strong grasps sometimes clip.
const FULL_EFFORT_COUNTS: f64 = 110.0;

/// Noise of electrode and amplifier, in counts.
const SENSOR_STD_DEV: f64 = 2.0;

/// Mains hum: frequency, and the largest amplitude in counts.
const HUM_HZ: f64 = 50.0;
const HUM_MAX: f64 = 2.5;

/// Baseline wander by sweat and cable motion: standard deviation in counts, and time constant.
const BASELINE_STD_DEV: f64 = 2.0;
const BASELINE_S: f64 = 1.5;

/// Drift of the logarithm of the gain while the band settles on the skin, and its time constant.
const GAIN_DRIFT_STD_DEV: f64 = 0.08;
const GAIN_DRIFT_S: f64 = 60.0;

/// A lost contact: its duration, and the time until the next one on any electrode.
const DROPOUT_S: [f64; 2] = [0.2, 1.0];
const DROPOUT_PAUSE_S: [f64; 2] = [6.0, 30.0];

/// The signal that the armband sends: counts per electrode, NaN while one has lost contact. `pick_up` has the
/// gain of every muscle at an electrode.
pub(super) fn record<const MUSCLES: usize>(
    root: &mut SignalRng,
    activations: &[[f64; MUSCLES]],
    pick_up: impl Fn(usize) -> [f64; MUSCLES],
) -> Vec<[f32; ELECTRODES]> {
    let sources = sources(&mut root.branch(), activations);
    let mut rows = vec![[0.0; ELECTRODES]; activations.len()];
    for electrode in 0..ELECTRODES {
        let mut channel = Electrode::new(root.branch(), pick_up(electrode));
        for (sample, (row, source)) in rows.iter_mut().zip(&sources).enumerate() {
            row[electrode] = channel.sample(sample, source);
        }
    }
    lose_contacts(&mut root.branch(), &mut rows);
    rows
}

/// The electrical signal of each muscle, with variance 1 at full effort.
fn sources<const MUSCLES: usize>(
    noise: &mut SignalRng,
    activations: &[[f64; MUSCLES]],
) -> Vec<[f64; MUSCLES]> {
    let mut carriers: [BandPass; MUSCLES] =
        core::array::from_fn(|_| BandPass::new(BAND_HZ[0], BAND_HZ[1], RAW_RATE_HZ));
    let source = |row: &[f64; MUSCLES]| {
        core::array::from_fn(|muscle| amplitude(row[muscle]) * carriers[muscle].step(noise.normal()))
    };
    activations.iter().map(source).collect()
}

/// EMG amplitude as a function of activation. It is convex: weak efforts recruit small motor units, strong
/// ones large units with larger potentials at the skin.
fn amplitude(activation: f64) -> f64 {
    activation * (0.6 + 0.4 * activation)
}

/// One electrode, its amplifier and its converter.
struct Electrode<const MUSCLES: usize> {
    noise: SignalRng,
    pick_up: [f64; MUSCLES],
    hum_amplitude: f64,
    hum_phase: f64,
    baseline: OrnsteinUhlenbeck,
    log_gain: OrnsteinUhlenbeck,
}

impl<const MUSCLES: usize> Electrode<MUSCLES> {
    fn new(mut noise: SignalRng, pick_up: [f64; MUSCLES]) -> Self {
        Self {
            pick_up,
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
    // Adding 0 turns −0 into 0.
    counts.round().clamp(f64::from(i8::MIN), f64::from(i8::MAX)) as f32 + 0.0
}

/// Sets intervals of single channels to NaN.
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
