//! Normal variates by the million, in f32 and on vectors: a draw of all weights of a model of words takes
//! several per token that it reads.

use std::f32::consts::{FRAC_PI_2, LN_2, SQRT_2};

use rand_core::Rng;

use super::vectorised::{self, Kernel, Processor};

/// `count` normal variates of mean 0 and variance 1 (Box and Muller 1958), in pairs from uniform variates of
/// 24 bits; none is beyond 5.8. The same on every machine: no operation is fused.
pub(super) fn fast_normals(rng: &mut impl Rng, count: usize) -> Vec<f32> {
    let pairs = count.div_ceil(2);
    let bits: Vec<u64> = (0..pairs).map(|_| rng.next_u64()).collect();
    let mut values = vec![0.0; 2 * pairs];
    let (cosines, sines) = values.split_at_mut(pairs);
    vectorised::run(Transform { bits: &bits, cosines, sines });
    values.truncate(count);
    values
}

struct Transform<'a> {
    bits: &'a [u64],
    cosines: &'a mut [f32],
    sines: &'a mut [f32],
}

impl Kernel for Transform<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        for ((bits, cosine), sine) in self.bits.iter().zip(self.cosines).zip(self.sines) {
            let uniform = |bits: u64| (bits & 0xFF_FFFF) as u32 as i32 as f32 * (1.0 / 16_777_216.0);
            // In (0, 1], where the logarithm is finite.
            let radius = (-2.0 * ln(uniform(bits >> 40) + 1.0 / 16_777_216.0)).sqrt();
            let [cos, sin] = cos_sin_of_turns(uniform(*bits));
            (*cosine, *sine) = (radius * cos, radius * sin);
        }
    }
}

/// ln x for 2⁻²⁴ ≤ x ≤ 1: with x = 2ᵉm and ½√2 ≤ m < √2, it is e ln 2 + 2 artanh((m − 1)/(m + 1)).
#[inline(always)]
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let (exponent, mantissa) = ((bits >> 23) as i32 - 127, f32::from_bits((bits & 0x7F_FFFF) | 0x3F80_0000));
    let above = mantissa >= SQRT_2;
    let m = if above { 0.5 * mantissa } else { mantissa };
    let e = (exponent + i32::from(above)) as f32;
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = (((square / 9.0 + 1.0 / 7.0) * square + 0.2) * square + 1.0 / 3.0) * square + 1.0;
    e * LN_2 + 2.0 * s * series
}

/// cos 2πx and sin 2πx for 0 ≤ x ≤ 1: those of the angle within a quarter turn by their power series, then
/// exchanged and negated as the quarter demands.
#[inline(always)]
fn cos_sin_of_turns(x: f32) -> [f32; 2] {
    let quarter = (4.0 * x + 0.5) as i32;
    let angle = (4.0 * x - quarter as f32) * FRAC_PI_2;
    let square = angle * angle;
    let sin = angle
        * (1.0
            + square * (-1.0 / 6.0 + square * (1.0 / 120.0 + square * (-1.0 / 5040.0 + square / 362_880.0))));
    let cos = 1.0 + square * (-0.5 + square * (1.0 / 24.0 + square * (-1.0 / 720.0 + square / 40_320.0)));
    let (across, along) = if quarter & 1 == 1 { (sin, cos) } else { (cos, sin) };
    let cos = if (quarter + 1) & 2 == 2 { -across } else { across };
    let sin = if quarter & 2 == 2 { -along } else { along };
    [cos, sin]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn functions_are_those_of_f64() {
        for index in 1..=65_536_u32 {
            let x = index as f32 / 65_536.0;
            let exact = f64::from(x).ln();
            assert!((f64::from(ln(x)) - exact).abs() <= 2e-7 * exact.abs(), "ln {x}");
            let [cos, sin] = cos_sin_of_turns(x).map(f64::from);
            let (exact_sin, exact_cos) = (std::f64::consts::TAU * f64::from(x)).sin_cos();
            // Angles are rounded to 2⁻²⁴ of a quarter turn.
            assert!((cos - exact_cos).abs() < 3e-7 && (sin - exact_sin).abs() < 3e-7, "{x}");
        }
    }

    /// Standard errors of the moments of a million variates: 0.001, 0.0014, 0.0024 (of x³, √15/1000) and 0.01
    /// (of x⁴, √96/1000); four of each.
    #[test]
    fn they_have_the_moments_of_a_normal_distribution_and_pairs_are_independent() {
        let count = 1_000_001;
        let draws = fast_normals(&mut stream(1, Purpose::Initialisation), count);
        assert_eq!(draws.len(), count);
        let mean = |part: &dyn Fn(f64) -> f64| {
            draws.iter().map(|draw| part(f64::from(*draw))).sum::<f64>() / count as f64
        };
        let moments = [1, 2, 3, 4].map(|power| mean(&|x: f64| x.powi(power)));
        for (found, (expected, error)) in
            moments.into_iter().zip([(0.0, 0.004), (1.0, 0.006), (0.0, 0.016), (3.0, 0.04)])
        {
            assert!((found - expected).abs() < error, "{moments:?}");
        }
        let tail = mean(&|x: f64| f64::from(u8::from(x.abs() > 3.0)));
        assert!((tail - 0.0027).abs() < 4.0 * 0.000_052, "{tail} beyond three standard deviations");
        let (first, second) = draws.split_at(count.div_ceil(2));
        let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
        let covariance = first.iter().zip(second).map(product).sum::<f64>() / second.len() as f64;
        assert!(covariance.abs() < 4.0 * 0.0015, "{covariance} within pairs");
    }
}
