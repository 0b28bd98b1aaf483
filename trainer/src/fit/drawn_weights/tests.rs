use super::*;
use crate::fit::weight_divergence::tests::{integral, log_mixture};
use crate::nn::{BayesByBackprop, ScaleMixture, TrainingMethod, WeightPosterior};
use crate::random::{Purpose, normals, stream};

/// A list of weights of equal μ and ρ; rates of 0.3 if they are sharpened.
fn parameters(means: &[f32], stored: f32, mixture: ScaleMixture, sharpening: Option<f32>) -> Parameters {
    let list = |suffix: &str, values: Vec<f32>| NamedTensor {
        name: format!("a.weight{suffix}"),
        shape: vec![values.len()],
        values,
        kept: None,
    };
    let mut tensors = vec![list("", means.to_vec()), list("_rho", vec![stored; means.len()])];
    tensors.extend(sharpening.map(|_| list(RATE_SUFFIX, vec![0.3; means.len()])));
    let posterior =
        WeightPosterior::Bbb(BayesByBackprop { prior: WeightPrior::Mixture(mixture), sharpening });
    Parameters { method: TrainingMethod { posterior, ..TrainingMethod::default() }, tensors }
}

/// What is left of loss and gradient where the likelihood does not depend on the weights.
fn prior_alone(drawn: &DrawnWeights<'_>, weights: usize) -> LossAndGradient {
    let gradients = vec![vec![0.0; weights]];
    let found = LossAndGradient { nll: 0.0, divergence: 0.0, steps: 1, gradients, states: Vec::new() };
    drawn.pull_back(found, Some(1.0))
}

#[test]
fn the_expectation_of_the_log_ratio_is_its_integral() {
    let mixture = ScaleMixture { weight: 0.25, std_devs: [1.0, 0.05] };
    let count = 200_000;
    for (case, (mean, std_dev)) in
        [(0.0, 0.03), (0.0, 0.6), (0.5, 0.2), (-0.12, 0.08)].into_iter().enumerate()
    {
        let noise = normals(&mut stream(case as u64, Purpose::Initialisation), count);
        let stored = (f64::exp(std_dev) - 1.0).ln() as f32;
        let parameters = parameters(&vec![mean as f32; count], stored, mixture, None);
        let drawn = DrawnWeights::new(&parameters, vec![noise]);
        let found = prior_alone(&drawn, count).divergence / count as f64;
        let expected = integral(mean, std_dev * std_dev, |x| log_mixture(x, mixture));
        // The log-ratio of one draw has a standard deviation of about 1 at most, its mean of 200 000 draws
        // one of 0.0022; three of them.
        assert!((found - expected).abs() < 0.007, "N({mean}, {std_dev}²): {found} against {expected}");
    }
}

#[test]
fn a_sharpened_posterior_costs_the_divergence_of_two_equal_normals() {
    // Means 0.3 · 0.5 and 0.3 · 0.2 apart, standard deviation 0.1: ½ (1.5² + 0.6²).
    let mixture = ScaleMixture { weight: 0.5, std_devs: [1.0, 0.1] };
    let parameters = parameters(&[1.0, 2.0], 0.0, mixture, Some(0.1));
    let sharpened =
        SharpenedSample { shift: vec![vec![0.5, -0.2]], noise: vec![vec![1.0, 2.0]], std_dev: 0.1 };
    let plain = DrawnWeights::new(&parameters, vec![vec![0.0; 2]]);
    let of_prior = prior_alone(&plain, 2).divergence;
    let drawn = plain.sharpened(sharpened);
    // θ = φ − r s + σ₀ ε₀.
    let points = drawn.points();
    assert_eq!(points.tensors.len(), 1, "a network of points has no lists of a posterior");
    let weights = &points.tensors[0].values;
    assert!((weights[0] - 0.95).abs() < 1e-6 && (weights[1] - 2.26).abs() < 1e-6, "{weights:?}");
    assert!((drawn.sharpening_divergence() - 1.305).abs() < 1e-5);
    assert!((prior_alone(&drawn, 2).divergence - of_prior - 1.305).abs() < 1e-5);
}
