//! The published form: faithful, with its defects.

use super::accuracy::worst_errors;
use super::{moments, quadrature, std_devs, steps};
use crate::moments::{Moments, paper};

#[test]
fn paper_form_is_the_printed_one() {
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (a, b) = (4.0 - 2.0 * 2f64.sqrt(), -(2f64.sqrt() - 1.0).ln());
    for std_dev in std_devs() {
        for mean in steps(8.0, 100).flat_map(|m| [m, -m]) {
            let input = moments(mean, std_dev);
            let (m, v) = (f64::from(input.mean), f64::from(input.var));
            let c = std::f64::consts::PI / 8.0;
            let first = logistic(m / (1.0 + c * v).sqrt());
            let second = logistic(a * (m - b) / (1.0 + c * a * a * v).sqrt());
            let got = paper::sigmoid(input);
            assert!((f64::from(got.mean) - first).abs() < 5e-7, "mean at {input:?}");
            assert!(
                (f64::from(got.var) - (second - first * first).max(0.0)).abs() < 1e-6,
                "variance at {input:?}"
            );
            let doubled = paper::sigmoid(Moments { mean: 2.0 * input.mean, var: 4.0 * input.var });
            let expected = Moments { mean: 2.0 * doubled.mean - 1.0, var: 4.0 * doubled.var };
            assert_eq!(paper::tanh(input), expected);
        }
    }
}

#[test]
fn paper_form_has_its_known_defects() {
    let largest = steps(6.0, 600)
        .flat_map(|m| [m, -m])
        .map(|m| paper::sigmoid(moments(m, 0.0)).var)
        .fold(0.0, f32::max);
    assert!((0.02..0.03).contains(&largest), "variance of a deterministic input: {largest}");
    let worst = worst_errors(paper::sigmoid, quadrature::sigmoid, 6.0);
    assert!((0.01..0.02).contains(&worst.mean), "mean off by {}", worst.mean);
    assert!(worst.var_relative > 10.0, "variance off by {} of itself", worst.var_relative);
}
