use burn::tensor::{Device, TensorData};

use super::*;
use crate::nn::WeightSample;
use crate::nn::posterior_tensors::{DrawnTensors, WeightLeaves};
use crate::nn::tensors::to_vec;
use crate::nn::weight_spread::WeightSpread;
use crate::random::{Purpose, normals, stream};

fn tensor(values: &[f32]) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &Device::flex())
}

/// −½ (x − mean)²/var − ½ ln 2π var.
fn log_normal(x: f64, mean: f64, var: f64) -> f64 {
    -0.5 * ((x - mean).powi(2) / var + (std::f64::consts::TAU * var).ln())
}

/// ∫ q (ln q − ln p) for q = N(mean, var), by the trapezoidal rule over ten standard deviations.
fn integral(mean: f64, var: f64, log_prior: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-4 * var.sqrt();
    let term = |index: i32| {
        let x = mean + f64::from(index) * step;
        let log_q = log_normal(x, mean, var);
        step * log_q.exp() * (log_q - log_prior(x))
    };
    (-100_000..=100_000).map(term).sum()
}

#[test]
fn of_a_learned_prior_it_is_the_integral_of_the_log_ratio() {
    let (mu, tau, prior_mean, prior_var) = (0.7_f32, 0.3_f32, -0.2_f32, 1.7_f32);
    for spread in [WeightSpread::LogVar, WeightSpread::Softplus] {
        let stored = |var: f32| match spread {
            WeightSpread::LogVar => var.ln(),
            WeightSpread::Softplus => (var.sqrt().exp() - 1.0).ln(),
        };
        // The second weight is distributed as the prior and adds nothing.
        let leaves = WeightLeaves {
            mean: tensor(&[mu, prior_mean]),
            stored: tensor(&[stored(tau), stored(prior_var)]),
            rate: None,
        };
        let posteriors = Posteriors {
            weights: vec![("a".into(), PosteriorTensors::new(leaves, spread, None))],
            prior: PriorTensors::Learned(Box::new(NormalPrior {
                mean: tensor(&[prior_mean]),
                log_var: tensor(&[prior_var.ln()]),
            })),
        };
        let log_prior = |x: f64| log_normal(x, prior_mean.into(), prior_var.into());
        let expected = integral(mu.into(), tau.into(), log_prior);
        let found = f64::from(to_vec(divergence(&posteriors))[0]);
        assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
    }
}

/// The mixture of eq. 18 in f64, without regard to overflow.
fn log_mixture(x: f64, mixture: ScaleMixture) -> f64 {
    let [share, first, second] = [mixture.weight, mixture.std_devs[0], mixture.std_devs[1]].map(f64::from);
    let density = |std_dev: f64| log_normal(x, 0.0, std_dev * std_dev).exp();
    (share * density(first) + (1.0 - share) * density(second)).ln()
}

#[test]
fn of_a_mixture_its_expectation_is_the_integral_of_the_log_ratio() {
    let mixture = ScaleMixture { weight: 0.25, std_devs: [1.0, 0.05] };
    let count = 200_000;
    for (case, (mean, std_dev)) in
        [(0.0, 0.03), (0.0, 0.6), (0.5, 0.2), (-0.12, 0.08)].into_iter().enumerate()
    {
        let noise = normals(&mut stream(case as u64, Purpose::Initialisation), count);
        let stored = (f64::exp(std_dev) - 1.0).ln() as f32;
        let leaves = WeightLeaves {
            mean: tensor(&vec![mean as f32; count]),
            stored: tensor(&vec![stored; count]),
            rate: None,
        };
        let sample = WeightSample { noise: vec![noise], sharpened: None };
        let drawn = DrawnTensors::new(&leaves, WeightSpread::Softplus, &sample, 0);
        let weights = PosteriorTensors::new(leaves, WeightSpread::Softplus, Some(drawn));
        let prior = PriorTensors::Mixture(mixture);
        let posteriors = Posteriors { weights: vec![("a".into(), weights)], prior };
        let found = f64::from(to_vec(divergence(&posteriors))[0]) / count as f64;
        let expected = integral(mean, std_dev * std_dev, |x| log_mixture(x, mixture));
        // The log-ratio of one draw has a standard deviation of about 1 at most, its mean of 200 000 draws
        // one of 0.0022; three of them.
        assert!((found - expected).abs() < 0.007, "N({mean}, {std_dev}²): {found} against {expected}");
    }
}

#[test]
fn the_density_of_a_mixture_keeps_both_components_at_any_distance() {
    let mixture = ScaleMixture { weight: 0.5, std_devs: [1.0, 0.0025] };
    let places = [0.0_f32, 1e-4, 0.003, 0.01, 0.1, 1.0, 5.0];
    for (place, found) in places.iter().zip(to_vec(log_density(tensor(&places), mixture))) {
        let expected = log_mixture((*place).into(), mixture);
        assert!((f64::from(found) - expected).abs() < 1e-4, "{place}: {found} against {expected}");
    }
}

#[test]
fn a_sharpened_posterior_costs_the_divergence_of_two_equal_normals() {
    // Means 0.3 · 0.5 and 0.3 · 0.2 apart, standard deviation 0.1: ½ (1.5² + 0.6²).
    let leaves =
        WeightLeaves { mean: tensor(&[1.0, 2.0]), stored: tensor(&[0.0; 2]), rate: Some(tensor(&[0.3; 2])) };
    let sharpened = crate::nn::SharpenedSample {
        gradient: vec![vec![0.5, -0.2]],
        noise: vec![vec![1.0, 2.0]],
        std_dev: 0.1,
    };
    let sample = WeightSample { noise: vec![vec![0.0; 2]], sharpened: Some(sharpened) };
    let drawn = DrawnTensors::new(&leaves, WeightSpread::Softplus, &sample, 0);
    // θ = φ − η g + σ₀ ε₀.
    let weights = to_vec(drawn.weights.clone());
    assert!((weights[0] - 0.95).abs() < 1e-6 && (weights[1] - 2.26).abs() < 1e-6, "{weights:?}");
    let weights = vec![("a".into(), PosteriorTensors::new(leaves, WeightSpread::Softplus, Some(drawn)))];
    let mixture = ScaleMixture { weight: 0.5, std_devs: [1.0, 0.1] };
    let found = sharpening_divergence(&Posteriors { weights, prior: PriorTensors::Mixture(mixture) });
    assert!((to_vec(found.unwrap())[0] - 1.305).abs() < 1e-5);
}
