use burn::tensor::{Device, TensorData};

use super::*;
use crate::nn::tensors::to_vec;
use crate::nn::weight_spread::WeightSpread;

fn tensor(values: &[f32]) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &Device::flex())
}

/// −½ (x − mean)²/var − ½ ln 2π var.
pub(in crate::fit) fn log_normal(x: f64, mean: f64, var: f64) -> f64 {
    -0.5 * ((x - mean).powi(2) / var + (std::f64::consts::TAU * var).ln())
}

/// ∫ q (ln q − ln p) for q = N(mean, var), by the trapezoidal rule over ten standard deviations.
pub(in crate::fit) fn integral(mean: f64, var: f64, log_prior: impl Fn(f64) -> f64) -> f64 {
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
        let (means, spreads) = (tensor(&[mu, prior_mean]), tensor(&[stored(tau), stored(prior_var)]));
        let posteriors = Posteriors {
            weights: vec![("a".into(), PosteriorTensors::new(means, spreads, spread))],
            prior: Some(NormalPrior { mean: tensor(&[prior_mean]), log_var: tensor(&[prior_var.ln()]) }),
        };
        let log_prior = |x: f64| log_normal(x, prior_mean.into(), prior_var.into());
        let expected = integral(mu.into(), tau.into(), log_prior);
        let found = f64::from(to_vec(divergence(&posteriors).unwrap())[0]);
        assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
    }
}

/// The mixture of eq. 18 in f64, without regard to overflow.
pub(in crate::fit) fn log_mixture(x: f64, mixture: ScaleMixture) -> f64 {
    let [share, first, second] = [mixture.weight, mixture.std_devs[0], mixture.std_devs[1]].map(f64::from);
    let density = |std_dev: f64| log_normal(x, 0.0, std_dev * std_dev).exp();
    (share * density(first) + (1.0 - share) * density(second)).ln()
}

#[test]
fn the_density_of_a_mixture_keeps_both_components_at_any_distance() {
    let mixture = ScaleMixture { weight: 0.5, std_devs: [1.0, 0.0025] };
    let places = [0.0_f32, 1e-4, 0.003, 0.01, 0.1, 1.0, 5.0];
    for place in places {
        let [found, slope] = MixtureDensity::new(mixture).log_density(place).map(f64::from);
        let exact = |shift: f64| log_mixture(f64::from(place) + shift, mixture);
        assert!((found - exact(0.0)).abs() < 1e-4, "{place}: {found} against {}", exact(0.0));
        // Differences over 2·10⁻⁷ of values of f64 with up to five digits before the point.
        let expected = (exact(1e-7) - exact(-1e-7)) / 2e-7;
        assert!(
            (slope - expected).abs() < 1e-4 * (1.0 + expected.abs()),
            "{place}: {slope} against {expected}"
        );
    }
}
