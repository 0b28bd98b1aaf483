//! Random numbers of the signal: the same for a seed on every machine.

use core::f64::consts::TAU;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded generator of uniform and normal variates.
pub(super) struct SignalRng(Xoshiro256PlusPlus);

impl SignalRng {
    /// A generator that a seed determines completely.
    pub(super) fn from_seed(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A new generator, independent of further draws from this one.
    pub(super) fn branch(&mut self) -> Self {
        Self::from_seed(self.0.next_u64())
    }

    /// Uniform in [`low`, `high`).
    pub(super) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// One of 0, 1, … `count` − 1.
    pub(super) fn index(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    pub(super) fn normal(&mut self) -> f64 {
        // 1 − u lies in (0, 1], so that the logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(TAU * self.unit())
    }

    /// Uniform in [0, 1), with 53 random bits.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// An Ornstein–Uhlenbeck process with a given standard deviation and time constant, exact at the sampling
/// instants (Gillespie 1996, updating formula).
pub(super) struct OrnsteinUhlenbeck {
    value: f64,
    std_dev: f64,
    memory: f64,
}

impl OrnsteinUhlenbeck {
    /// Starts from the stationary distribution.
    pub(super) fn new(noise: &mut SignalRng, std_dev: f64, time_constant_s: f64, rate_hz: f64) -> Self {
        let memory = libm::exp(-1.0 / (time_constant_s * rate_hz));
        Self { value: std_dev * noise.normal(), std_dev, memory }
    }

    /// The next sample.
    pub(super) fn step(&mut self, noise: &mut SignalRng) -> f64 {
        let fresh = libm::sqrt(1.0 - self.memory * self.memory) * self.std_dev;
        self.value = self.memory * self.value + fresh * noise.normal();
        self.value
    }
}
