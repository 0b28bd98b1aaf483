//! The prior of a latent model fitted after training.
//!
//! With little weight on the divergence, the posteriors of a model do not follow the prior that it was
//! trained with, and the prediction of a row before it is observed is as wrong as that prior. Posteriors of
//! training rows show which prior would have been right.

use quaver::checkpoint::AutoregressivePrior;

use super::model::PosteriorMoments;
use crate::data::Sequence;

/// Largest correlation of successive steps: a process without a stationary distribution has no variance to
/// start from.
const LARGEST_DECAY: f64 = 0.9999;

/// The stationary autoregressive process of first order that has the moments of draws from the posteriors:
/// for each latent variable the mean m and the variance v = V(μ_t) + E(σ_t²) over all steps, and the
/// coefficient a of the regression of μ_t − m on μ_{t−1} − m.
///
/// Then N(m + a (μ_{t−1} − m), a² σ_{t−1}² + (1 − a²) v) has, on average over steps, the mean and the
/// variance of z_t given the rows before. In a linear Gaussian model with exact posteriors these are the
/// parameters of the process itself, since v = V[E[z_t | x_{1:t}]] + E[V[z_t | x_{1:t}]] and E[μ_t |
/// x_{1:t−1}] = m + a (μ_{t−1} − m): the prediction of the Kalman filter (Kalman 1960).
pub fn fit_prior(posteriors: &[PosteriorMoments]) -> Vec<AutoregressivePrior> {
    let latents = posteriors.first().map_or(0, |posterior| posterior.mean.channels);
    (0..latents).map(|latent| fit_latent(posteriors, latent)).collect()
}

fn fit_latent(posteriors: &[PosteriorMoments], latent: usize) -> AutoregressivePrior {
    let means = |posterior: &PosteriorMoments| -> Vec<f64> {
        posterior.mean.iter().map(|row| f64::from(row[latent])).collect()
    };
    let means: Vec<Vec<f64>> = posteriors.iter().map(means).collect();
    let vars = posteriors.iter().flat_map(|posterior| posterior.var.iter()).map(|row| f64::from(row[latent]));
    let count = means.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let mean = means.iter().flatten().sum::<f64>() / count;
    let spread = means.iter().flatten().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let (mut product, mut square) = (0.0, 0.0);
    for pair in means.iter().flat_map(|means| means.windows(2)) {
        product += (pair[1] - mean) * (pair[0] - mean);
        square += (pair[0] - mean) * (pair[0] - mean);
    }
    let decay = if square > 0.0 { product / square } else { 0.0 };
    AutoregressivePrior {
        mean: mean as f32,
        var: ((spread + vars.sum::<f64>()) / count) as f32,
        decay: decay.clamp(-LARGEST_DECAY, LARGEST_DECAY) as f32,
    }
}

/// Variance of the difference between what is read and the target, per channel in raw units: the noise of a
/// model trained with clean targets. 0 for a channel without pairs.
pub fn row_noise(sequences: &[Sequence]) -> Vec<f32> {
    let channels = sequences.first().map_or(0, |sequence| sequence.targets.channels);
    let mut sums = vec![(0.0, 0.0); channels];
    let rows = sequences.iter().flat_map(|sequence| sequence.inputs.iter().zip(sequence.targets.iter()));
    for (read, target) in rows {
        for (sum, (read, target)) in sums.iter_mut().zip(read.iter().zip(target)) {
            let noise = f64::from(*read) - f64::from(*target);
            if noise.is_finite() {
                *sum = (sum.0 + noise * noise, sum.1 + 1.0);
            }
        }
    }
    sums.iter().map(|(squares, count)| (squares / f64::max(*count, 1.0)) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::random::{Purpose, normal, stream};

    const STEPS: usize = 100_000;

    /// Exact posteriors of z_t given x_{1:t} for z_t − m = a (z_{t−1} − m) + √(v (1 − a²)) w, x_t = z_t +
    /// √r e.
    fn kalman(prior: AutoregressivePrior, noise: f64, seed: u64) -> PosteriorMoments {
        let [mean, var, decay] = [prior.mean, prior.var, prior.decay].map(f64::from);
        let mut rng = stream(seed, Purpose::Initialisation);
        let mut z = mean + var.sqrt() * normal(&mut rng);
        let (mut posterior_mean, mut posterior_var) = (mean, var);
        let (mut means, mut vars) = (Vec::new(), Vec::new());
        for step in 0..STEPS {
            if step > 0 {
                z = mean + decay * (z - mean) + (var * (1.0 - decay * decay)).sqrt() * normal(&mut rng);
                posterior_mean = mean + decay * (posterior_mean - mean);
                posterior_var = decay * decay * posterior_var + var * (1.0 - decay * decay);
            }
            let observed = z + noise.sqrt() * normal(&mut rng);
            let gain = posterior_var / (posterior_var + noise);
            posterior_mean += gain * (observed - posterior_mean);
            posterior_var *= 1.0 - gain;
            means.push(posterior_mean as f32);
            vars.push(posterior_var as f32);
        }
        let rows = |values| Rows { channels: 1, values };
        PosteriorMoments { mean: rows(means), var: rows(vars) }
    }

    #[test]
    fn the_prior_of_a_linear_gaussian_model_is_found_from_its_exact_posteriors() {
        for (mean, var, decay, noise) in [(0.5, 0.2, 0.95, 0.1), (-2.0, 3.0, 0.5, 4.0), (0.0, 1.0, 0.0, 0.3)]
        {
            let prior = AutoregressivePrior { mean, var, decay };
            let found = fit_prior(&[kalman(prior, noise, 1), kalman(prior, noise, 2)])[0];
            // Standard errors of the mean, the variance and the decay of 200 000 correlated steps: at most
            // √(v (1 + a)/(1 − a)/n), v √(2 (1 + a²)/(1 − a²)/n) and 1/√n; four of each.
            let n = 2.0 * STEPS as f32;
            let within = |found: f32, exact: f32, error: f32| (found - exact).abs() < 4.0 * error;
            let (sum, square) = ((1.0 + decay) / (1.0 - decay), decay * decay);
            let errors = [
                (var * sum / n).sqrt(),
                var * (2.0 * (1.0 + square) / (1.0 - square) / n).sqrt(),
                1.0 / n.sqrt(),
            ];
            assert!(within(found.mean, mean, errors[0]), "{found:?} for {prior:?}");
            assert!(within(found.var, var, errors[1]), "{found:?} for {prior:?}");
            assert!(within(found.decay, decay, errors[2]), "{found:?} for {prior:?}");
        }
    }

    #[test]
    fn a_constant_posterior_has_no_correlation_and_sequences_are_not_joined() {
        let rows = |values: &[f32]| Rows { channels: 1, values: values.to_vec() };
        let posterior = |means: &[f32]| PosteriorMoments { mean: rows(means), var: rows(&[0.5, 0.5]) };
        let constant = fit_prior(&[posterior(&[2.0, 2.0])])[0];
        assert_eq!(constant, AutoregressivePrior { mean: 2.0, var: 0.5, decay: 0.0 });
        // Within both sequences the sign stays, between them it changes.
        let joined = fit_prior(&[posterior(&[1.0, 1.0]), posterior(&[-1.0, -1.0])])[0];
        assert_eq!((joined.mean, joined.var, joined.decay), (0.0, 1.5, LARGEST_DECAY as f32));
        assert_eq!(fit_prior(&[]), []);
    }

    #[test]
    fn the_noise_of_rows_is_what_differs_from_the_targets() {
        let rows = |values: &[f32]| Rows { channels: 2, values: values.to_vec() };
        let sequence = Sequence::columns(rows(&[1.0, f32::NAN, 3.0, 5.0]), rows(&[0.0, 1.0, 0.0, 3.0]));
        assert_eq!(row_noise(&[sequence]), [5.0, 4.0]);
    }
}
