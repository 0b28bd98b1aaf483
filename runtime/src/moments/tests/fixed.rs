//! The integer moments against quadrature, and at their limits.

use super::quadrature;
use super::steps;
use crate::moments::fixed::{FixedMoments, Spread, tanh, tanh_certain};
use std::println;

/// An exponent that leaves room for variances up to 64.
const EXPONENT: u32 = 24;

fn fixed(value: f64, bits: u32) -> i32 {
    (value * f64::from(1u32 << bits)).round() as i32
}

fn at(mean: f64, var: f64) -> FixedMoments {
    tanh(fixed(mean, 18), Spread { mantissa: fixed(var, EXPONENT), shift: EXPONENT - 20 })
}

fn real(moments: FixedMoments) -> (f64, f64) {
    (f64::from(moments.mean) / 32768.0, f64::from(moments.var) / 1_048_576.0)
}

#[test]
fn tanh_is_near_the_integral() {
    let (mut worst_mean, mut worst_var, mut worst_relative) = (0f64, 0f64, 0f64);
    for deviation in steps(7.9, 300) {
        for mean in steps(8.0, 257) {
            let var = deviation * deviation;
            let exact = quadrature::tanh(mean, var);
            let (got_mean, got_var) = real(at(mean, var));
            worst_mean = worst_mean.max((got_mean - exact.mean).abs());
            worst_var = worst_var.max((got_var - exact.var).abs());
            if exact.var > 1e-3 {
                worst_relative = worst_relative.max((got_var / exact.var - 1.0).abs());
            }
        }
    }
    println!("mean {worst_mean:.1e}, variance {worst_var:.1e}, relative {:.1} %", 100.0 * worst_relative);
    assert!(worst_mean <= 5e-4, "mean off by {worst_mean}");
    assert!(worst_var <= 1.1e-3, "variance off by {worst_var}");
    assert!(worst_relative <= 0.04, "variance off by {worst_relative} of itself");
}

#[test]
fn a_small_variance_keeps_its_precision() {
    for power in 6..16 {
        let var = 2f64.powi(-power);
        let (_, got) = real(at(0.5, var));
        let slope = 1.0 - 0.5f64.tanh().powi(2);
        let expected = quadrature::tanh(0.5, var).var;
        assert!((got / expected - 1.0).abs() < 0.02 + 1e-6 / expected, "{got} for {expected}, slope {slope}");
    }
}

#[test]
fn the_mean_is_odd_and_the_variance_even() {
    for (mean, var) in [(0.0, 0.3), (0.7, 0.0), (2.5, 1.5), (40.0, 0.2)] {
        let (right, left) = (at(mean, var), at(-mean, var));
        assert_eq!(right.var, left.var);
        assert!((right.mean + left.mean).abs() <= 1, "{right:?} {left:?}");
    }
}

#[test]
fn certainty_stays_certainty() {
    for mean in steps(6.0, 77) {
        assert_eq!(at(mean, 0.0).var, 0);
        let (with_table, certain) = (at(mean, 0.0).mean, tanh_certain(fixed(mean, 18)));
        assert!((with_table - certain).abs() <= 8, "{with_table} {certain}");
        assert!((f64::from(certain) / 32768.0 - mean.tanh()).abs() < 5e-4);
    }
}

#[test]
fn nothing_overflows_at_the_ends() {
    for mean in [i32::MIN, -1, 0, 1, i32::MAX] {
        for mantissa in [0, 1, (1 << 30) - 1] {
            for shift in [0, 10, 31] {
                let moments = tanh(mean, Spread { mantissa, shift });
                assert!(moments.mean.abs() <= 32768 && (0..=(1 << 20) + (1 << 14)).contains(&moments.var));
            }
        }
    }
}
