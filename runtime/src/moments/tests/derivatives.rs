//! Derivatives against differences of the functions and against exact ones.

use super::quadrature::{self, Reference};
use super::wide::Wide;
use super::{GRADIENTS, Gradient, moments, std_devs, steps};
use crate::moments::{Moments, gradient, logistic, paper};
use std::println;

#[test]
fn gradients_carry_the_plain_value() {
    for std_dev in std_devs() {
        for mean in steps(30.0, 200).flat_map(|m| [m, -m]) {
            let input = moments(mean, std_dev);
            for (name, plain, with_gradient) in GRADIENTS {
                assert_eq!(with_gradient(input).0, plain(input), "{name} at {input:?}");
            }
        }
    }
}

/// Derivative by central differences, and by how much rounding may spoil it: the functions form results of
/// their own size from numbers of the size of one, and tanh makes four of it.
fn slope(of: impl Fn(f32) -> f32, at: f32, step: f32) -> (f64, f64) {
    let (low, high) = (at - step, at + step);
    let distance = f64::from(high) - f64::from(low);
    let (below, above) = (f64::from(of(low)), f64::from(of(high)));
    (
        (above - below) / distance,
        16.0 * f64::from(f32::EPSILON) * (1.0 + below.abs().max(above.abs())) / distance,
    )
}

#[test]
fn gradients_are_those_of_the_function_computed() {
    for std_dev in steps(8.0, 40).skip(1) {
        for mean in steps(9.0, 61).flat_map(|m| [m + 0.01, -m - 0.01]) {
            let a = moments(mean, std_dev);
            let (step_mean, step_var) = (0.01, (0.1 * a.var).min(0.05));
            for (name, f, with_gradient) in GRADIENTS {
                let jacobian = with_gradient(a).1;
                let cases = [
                    (
                        "mean by mean",
                        jacobian.mean_by_mean,
                        slope(|m| f(Moments { mean: m, ..a }).mean, a.mean, step_mean),
                    ),
                    (
                        "mean by var",
                        jacobian.mean_by_var,
                        slope(|v| f(Moments { var: v, ..a }).mean, a.var, step_var),
                    ),
                    (
                        "var by mean",
                        jacobian.var_by_mean,
                        slope(|m| f(Moments { mean: m, ..a }).var, a.mean, step_mean),
                    ),
                    (
                        "var by var",
                        jacobian.var_by_var,
                        slope(|v| f(Moments { var: v, ..a }).var, a.var, step_var),
                    ),
                ];
                for (which, got, (expected, rounding)) in cases {
                    let tolerance = 2e-3 * expected.abs() + 2e-4 + rounding;
                    assert!(
                        (f64::from(got) - expected).abs() <= tolerance,
                        "{name}: {which} is {got}, differences give {expected}, at {a:?}"
                    );
                }
            }
        }
    }
}

/// Derivative by central differences in f64, free of the term in the squared step.
fn wide_slope(of: impl Fn(f64) -> f64, at: f64, step: f64) -> f64 {
    let central = |step: f64| (of(at + step) - of(at - step)) / (2.0 * step);
    (4.0 * central(step) - central(2.0 * step)) / 3.0
}

#[test]
fn gradients_are_those_of_the_formula_in_f64() {
    type Formula = fn(Wide, Wide) -> (Wide, Wide);
    let cases: [(&str, Gradient, Formula); 4] = [
        ("sigmoid", gradient::sigmoid, logistic::sigmoid_of),
        ("tanh", gradient::tanh, logistic::tanh_of),
        ("paper::sigmoid", gradient::paper_sigmoid, paper::sigmoid_of),
        ("paper::tanh", gradient::paper_tanh, paper::tanh_of),
    ];
    for (name, with_gradient, formula) in cases {
        let mut worst = 0f64;
        for std_dev in steps(2.95, 59).map(|s| s + 0.05) {
            for mean in steps(4.0, 80).flat_map(|m| [m + 0.01, -m - 0.01]) {
                let a = moments(mean, std_dev);
                let (m, v) = (f64::from(a.mean), f64::from(a.var));
                let at = |m: f64, v: f64| formula(Wide(m), Wide(v));
                let (step_mean, step_var) = (1e-3, 1e-3 * v.min(1.0));
                let jacobian = with_gradient(a).1;
                let pairs = [
                    (jacobian.mean_by_mean, wide_slope(|m| at(m, v).0.0, m, step_mean)),
                    (jacobian.mean_by_var, wide_slope(|v| at(m, v).0.0, v, step_var)),
                    (jacobian.var_by_mean, wide_slope(|m| at(m, v).1.0, m, step_mean)),
                    (jacobian.var_by_var, wide_slope(|v| at(m, v).1.0, v, step_var)),
                ];
                for (got, expected) in pairs {
                    let error = (f64::from(got) - expected).abs();
                    worst = worst.max(error);
                    // Derivatives are of the size of one at most, formed in f32 by a dozen operations.
                    assert!(error <= 2e-6, "{name}: {got}, differences give {expected}, at {a:?}");
                }
            }
        }
        println!("{name}: largest difference {worst:.1e}");
    }
}

#[test]
fn gradients_are_close_to_the_exact_ones() {
    let cases: [(&str, Gradient, Reference, f64); 3] = [
        ("relu", gradient::relu, quadrature::relu, 1e-4),
        ("sigmoid", gradient::sigmoid, quadrature::sigmoid, 0.05),
        ("tanh", gradient::tanh, quadrature::tanh, 0.05),
    ];
    for (name, with_gradient, exact, relative) in cases {
        let mut worst = [0f64; 4];
        for std_dev in steps(2.95, 59).map(|s| s + 0.05) {
            for mean in steps(4.0, 80).flat_map(|m| [m, -m]) {
                let a = moments(mean, std_dev);
                let got = with_gradient(a).1;
                let expected = exact(f64::from(a.mean), f64::from(a.var));
                let pairs = [
                    (got.mean_by_mean, expected.mean_by_mean),
                    (got.mean_by_var, expected.mean_by_var),
                    (got.var_by_mean, expected.var_by_mean),
                    (got.var_by_var, expected.var_by_var),
                ];
                for (worst, (got, expected)) in worst.iter_mut().zip(pairs) {
                    let error = (f64::from(got) - expected).abs();
                    *worst = worst.max(error);
                    assert!(
                        error <= relative * expected.abs() + 2e-3,
                        "{name}: {got} for {expected} at {a:?}"
                    );
                }
            }
        }
        println!("{name}: largest error of the derivatives {worst:.5?}");
    }
}
