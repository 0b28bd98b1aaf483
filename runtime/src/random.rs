//! Draws from normal, binary and categorical distributions: the same bits on every target.
//!
//! Each draw takes one number of a generator and inverts the distribution function: the time is constant,
//! there is no second deviate to keep, and the position of a generator follows from the number of draws.

use rand_core::Rng;

/// A draw from N(0, 1).
pub(crate) fn normal(rng: &mut (impl Rng + ?Sized)) -> f32 {
    normal_of(rng.next_u32())
}

/// A draw from [0, 1): one of 2²⁴ equally spaced values.
pub(crate) fn uniform(rng: &mut (impl Rng + ?Sized)) -> f32 {
    (rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32
}

/// The normal deviate of `bits`, one of 2³² equally likely ones: ±Φ⁻¹((n + ½)/2³²), the sign being the
/// uppermost bit and n the others. Within ±6.34, and symmetric.
#[inline(never)]
pub(crate) fn normal_of(bits: u32) -> f32 {
    let n = bits & (u32::MAX >> 1);
    // n is rounded to 24 bits where it is large, and exact where the tail needs it.
    let tail = (n as f32 + 0.5) / 4_294_967_296.0;
    let magnitude = -quantile(tail);
    if bits > u32::MAX >> 1 { -magnitude } else { magnitude }
}

/// Φ⁻¹(p) for 0 < p ≤ ½ (Wichura 1988, "The percentage points of the normal distribution", algorithm AS 241,
/// PPND7: seven decimal digits).
pub(crate) fn quantile(p: f32) -> f32 {
    let q = p - 0.5;
    if q >= -0.425 {
        let r = 0.180_625 - q * q;
        return q * polynomial(r, [3.387_132_7, 50.434_27, 159.291_13, 59.109_375])
            / polynomial(r, [1.0, 17.895_17, 78.757_76, 67.187_56]);
    }
    let r = libm::sqrtf(-libm::logf(p));
    let magnitude = if r <= 5.0 {
        let r = r - 1.6;
        polynomial(r, [1.423_437_3, 2.756_815_4, 1.306_728_5, 0.170_238_21])
            / polynomial(r, [1.0, 0.737_001_64, 0.120_211_33, 0.0])
    } else {
        let r = r - 5.0;
        polynomial(r, [6.657_905, 3.081_226_4, 0.428_682_94, 0.017_337_204])
            / polynomial(r, [1.0, 0.241_978_94, 0.012_258_203, 0.0])
    };
    -magnitude
}

/// c₀ + c₁x + c₂x² + c₃x³.
fn polynomial(x: f32, [c0, c1, c2, c3]: [f32; 4]) -> f32 {
    ((c3 * x + c2) * x + c1) * x + c0
}

/// Component `latent` of draw `draw` in a fixed set of normal draws. Draws 2k and 2k + 1 are antithetic (±ε),
/// so that the mean over pairs is exact.
pub(crate) fn fixed_normal(draw: u16, latent: u16) -> f32 {
    let deviate = normal_of(mix(u32::from(draw / 2) << 16 | u32::from(latent)));
    if draw.is_multiple_of(2) { deviate } else { -deviate }
}

/// A bijection of 32 bits in which every bit depends on all (the finaliser of Appleby's MurmurHash3, 2011),
/// after adding 2³² over the golden ratio, without which zero would map to itself.
fn mix(bits: u32) -> u32 {
    let mut bits = bits.wrapping_add(0x9E37_79B9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xC2B2_AE35);
    bits ^ (bits >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    /// Φ(x), with its precision kept in the lower tail.
    fn phi(x: f64) -> f64 {
        0.5 * libm::erfc(-x / core::f64::consts::SQRT_2)
    }

    /// Equally spaced numbers in order: a sample of the uniform distribution without sampling error.
    struct Grid {
        next: u32,
        step: u32,
    }

    impl rand_core::TryRng for Grid {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            let bits = self.next;
            self.next = self.next.wrapping_add(self.step);
            Ok(bits)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            unreachable!("draws take 32 bits")
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("draws take 32 bits")
        }
    }

    /// Deviates up to 6.3 carry a few roundings in seven digits, some 2·10⁻⁶. In the tail Φ changes by up to
    /// 6.3 times itself per unit: 1.3·10⁻⁵ of a probability.
    #[test]
    fn deviates_are_the_quantiles_of_the_normal_distribution() {
        let mut largest = 0.0_f64;
        for n in (0..1_u32 << 31).step_by(65_537).chain(0..1000) {
            let p = (f64::from(n) + 0.5) / 4_294_967_296.0;
            let found = phi(f64::from(-normal_of(n)));
            largest = largest.max((found / p - 1.0).abs());
        }
        assert!(largest < 1.3e-5, "{largest:e}");
    }

    #[test]
    fn deviates_are_symmetric_and_bounded() {
        assert!((6.3..6.4).contains(&normal_of(0)), "{}", normal_of(0));
        assert!(normal_of(u32::MAX >> 1).abs() < 1e-6, "the middle is zero");
        for bits in (0..1_u32 << 31).step_by(1_000_003) {
            assert_eq!(normal_of(bits), -normal_of(bits | 1 << 31));
        }
    }

    /// Over a grid of 2¹⁶ the sums are those of the midpoint rule, whose last interval, truncated at 4.3
    /// standard deviations, leaves some 10⁻⁴ of the variance and 2·10⁻³ of the fourth moment.
    #[test]
    fn moments_are_those_of_the_normal_distribution() {
        let mut grid = Grid { next: 1 << 15, step: 1 << 16 };
        let draws: std::vec::Vec<f64> = (0..1 << 16).map(|_| f64::from(normal(&mut grid))).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / draws.len() as f64;
        assert!(moment(1).abs() < 1e-6 && moment(3).abs() < 1e-5, "{} {}", moment(1), moment(3));
        assert!((moment(2) - 1.0).abs() < 2e-4, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 6e-3, "{}", moment(4));
    }

    #[test]
    fn uniform_draws_fill_their_range() {
        let mut grid = Grid { next: 0, step: 1 << 20 };
        let draws: std::vec::Vec<f32> = (0..1 << 12).map(|_| uniform(&mut grid)).collect();
        assert_eq!(draws[0], 0.0);
        assert!(draws.windows(2).all(|pair| pair[1] - pair[0] == 1.0 / 4096.0));
        assert!(uniform(&mut Grid { next: u32::MAX, step: 0 }) < 1.0);
    }

    /// Standard errors over 4096 draws of 8 latents: 0.0055 for the mean square, 0.016 for the product of two
    /// latents.
    #[test]
    fn fixed_draws_have_an_exact_mean_and_look_independent() {
        let draws = 4096;
        let sum = |latent| (0..draws).map(|draw| fixed_normal(draw, latent)).sum::<f32>();
        assert!((0..8).all(|latent| sum(latent) == 0.0));
        let average = |f: &dyn Fn(u16, u16) -> f32| {
            let all = (0..draws).flat_map(|draw| (0..8).map(move |latent| f(draw, latent)));
            all.map(f64::from).sum::<f64>() / f64::from(8 * u32::from(draws))
        };
        let square = average(&|draw, latent| fixed_normal(draw, latent).powi(2));
        assert!((square - 1.0).abs() < 4.0 * 0.011, "{square}");
        let neighbours = average(&|draw, latent| fixed_normal(draw, latent) * fixed_normal(draw, latent + 1));
        let followers =
            average(&|draw, latent| fixed_normal(draw, latent) * fixed_normal((draw + 2) % draws, latent));
        assert!(neighbours.abs() < 4.0 * 0.008 && followers.abs() < 4.0 * 0.008, "{neighbours} {followers}");
    }
}
