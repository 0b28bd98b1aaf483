//! The integer moments against quadrature, and at their limits.

use super::super::fixed::{BlockFloat, FixedMoments, INPUT_BITS, LARGEST_SHIFT, MEAN_BITS, VAR_BITS};
use super::{deterministic_tanh, tanh};
use crate::moments::tests::{quadrature, steps};
use std::println;

/// An exponent that leaves room for variances up to 64.
const EXPONENT: u32 = 24;

fn fixed(value: f64, bits: u32) -> i32 {
    (value * f64::from(1u32 << bits)).round() as i32
}

fn at(mean: f64, var: f64) -> FixedMoments {
    tanh(fixed(mean, INPUT_BITS), BlockFloat { mantissa: fixed(var, EXPONENT), shift: EXPONENT - VAR_BITS })
}

fn number(code: i32, bits: u32) -> f64 {
    f64::from(code) / f64::from(1u32 << bits)
}

fn real(moments: FixedMoments) -> (f64, f64) {
    (number(moments.mean, MEAN_BITS), number(moments.var, VAR_BITS))
}

#[test]
fn tanh_is_near_the_integral() {
    let (mut worst_mean, mut worst_var, mut worst_relative) = (0f64, 0f64, 0f64);
    for std_dev in steps(7.9, 300) {
        for mean in steps(8.0, 257) {
            let var = std_dev * std_dev;
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
    assert!(worst_var <= 2.6e-3, "variance off by {worst_var}");
    assert!(worst_relative <= 0.035, "variance off by {worst_relative} of itself");
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
        assert!((right.mean + left.mean).abs() <= 1 << 16, "{right:?} {left:?}");
    }
}

#[test]
fn a_deterministic_input_stays_deterministic() {
    for mean in steps(6.0, 77) {
        assert_eq!(at(mean, 0.0).var, 0);
        let (with_table, deterministic) = (at(mean, 0.0).mean, deterministic_tanh(fixed(mean, INPUT_BITS)));
        assert!((with_table - deterministic).abs() <= 1 << 16, "{with_table} {deterministic}");
        assert!((number(deterministic, MEAN_BITS) - mean.tanh()).abs() < 5e-4);
    }
}

/// Kernels in assembler count on a variance below one.
#[test]
fn nothing_overflows_at_the_ends() {
    for mean in [i32::MIN, -1, 0, 1, 1 << INPUT_BITS, i32::MAX] {
        for mantissa in (0..=30).flat_map(|bits| [(1 << bits) - 1, (1 << bits) / 3]) {
            for shift in [0, 5, LARGEST_SHIFT] {
                let moments = tanh(mean, BlockFloat { mantissa, shift });
                assert!(
                    (-1 << MEAN_BITS..1 << MEAN_BITS).contains(&moments.mean),
                    "{mean} {mantissa} {moments:?}"
                );
                assert!((0..1 << VAR_BITS).contains(&moments.var), "{mean} {mantissa} {moments:?}");
            }
        }
    }
}
