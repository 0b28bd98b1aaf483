//! Pseudo-random numbers that are the same on every machine.

use core::convert::Infallible;

use rand_core::TryRng;

/// A SplitMix64 generator (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", fig.
/// 16).
///
/// Integer arithmetic and one exact division, so that no platform's float library is involved.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Numbers that depend on `label` alone.
    pub fn new(label: &str) -> Self {
        Numbers(crate::fingerprint::fnv1a(label.bytes()))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [−1, 1): one of 2²⁴ equally spaced values.
    pub fn signed(&mut self) -> f32 {
        const HALF: i32 = 1 << 23;
        let steps = (self.bits() >> 40) as i32 - HALF;
        steps as f32 / HALF as f32
    }

    /// Uniform in [`low`, `high`), up to rounding.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (0.5 * self.signed() + 0.5)
    }

    /// True once in `every` calls, on average.
    pub fn once_in(&mut self, every: u64) -> bool {
        self.bits().is_multiple_of(every)
    }

    /// One of the integers below `count`, or 0 if there are none. Those near 0 are more frequent by `count`
    /// in 2⁶⁴.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % (count as u64).max(1)) as usize
    }

    /// Replaces every value by a draw from [`low`, `high`).
    pub fn fill(&mut self, values: &mut [f32], low: f32, high: f32) {
        values.iter_mut().for_each(|value| *value = self.between(low, high));
    }
}

/// As a generator for whoever wants one: the upper half of each number.
impl TryRng for Numbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| (self.bits() >> 56) as u8);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::Numbers;

    #[test]
    fn the_generator_is_splitmix64() {
        // First outputs for state 0, as listed with the reference implementation.
        let mut numbers = Numbers(0);
        assert_eq!(numbers.bits(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(numbers.bits(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn signed_numbers_fill_their_range() {
        let mut numbers = Numbers::new("range");
        let draws: Vec<f32> = (0..10_000).map(|_| numbers.signed()).collect();
        assert!(draws.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = draws.iter().sum::<f32>() / 10_000.0;
        let square = draws.iter().map(|x| x * x).sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.02, "mean {mean}");
        assert!((square - 1.0 / 3.0).abs() < 0.02, "mean square {square}");
    }
}
