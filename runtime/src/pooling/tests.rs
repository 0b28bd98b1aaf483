//! Pooling against quadrature, enumeration and Monte Carlo, in double precision where nothing else is said.

use std::vec::Vec;

use super::*;
use crate::moments::Dual;
use crate::random::normal_of;

/// A generator of normal deviates: a linear congruential one through the inverse distribution function.
struct Normals(u64);

impl Normals {
    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        normal_of((self.0 >> 32) as u32).into()
    }
}

/// The pool of all values, one after the other, with equal weights.
fn pooled<P: Pool<f64, WORDS>, const WORDS: usize>(values: &[[f64; 2]], correlation: f64) -> [f64; 2] {
    let (first, rest) = values.split_first().expect("a value");
    let mut pool = P::of(first[0], first[1]);
    for (index, [mean, var]) in rest.iter().enumerate() {
        pool = pool.merged(P::of(*mean, *var), 1.0 / (index as f64 + 2.0), correlation);
    }
    pool.moments(correlation)
}

/// Mean and variance of a function of values with independent noise, and noise in common with the share ρ.
fn drawn(values: &[[f64; 2]], correlation: f64, draws: usize, f: impl Fn(&[f64]) -> f64) -> [f64; 2] {
    let mut normals = Normals(7);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..draws {
        let common = normals.draw();
        let sample: Vec<f64> = values
            .iter()
            .map(|[mean, var]| {
                let noise = correlation.sqrt() * common + (1.0 - correlation).sqrt() * normals.draw();
                mean + var.sqrt() * noise
            })
            .collect();
        let y = f(&sample);
        sum += y;
        squares += y * y;
    }
    let mean = sum / draws as f64;
    [mean, squares / draws as f64 - mean * mean]
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(f64::MIN, |largest, value| largest.max(*value))
}

fn softmax_average(values: &[f64]) -> f64 {
    let weights: Vec<f64> = values.iter().map(|value| value.exp()).collect();
    values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>()
        / weights.iter().sum::<f64>()
}

/// Values of a unit over time: a slow wave whose variance changes as well.
fn wave(count: usize, amplitude: f64, var: f64) -> Vec<[f64; 2]> {
    let at = |t: usize| {
        let phase = 0.7 * t as f64;
        [amplitude * phase.sin(), var * (1.2 + (0.4 * phase).cos())]
    };
    (0..count).map(at).collect()
}

#[test]
fn the_distribution_function_is_within_its_stated_error() {
    for i in -800..=800 {
        let x = f64::from(i) / 100.0;
        let [distribution, density] = distribution_and_density(x);
        let exact = 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
        assert!((distribution - exact).abs() < 7.5e-8, "{x}");
        assert!((density - (-0.5 * x * x).exp() / core::f64::consts::TAU.sqrt()).abs() < 1e-15);
        let [single, _] = distribution_and_density(x as f32);
        assert!((f64::from(single) - exact).abs() < 2e-7, "a few roundings: {x}");
    }
}

#[test]
fn sums_of_exponentials_neither_overflow_nor_vanish() {
    let [sum, share] = log_add_exp(0.3_f64, -0.8);
    assert!((sum - (0.3_f64.exp() + (-0.8_f64).exp()).ln()).abs() < 1e-15);
    assert!((share - (-0.8_f64).exp() / sum.exp()).abs() < 1e-15);
    assert_eq!(log_add_exp(1e6_f32, -1e6), [1e6, 0.0]);
    assert_eq!(log_add_exp(-1e6_f32, 1e6), [1e6, 1.0]);
    assert_eq!(log_add_exp(5.0_f64, 5.0), [5.0 + 2.0_f64.ln(), 0.5]);
}

#[test]
fn an_average_is_exact() {
    let values = wave(11, 0.8, 0.1);
    let count = values.len() as f64;
    let mean = values.iter().map(|[mean, _]| mean).sum::<f64>() / count;
    let independent = values.iter().map(|[_, var]| var).sum::<f64>() / (count * count);
    let std_dev = values.iter().map(|[_, var]| var.sqrt()).sum::<f64>() / count;
    for correlation in [0.0, 0.3, 1.0] {
        let expected = (1.0 - correlation) * independent + correlation * std_dev * std_dev;
        let [pooled_mean, pooled_var] = pooled::<Average<f64>, 3>(&values, correlation);
        assert!((pooled_mean - mean).abs() < 1e-14 && (pooled_var - expected).abs() < 1e-14);
    }
}

/// Against draws whose noise has that correlation: 200,000 of them leave 1 % of the variance.
#[test]
fn the_variance_of_an_average_is_that_of_correlated_draws() {
    let values = wave(7, 0.8, 0.1);
    for correlation in [0.0, 0.5, 1.0] {
        let [_, var] = pooled::<Average<f64>, 3>(&values, correlation);
        let [_, expected] =
            drawn(&values, correlation, 200_000, |sample| sample.iter().sum::<f64>() / sample.len() as f64);
        assert!((var / expected - 1.0).abs() < 0.02, "{correlation}: {var} {expected}");
    }
}

/// The density of the larger one is φ₁Φ₂ + Φ₁φ₂, which the trapezoidal rule integrates to rounding; what is
/// left is the error of Φ, 7.5·10⁻⁸, and in f32 a few roundings.
#[test]
fn the_larger_of_two_normal_values_is_exact() {
    let pairs = [
        ([0.0, 1.0], [0.0, 1.0]),
        ([0.3, 0.04], [-0.2, 0.5]),
        ([-1.0, 0.2], [1.5, 0.1]),
        ([0.5, 0.3], [0.45, 0.001]),
    ];
    let distribution = |x: f64| 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
    let density = |x: f64| (-0.5 * x * x).exp() / core::f64::consts::TAU.sqrt();
    for (a, b) in pairs {
        let (mut first, mut second) = (0.0, 0.0);
        for y in (-120_000..=120_000).map(|i| f64::from(i) * 1e-4) {
            let [(d1, p1), (d2, p2)] = [a, b].map(|[mean, var]: [f64; 2]| {
                let t = (y - mean) / var.sqrt();
                (density(t) / var.sqrt(), distribution(t))
            });
            let weight = 1e-4 * (d1 * p2 + p1 * d2);
            first += weight * y;
            second += weight * y * y;
        }
        let expected = [first, second - first * first];
        for [mean, var] in [larger(a, b, 0.0), larger(b, a, 0.0)] {
            assert!((mean - expected[0]).abs() < 2e-7 && (var - expected[1]).abs() < 2e-7, "{a:?} {b:?}");
        }
        let to_f32 = |pair: [f64; 2]| pair.map(|number| number as f32);
        let single = larger(to_f32(a), to_f32(b), 0.0);
        assert!((f64::from(single[1]) - expected[1]).abs() < 1e-6, "{single:?} {expected:?}");
    }
}

/// Clark's formula has the covariance in it: two values with noise in common, by 400,000 draws.
#[test]
fn the_larger_of_two_correlated_values_is_that_of_draws() {
    let values = [[0.3, 0.4], [0.1, 0.9]];
    for correlation in [0.2, 0.8] {
        let [mean, var] = larger(values[0], values[1], correlation);
        let expected = drawn(&values, correlation, 400_000, largest);
        assert!((mean - expected[0]).abs() < 5e-3 && (var / expected[1] - 1.0).abs() < 0.01, "{correlation}");
    }
}

/// One pair after the other the maximum is taken as normal, which it is not: the mean of 30 values is within
/// 0.03, the variance up to 30 % too small; sampling errors are a tenth of that.
#[test]
fn a_running_maximum_is_near_that_of_draws() {
    for values in [wave(30, 0.0, 1.0), wave(30, 0.8, 0.1), wave(12, 2.0, 0.5)] {
        let [mean, var] = pooled::<Maximum<f64>, 2>(&values, 0.0);
        let expected = drawn(&values, 0.0, 100_000, largest);
        assert!((mean - expected[0]).abs() < 0.03, "{mean} {expected:?}");
        assert!((0.7..1.05).contains(&(var / expected[1])), "{var} {expected:?}");
    }
}

#[test]
fn the_maximum_of_values_without_noise_is_the_largest() {
    let values = wave(20, 1.0, 0.0);
    let means: Vec<f64> = values.iter().map(|[mean, _]| *mean).collect();
    assert_eq!(pooled::<Maximum<f64>, 2>(&values, 0.0), [largest(&means), 0.0]);
    // The same noise on all: only the means decide.
    let same: Vec<[f64; 2]> = values.iter().map(|[mean, _]| [*mean, 0.25]).collect();
    let [mean, var] = pooled::<Maximum<f64>, 2>(&same, 1.0);
    assert!((mean - largest(&means)).abs() < 1e-12 && (var - 0.25).abs() < 1e-12);
}

#[test]
fn stochastic_pooling_without_noise_is_the_softmax_average() {
    let values = wave(15, 1.5, 0.0);
    let means: Vec<f64> = values.iter().map(|[mean, _]| *mean).collect();
    let [mean, var] = pooled::<SoftmaxAverage<f64>, 9>(&values, 0.0);
    assert!((mean - softmax_average(&means)).abs() < 1e-14 && var == 0.0);
}

#[test]
fn one_value_alone_keeps_its_moments() {
    assert_eq!(pooled::<SoftmaxAverage<f64>, 9>(&[[0.7, 0.3]], 0.0)[0], 0.7);
    assert!((pooled::<SoftmaxAverage<f64>, 9>(&[[0.7, 0.3]], 0.0)[1] - 0.3).abs() < 1e-15);
    assert_eq!(pooled::<Average<f64>, 3>(&[[0.7, 0.3]], 0.0), [0.7, 0.3]);
    assert_eq!(pooled::<Maximum<f64>, 2>(&[[0.7, 0.3]], 0.0), [0.7, 0.3]);
}

/// The mean is good to second order, the variance to first: too small where weights vary with their noise.
/// With variances up to 0.11 within 3·10⁻³ and 20 % of draws, up to 0.55 within 0.04 and a factor of two.
#[test]
fn stochastic_pooling_is_near_that_of_draws() {
    for (var, mean_error, var_ratio) in [(0.05, 3e-3, 1.2), (0.25, 0.04, 2.1)] {
        for count in [2, 4, 20] {
            let values = wave(count, 0.9, var);
            let [mean, pooled_var] = pooled::<SoftmaxAverage<f64>, 9>(&values, 0.0);
            let expected = drawn(&values, 0.0, 100_000, softmax_average);
            assert!((mean - expected[0]).abs() < mean_error, "{var} {count}: {mean} {expected:?}");
            let ratio = expected[1] / pooled_var;
            assert!((0.98..var_ratio).contains(&ratio), "{var} {count}: {pooled_var} {expected:?}");
        }
    }
}

/// Noise in common moves all values by the same number of their standard deviations: within 15 %.
#[test]
fn noise_in_common_moves_a_softmax_average_as_a_whole() {
    let values = wave(20, 0.9, 0.05);
    let [_, var] = pooled::<SoftmaxAverage<f64>, 9>(&values, 1.0);
    let [_, expected] = drawn(&values, 1.0, 100_000, softmax_average);
    assert!((var / expected - 1.0).abs() < 0.15, "{var} {expected}");
}

/// A window merges its parts: exact for averages and weighted averages, whatever the parts.
#[test]
fn parts_merge_to_the_whole() {
    fn halves<P: Pool<f64, WORDS>, const WORDS: usize>(values: &[[f64; 2]], cut: usize) -> [f64; 2] {
        let part = |values: &[[f64; 2]]| {
            let mut pool = P::of(values[0][0], values[0][1]);
            for (index, [mean, var]) in values.iter().enumerate().skip(1) {
                pool = pool.merged(P::of(*mean, *var), 1.0 / (index as f64 + 1.0), 0.2);
            }
            pool
        };
        let (early, late) = values.split_at(cut);
        part(early).merged(part(late), late.len() as f64 / values.len() as f64, 0.2).moments(0.2)
    }
    let values = wave(13, 0.9, 0.1);
    for cut in [1, 4, 12] {
        let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 1e-13 && (a[1] - b[1]).abs() < 1e-13;
        assert!(close(halves::<Average<f64>, 3>(&values, cut), pooled::<Average<f64>, 3>(&values, 0.2)));
        let whole = pooled::<SoftmaxAverage<f64>, 9>(&values, 0.2);
        assert!(close(halves::<SoftmaxAverage<f64>, 9>(&values, cut), whole));
        // Only approximately associative: Clark's formula takes what it merges as normal.
        let [mean, var] = halves::<Maximum<f64>, 2>(&values, cut);
        let whole = pooled::<Maximum<f64>, 2>(&values, 0.2);
        assert!(
            (mean - whole[0]).abs() < 0.02 && (var / whole[1] - 1.0).abs() < 0.2,
            "{mean} {var} {whole:?}"
        );
    }
}

/// Ten million rows in f32: means of what is the same at all times stay where they are.
#[test]
fn an_endless_stream_stays_in_the_precision_of_f32() {
    let (mut average, mut softmax) = (Average::of(0.3_f32, 0.01), SoftmaxAverage::of(0.3_f32, 0.01));
    for t in 1..10_000_000_u32 {
        let value = if t.is_multiple_of(2) { 0.3 } else { 0.5 };
        average = average.merged(Average::of(value, 0.01), 1.0 / (t as f32 + 1.0), 0.0);
        softmax = softmax.merged(SoftmaxAverage::of(value, 0.01), 0.0, 0.0);
    }
    let [mean, var] = average.moments(0.0);
    assert!((mean - 0.4).abs() < 1e-4 && (0.0..1e-7).contains(&var), "{mean} {var}");
    // 0.41 with weights e^0.3 and e^0.5, and ½Σvp(1 + d) = 0.01.
    let [mean, var] = softmax.moments(0.0);
    assert!((mean - 0.42).abs() < 1e-3 && (0.0..1e-7).contains(&var), "{mean} {var}");
}

/// Derivatives by dual numbers against central differences with a step of 10⁻⁵: good to 10⁻⁷ where Φ is
/// smooth, and its approximation is.
#[test]
fn dual_numbers_carry_the_derivatives() {
    let others = [[0.2, 0.3], [-0.4, 0.1]];
    fn value<S: Scalar>(x: [S; 2], others: [[f64; 2]; 2]) -> [[S; 2]; 2] {
        let correlation = S::constant(0.2);
        let constant = |[mean, var]: [f64; 2]| (S::constant(mean), S::constant(var));
        let [(m1, v1), (m2, v2)] = others.map(constant);
        let mut maximum = Maximum::of(m1, v1).merged(Maximum::of(x[0], x[1]), S::ZERO, correlation);
        maximum = maximum.merged(Maximum::of(m2, v2), S::ZERO, correlation);
        let softmax = SoftmaxAverage::of(m1, v1).merged(SoftmaxAverage::of(x[0], x[1]), S::ZERO, correlation);
        let softmax = softmax.merged(SoftmaxAverage::of(m2, v2), S::ZERO, correlation);
        [maximum.moments(correlation), softmax.moments(correlation)]
    }
    let (m, v) = (0.35, 0.2);
    let dual = value([Dual::by_mean(m), Dual::by_var(v)], others);
    let difference = |up: [f64; 2], down: [f64; 2], pool: usize, moment: usize| {
        (value(up, others)[pool][moment] - value(down, others)[pool][moment]) / 2e-5
    };
    for (pool, moments) in dual.into_iter().enumerate() {
        for (moment, found) in moments.into_iter().enumerate() {
            let by_mean = difference([m + 1e-5, v], [m - 1e-5, v], pool, moment);
            let by_var = difference([m, v + 1e-5], [m, v - 1e-5], pool, moment);
            assert!((found.by_mean - by_mean).abs() < 1e-7, "{found:?} {by_mean}");
            assert!((found.by_var - by_var).abs() < 1e-7, "{found:?} {by_var}");
        }
    }
}
