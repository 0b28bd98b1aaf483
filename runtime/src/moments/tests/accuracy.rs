//! Every function against quadrature, and the parts that they are made of.

use super::quadrature::{self, Reference};
use super::{Function, moments, std_devs, steps};
use crate::moments::elementary::{exp2, inverse_sqrt};
use crate::moments::{Moments, product, relu, sigmoid, tanh};
use std::println;
use std::vec::Vec;

/// Bounds promised for sigmoid and tanh on |m| ≤ 8, √v ≤ 8.
const MEAN_BOUND: f64 = 5e-4;
const VAR_BOUND: f64 = 5e-4;
const VAR_RELATIVE_BOUND: f64 = 0.03;
const SMALLEST_RELATIVE_VAR: f64 = 1e-6;

#[derive(Default)]
pub(super) struct Worst {
    pub(super) mean: f64,
    pub(super) var: f64,
    pub(super) var_relative: f64,
}

pub(super) fn worst_errors(function: Function, exact: Reference, bound: f64) -> Worst {
    let mut worst = Worst::default();
    for std_dev in std_devs() {
        for magnitude in steps(bound, 160) {
            for mean in [magnitude, -magnitude] {
                let input = moments(mean, std_dev);
                let expected = exact(f64::from(input.mean), f64::from(input.var));
                let got = function(input);
                let error = (f64::from(got.var) - expected.var).abs();
                worst.mean = worst.mean.max((f64::from(got.mean) - expected.mean).abs());
                worst.var = worst.var.max(error);
                if expected.var >= SMALLEST_RELATIVE_VAR {
                    worst.var_relative = worst.var_relative.max(error / expected.var);
                }
            }
        }
    }
    worst
}

#[test]
fn sigmoid_and_tanh_keep_their_promise() {
    let cases: [(&str, Function, Reference); 2] =
        [("sigmoid", sigmoid, quadrature::sigmoid), ("tanh", tanh, quadrature::tanh)];
    for (name, function, exact) in cases {
        let worst = worst_errors(function, exact, 8.0);
        println!(
            "{name}: mean {:.2e}, variance {:.2e}, relative {:.2} %",
            worst.mean,
            worst.var,
            100.0 * worst.var_relative
        );
        assert!(worst.mean <= MEAN_BOUND, "{name}: mean off by {}", worst.mean);
        assert!(worst.var <= VAR_BOUND, "{name}: variance off by {}", worst.var);
        assert!(
            worst.var_relative <= VAR_RELATIVE_BOUND,
            "{name}: variance off by {} of itself",
            worst.var_relative
        );
    }
}

#[test]
fn accuracy_does_not_end_with_the_promised_range() {
    let cases: [(Function, Reference); 2] = [(sigmoid, quadrature::sigmoid), (tanh, quadrature::tanh)];
    for (function, exact) in cases {
        for std_dev in steps(64.0, 32) {
            for mean in steps(128.0, 128) {
                let input = moments(mean, std_dev);
                let (got, expected) = (function(input), exact(mean, std_dev * std_dev));
                assert!((f64::from(got.mean) - expected.mean).abs() <= 6e-4, "mean {got:?} at {input:?}");
                assert!((f64::from(got.var) - expected.var).abs() <= 6e-4, "variance {got:?} at {input:?}");
            }
        }
    }
}

#[test]
fn relu_is_exact() {
    let worst = worst_errors(relu, quadrature::relu, 40.0);
    println!(
        "relu: mean {:.2e}, variance {:.2e}, relative {:.2e}",
        worst.mean, worst.var, worst.var_relative
    );
    // Rounding only: means reach 40 and variances 64, of which f32 resolves 2·10⁻⁶ and 4·10⁻⁶.
    assert!(worst.mean <= 6e-6, "mean off by {}", worst.mean);
    assert!(worst.var <= 3e-5, "variance off by {}", worst.var);
    assert!(worst.var_relative <= 1e-3, "variance off by {} of itself", worst.var_relative);
}

#[test]
fn product_is_exact_for_independent_coins() {
    // a is 3 or −1, b is 5 or 2, each with probability ½: enumerate the four outcomes.
    let (a, b) = ([3.0f32, -1.0], [5.0f32, 2.0]);
    let of = |x: [f32; 2]| Moments { mean: (x[0] + x[1]) / 2.0, var: ((x[0] - x[1]) / 2.0).powi(2) };
    let outcomes: Vec<f32> = a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect();
    let mean = outcomes.iter().sum::<f32>() / 4.0;
    let var = outcomes.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 4.0;
    assert_eq!(product(of(a), of(b)), Moments { mean, var });
}

#[test]
fn elementary_functions_are_accurate() {
    let mut worst = [0f64; 2];
    for i in 0..=200_000 {
        let x = -126.0 + 252.0 * i as f32 / 200_000.0;
        worst[0] = worst[0].max((f64::from(exp2(x)) / f64::from(x).exp2() - 1.0).abs());
        let y = 1.0 + (i as f32 / 2_000.0).exp2() / 8.0;
        worst[1] = worst[1].max((f64::from(inverse_sqrt(y)) * f64::from(y).sqrt() - 1.0).abs());
    }
    println!("exp2 {:.1e}, inverse_sqrt {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 3e-7 && worst[1] < 2e-7, "{worst:?}");
}
