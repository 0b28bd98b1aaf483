//! The divergence of the weight posteriors from their prior.

use burn::tensor::Tensor;

use crate::nn::tensors::Posteriors;

/// Σ KL(N(μ, τ) ‖ N(μ̃, σ̃²)) = Σ ln(σ̃/σ) + (τ + (μ − μ̃)²)/(2σ̃²) − ½ over all weights, which share the
/// mean and variance of the prior (Bayer 2015, thesis, 2.6.2). One element, in nats.
pub(crate) fn divergence(posteriors: &Posteriors) -> Tensor<1> {
    let Posteriors { weights, prior_mean, prior_log_var } = posteriors;
    let (means, logs): (Vec<_>, Vec<_>) = weights.iter().cloned().unzip();
    let (mean, log_var) = (Tensor::cat(means, 0), Tensor::cat(logs, 0));
    let away = mean - prior_mean.clone();
    let precision = (prior_log_var.clone() * -1.0).exp();
    let spread = (log_var.clone().exp() + away.clone() * away) * precision;
    (prior_log_var.clone() - log_var + spread - 1.0).sum() * 0.5
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::nn::tensors::to_vec;

    #[test]
    fn it_is_the_integral_of_the_log_ratio() {
        let device = Device::flex();
        let one = |value: f32| Tensor::<1>::from_data([value], &device);
        let (mu, tau, prior_mean, prior_var) = (0.7_f32, 0.3_f32, -0.2_f32, 1.7_f32);
        let posteriors = Posteriors {
            weights: vec![(one(mu), one(tau.ln())), (one(prior_mean), one(prior_var.ln()))],
            prior_mean: one(prior_mean),
            prior_log_var: one(prior_var.ln()),
        };
        let density = |x: f64, mean: f32, var: f32| {
            let (mean, var) = (f64::from(mean), f64::from(var));
            (-(x - mean).powi(2) / (2.0 * var)).exp() / (std::f64::consts::TAU * var).sqrt()
        };
        let step = 1e-3;
        let expected: f64 = (-8000..8000)
            .map(|index| {
                let x = f64::from(index) * step;
                let q = density(x, mu, tau);
                if q > 0.0 { step * q * (q / density(x, prior_mean, prior_var)).ln() } else { 0.0 }
            })
            .sum();
        // The second weight is distributed as the prior and adds nothing.
        let found = f64::from(to_vec(divergence(&posteriors))[0]);
        assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
    }
}
