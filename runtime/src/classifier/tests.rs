//! Kernels, votes and energies against quadrature, enumeration and draws.

use super::*;
use crate::random::fixed_normal;

/// ∫ N(e | m, v) exp(−β(e − p)²) de by the trapezoidal rule on ±12 standard deviations, exact to rounding.
#[test]
fn the_expected_kernel_is_its_integral() {
    for (mean, var, prototype, beta) in [(0.3, 0.2, -0.4, 1.0), (1.0, 2.0, 0.0, 0.5), (0.0, 0.01, 0.1, 30.0)]
    {
        let std_dev = f64::sqrt(var);
        let integral: f64 = (-1200..=1200)
            .map(|i| f64::from(i) * 0.01)
            .map(|t| {
                let density = 0.01 * (-0.5 * t * t).exp() / core::f64::consts::TAU.sqrt();
                let difference = mean + std_dev * t - prototype;
                density * (-beta * difference * difference).exp()
            })
            .sum();
        let squared: f64 = (mean - prototype) * (mean - prototype);
        let closed = (kernel_log_scale(beta, var) - kernel_precision(beta, var) * squared).exp();
        assert!((closed / integral - 1.0).abs() < 1e-12, "{closed} {integral}");
    }
}

#[test]
fn probabilities_are_shares_of_kernels() {
    let kernels = [(0, 0.5), (1, 0.125), (1, 0.25), (0, 0.5), (7, 1.0)];
    let mut sums = [0.0_f64; 3];
    let mut kernel_sums = KernelSums::new(&mut sums);
    // In every order of sizes, and a class that does not exist.
    for (class, kernel) in kernels {
        kernel_sums.add(class, f64::ln(kernel));
    }
    let energy = kernel_sums.finish().expect("kernels");
    let expected = [1.0 / 1.375, 0.375 / 1.375, 0.0];
    for (found, expected) in sums.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{sums:?}");
    }
    assert!((energy + 1.375_f64.ln()).abs() < 1e-14);
}

#[test]
fn far_prototypes_neither_overflow_nor_vanish() {
    let mut sums = [0.0_f32; 2];
    let mut kernel_sums = KernelSums::new(&mut sums);
    kernel_sums.add(0, -1e36);
    kernel_sums.add(1, -5e35);
    assert_eq!(kernel_sums.finish(), Some(5e35));
    assert_eq!(sums, [0.0, 1.0]);
    let empty = KernelSums::new(&mut sums);
    assert_eq!(empty.finish(), None);
    assert_eq!(sums, [0.5; 2]);
}

#[test]
fn the_majority_of_the_nearest_decides_and_ties_go_to_the_nearest() {
    let prototypes = [(3.0, 2), (1.0, 0), (2.0, 1), (2.5, 1), (0.5, 2), (9.0, 0)];
    let class = |neighbours| {
        let mut votes = Votes::new(neighbours);
        prototypes.iter().for_each(|(distance, class)| votes.add(*distance, *class));
        assert_eq!(votes.nearest(), Some((0.5, 2)));
        votes.majority()
    };
    assert_eq!([1, 2, 3, 4, 5, 6].map(class), [Some(2), Some(2), Some(2), Some(1), Some(2), Some(2)]);
    assert_eq!(Votes::new(3).majority(), None);
    assert_eq!(Votes::new(3).nearest(), None);
}

/// Moments of a logit against 4,096 antithetic draws of a normal embedding: the variance is good to 5 %.
#[test]
fn logits_have_the_moments_of_draws() {
    let (weights, embedding, bias, temperature) = ([0.5, -1.0], [[0.3, 0.2], [1.0, 0.4]], 0.1, 2.0);
    let [mean, var] = logit(weights.into_iter(), embedding.into_iter(), bias, temperature);
    let (mut sum, mut squares, count) = (0.0, 0.0, 4096_u16);
    for draw in 0..count {
        let y = weights.iter().zip(embedding).enumerate().fold(bias, |sum, (k, (weight, [mean, var]))| {
            sum + weight * (mean + f64::sqrt(var) * f64::from(fixed_normal(draw, k as u16)))
        }) / temperature;
        sum += y / f64::from(count);
        squares += y * y / f64::from(count);
    }
    assert!((mean - sum).abs() < 1e-12, "antithetic draws have the exact mean");
    assert!((var / (squares - sum * sum) - 1.0).abs() < 0.05);
}

#[test]
fn the_energy_is_that_of_the_shrunk_logits() {
    let (mean, var) = ([1.0_f64, -0.5, 2.0], [0.0; 3]);
    let expected = -mean.iter().map(|logit: &f64| logit.exp()).sum::<f64>().ln();
    assert!((energy(&mean, &var) - expected).abs() < 1e-14);
    let unknown = energy(&[100.0_f32, -100.0], &[1e30; 2]);
    assert!((unknown + 2.0_f32.ln()).abs() < 1e-6, "no class insists: {unknown}");
    assert!(energy(&[8e25_f32, -8e25], &[f32::MAX; 2]).is_finite());
}
