//! The filters of a muscle: the spectrum of its EMG, and its twitch response.

use core::f64::consts::{FRAC_1_SQRT_2, TAU};

/// A biquad section in transposed direct form II: y = b₀x + s₁, s₁ ← b₁x − a₁y + s₂, s₂ ← b₂x − a₂y.
#[derive(Clone, Copy)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64; 2],
}

impl Biquad {
    /// A Butterworth low-pass by the bilinear transform (Bristow-Johnson, Audio EQ Cookbook, LPF).
    fn low_pass(cutoff_hz: f64, rate_hz: f64) -> Self {
        let cos = libm::cos(TAU * cutoff_hz / rate_hz);
        Self::normalised([(1.0 - cos) / 2.0, 1.0 - cos, (1.0 - cos) / 2.0], cutoff_hz, rate_hz)
    }

    /// A Butterworth high-pass by the bilinear transform (Bristow-Johnson, Audio EQ Cookbook, HPF).
    fn high_pass(cutoff_hz: f64, rate_hz: f64) -> Self {
        let cos = libm::cos(TAU * cutoff_hz / rate_hz);
        Self::normalised([(1.0 + cos) / 2.0, -1.0 - cos, (1.0 + cos) / 2.0], cutoff_hz, rate_hz)
    }

    /// Adds the denominator that low-pass and high-pass share, and normalises by its leading coefficient.
    fn normalised(b: [f64; 3], cutoff_hz: f64, rate_hz: f64) -> Self {
        let omega = TAU * cutoff_hz / rate_hz;
        let alpha = libm::sin(omega) / (2.0 * FRAC_1_SQRT_2);
        let lead_gain = 1.0 + alpha;
        Self {
            b: b.map(|coefficient| coefficient / lead_gain),
            a: [-2.0 * libm::cos(omega) / lead_gain, (1.0 - alpha) / lead_gain],
            state: [0.0; 2],
        }
    }

    fn step(&mut self, x: f64) -> f64 {
        let y = self.b[0] * x + self.state[0];
        self.state[0] = self.b[1] * x - self.a[0] * y + self.state[1];
        self.state[1] = self.b[2] * x - self.a[1] * y;
        y
    }
}

/// Turns white noise of variance 1 into noise of variance 1 between two frequencies.
pub(super) struct BandPass {
    sections: [Biquad; 3],
    gain: f64,
}

impl BandPass {
    /// A band between `low_hz` (falling at 24 dB per octave below) and `high_hz`.
    pub(super) fn new(low_hz: f64, high_hz: f64, rate_hz: f64) -> Self {
        let high_pass = Biquad::high_pass(low_hz, rate_hz);
        let sections = [high_pass, high_pass, Biquad::low_pass(high_hz, rate_hz)];
        let mut filter = Self { sections, gain: 1.0 };
        // The variance of filtered white noise is the energy of the impulse response, which decays within a
        // second.
        let impulse = core::iter::once(1.0).chain(core::iter::repeat_n(0.0, rate_hz as usize));
        let energy: f64 = impulse.map(|x| filter.step(x)).map(|y| y * y).sum();
        Self { sections, gain: 1.0 / libm::sqrt(energy) }
    }

    /// The next sample.
    pub(super) fn step(&mut self, x: f64) -> f64 {
        self.gain * self.sections.iter_mut().fold(x, |signal, section| section.step(signal))
    }
}

/// A critically damped second-order low-pass: two equal first-order lags in series.
///
/// Its impulse response t·e^(−t/T) is the twitch of a motor unit with contraction time T (Fuglevand, Winter
/// and Patla 1993, "Models of recruitment and rate coding organization in motor-unit pools", twitch force).
pub(super) struct TwitchResponse {
    blend: f64,
    lags: [f64; 2],
}

impl TwitchResponse {
    /// A twitch that peaks `contraction_s` after its onset.
    pub(super) fn new(contraction_s: f64, rate_hz: f64) -> Self {
        Self { blend: 1.0 - libm::exp(-1.0 / (contraction_s * rate_hz)), lags: [0.0; 2] }
    }

    /// The next sample.
    pub(super) fn step(&mut self, x: f64) -> f64 {
        self.lags[0] += self.blend * (x - self.lags[0]);
        self.lags[1] += self.blend * (self.lags[0] - self.lags[1]);
        self.lags[1]
    }
}
