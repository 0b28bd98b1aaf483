//! Deterministic, huge, tiny and invalid inputs; symmetry.

use super::{ALL, GRADIENTS, moments, quadrature, std_devs, steps};
use crate::moments::{Jacobian, LARGEST, Moments, identity, product, relu, sigmoid, tanh};
use std::vec::Vec;

#[test]
fn deterministic_inputs_stay_deterministic() {
    for mean in steps(20.0, 4000).flat_map(|m| [m, -m]) {
        let input = moments(mean, 0.0);
        for (name, function) in ALL.into_iter().filter(|(name, _)| !name.starts_with("paper")) {
            assert_eq!(function(input).var, 0.0, "{name} at {mean}");
        }
        let mean = f64::from(input.mean);
        assert!((f64::from(sigmoid(input).mean) - 1.0 / (1.0 + (-mean).exp())).abs() < 1e-6, "at {mean}");
        assert!((f64::from(tanh(input).mean) - mean.tanh()).abs() < 1e-6, "at {mean}");
        assert_eq!(relu(input).mean, input.mean.max(0.0));
    }
}

#[test]
fn small_variances_pass_with_the_squared_slope() {
    for mean in steps(8.0, 100).flat_map(|m| [m, -m]) {
        let input = Moments { mean: mean as f32, var: 1e-8 };
        let exact = quadrature::sigmoid(f64::from(input.mean), f64::from(input.var));
        let relative = f64::from(sigmoid(input).var) / exact.var - 1.0;
        assert!(relative.abs() < 1e-4, "{relative} at {mean}");
        if mean != 0.0 {
            assert_eq!(relu(input).var, if mean > 0.0 { input.var } else { 0.0 });
        }
    }
}

#[test]
fn sigmoid_and_tanh_are_symmetric_to_the_bit() {
    for std_dev in std_devs() {
        for mean in steps(30.0, 400) {
            let (above, below) = (moments(mean, std_dev), moments(-mean, std_dev));
            assert_eq!(sigmoid(above).mean, 1.0 - sigmoid(below).mean);
            assert_eq!(sigmoid(above).var, sigmoid(below).var);
            assert_eq!(tanh(above).mean, -tanh(below).mean);
            assert_eq!(tanh(above).var, tanh(below).var);
        }
    }
}

#[test]
fn limits_are_approached_monotonically() {
    let powers = || (0..=200).map(|i| 10f32.powf(i as f32 / 10.0));
    // v → ∞ from v = 100 on: a coin toss.
    for mean in [0.0, 1.0, -3.0, 8.0] {
        let path: Vec<_> = powers().map(|v| sigmoid(Moments { mean, var: 100.0 * v })).collect();
        assert!(path.windows(2).all(|w| (w[1].mean - 0.5).abs() <= (w[0].mean - 0.5).abs() + 1e-7));
        assert!(path.windows(2).all(|w| w[1].var >= w[0].var - 1e-7));
        let last = path[path.len() - 1];
        assert!((last.mean - 0.5).abs() < 1e-6 && (last.var - 0.25).abs() < 1e-6, "{last:?}");
        let last = tanh(Moments { mean, var: 1e22 });
        assert!(last.mean.abs() < 1e-6 && (last.var - 1.0).abs() < 1e-6, "{last:?}");
    }
    // |m| → ∞: deterministic.
    for var in [0.0, 0.1, 1.0, 10.0, 100.0, 1e4] {
        let path: Vec<_> = powers().map(|m| sigmoid(Moments { mean: m - 1.0, var })).collect();
        assert!(
            path.windows(2).all(|w| w[1].mean >= w[0].mean && w[1].var <= w[0].var * (1.0 + 1e-6)),
            "{var}"
        );
        let last = path[path.len() - 1];
        assert!(last.mean == 1.0 && last.var < 1e-30, "{last:?}");
        assert!(sigmoid(Moments { mean: -1e20, var }).mean < 1e-30);
    }
}

/// Numbers of every awkward kind.
fn awkward() -> Vec<f32> {
    let positive = [
        0.0,
        1e-45,
        1e-40,
        f32::MIN_POSITIVE,
        1e-20,
        1e-3,
        0.5,
        1.0,
        30.0,
        88.8,
        1e4,
        1e10,
        1e19,
        3e19,
        1e30,
    ];
    let huge = [1e37, 1e38, f32::MAX, f32::INFINITY, f32::NAN];
    positive.into_iter().chain(huge).flat_map(|x| [x, -x]).collect()
}

fn assert_valid(y: Moments, name: &str, from: impl std::fmt::Debug) {
    assert!(y.mean.is_finite() && y.var.is_finite() && y.var >= 0.0, "{name} makes {y:?} of {from:?}");
}

#[test]
fn every_input_gives_valid_moments() {
    for (mean, var) in awkward().into_iter().flat_map(|m| awkward().into_iter().map(move |v| (m, v))) {
        let a = Moments { mean, var };
        for (name, function) in ALL {
            assert_valid(function(a), name, a);
        }
        for (name, _, function) in GRADIENTS {
            let (y, jacobian) = function(a);
            assert_valid(y, name, a);
            let Jacobian { mean_by_mean, mean_by_var, var_by_mean, var_by_var } = jacobian;
            let all = [mean_by_mean, mean_by_var, var_by_mean, var_by_var];
            assert!(all.iter().all(|d| d.is_finite()), "{name}: {jacobian:?} at {a:?}");
        }
        for (other_mean, other_var) in awkward().into_iter().zip(awkward().into_iter().rev()) {
            let b = Moments { mean: other_mean, var: other_var };
            assert_valid(product(a, b), "product", (a, b));
        }
    }
}

#[test]
fn nan_is_not_deterministic() {
    let unknown = Moments { mean: f32::NAN, var: f32::NAN };
    assert_eq!(identity(unknown), Moments { mean: 0.0, var: LARGEST });
    assert!(sigmoid(unknown).mean == 0.5 && sigmoid(unknown).var > 0.249_999);
    assert!(tanh(unknown).mean == 0.0 && tanh(unknown).var > 0.999_999);
}

#[test]
#[cfg(feature = "float")]
fn deterministic_functions_have_the_bits_of_those_with_variances() {
    use crate::moments::{deterministic_sigmoid, deterministic_tanh};

    let sizes = (0..4000).map(|step| 1e-30_f32 * 1.04_f32.powi(step)).take_while(|size| *size < 1e16);
    for mean in sizes.flat_map(|size| [size, -size]).chain([0.0, -0.0, f32::MIN_POSITIVE]) {
        let a = Moments { mean, var: 0.0 };
        assert_eq!(deterministic_sigmoid(mean).to_bits(), sigmoid(a).mean.to_bits(), "sigmoid of {mean}");
        assert_eq!(deterministic_tanh(mean).to_bits(), tanh(a).mean.to_bits(), "tanh of {mean}");
        assert_eq!((sigmoid(a).var, tanh(a).var), (0.0, 0.0));
    }
}
