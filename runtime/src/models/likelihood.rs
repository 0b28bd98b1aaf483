//! From the output map's moments to predictions in raw units.

use core::f32::consts::PI;

use super::prediction::Output;
use crate::moments::{Moments, at_most};

/// Largest magnitude of the mean logarithm of a noise variance, in standardised units.
const LOG_NOISE_LIMIT: f32 = 18.0;

/// The expected noise variance E[eˢ] of a logarithm s ~ N(m, v): exactly e^(m + v/2) for a normal s.
///
/// The exponent is kept within ±18: a wild input must not end in an infinite variance.
pub(super) fn noise_of(log: Moments) -> f32 {
    libm::expf((log.mean + 0.5 * log.var).clamp(-LOG_NOISE_LIMIT, LOG_NOISE_LIMIT))
}

/// The next row from the last one and the change that is predicted, both in standardised units. What was not known of the
/// last row is not known of the next: where a channel stays missing, its variance grows from step to step.
pub(super) fn from_last(last: Moments, change: Moments) -> Moments {
    Moments { mean: last.mean + change.mean, var: last.var + change.var }
}

/// Raw moments of a normal output: V[y] is carried through the net, σ̂² is the noise that remains (the predictive density is
/// N(z | E[y], V[y] + σ̂²); Bayer 2015, thesis, 2.6.2.2).
pub(super) fn gaussian_output(
    a: Moments,
    raw_mean: f32,
    raw_std: f32,
    noise_var: f32,
    calibration: f32,
) -> Output {
    let unit = calibration * (raw_std * raw_std);
    let [epistemic, aleatoric] = [a.var, noise_var].map(|var| at_most(var * unit, f32::MAX));
    Output::of(a.mean * raw_std + raw_mean, epistemic, aleatoric)
}

/// Moments of a binary output whose probability has the moments `p`: E[p] (1 − E[p]) is the total variance, V[p] the
/// part of it that stems from not knowing the probability.
pub(super) fn bernoulli_output(p: Moments) -> Output {
    let total = p.mean * (1.0 - p.mean);
    let epistemic = at_most(p.var, total);
    Output::of(p.mean, epistemic, total - epistemic)
}

/// Turns the moments of logits, in `mean` and `epistemic`, into those of probabilities.
///
/// E[softmax] has no closed form. As for a sigmoid (MacKay 1992), each logit is shrunk by what is not known of it,
/// κ = 1/√(1 + πv/8), before the softmax is taken. The epistemic part is the first-order
/// V[p_k] ≈ Σ_j (∂p_k/∂a_j)² v_j = p_k² ((1 − 2p_k) v_k + Σ_j p_j² v_j), at most the total p_k (1 − p_k); the rest is
/// aleatoric.
#[inline(never)]
pub(super) fn categorical(mean: &mut [f32], epistemic: &mut [f32], aleatoric: &mut [f32]) {
    let mut largest = f32::MIN;
    for (logit, var) in mean.iter_mut().zip(epistemic.iter()) {
        *logit /= libm::sqrtf(1.0 + PI / 8.0 * var);
        largest = largest.max(*logit);
    }
    let mut total = 0.0;
    for logit in mean.iter_mut() {
        *logit = libm::expf(*logit - largest);
        total += *logit;
    }
    let mut shared = 0.0;
    for (p, var) in mean.iter_mut().zip(epistemic.iter()) {
        *p /= total;
        shared += *p * *p * var;
    }
    for ((p, epistemic), aleatoric) in mean.iter().zip(epistemic).zip(aleatoric) {
        let bernoulli = p * (1.0 - p);
        let spread = p * p * ((1.0 - 2.0 * p) * *epistemic + shared);
        // Not `clamp`, which panics if its limits are in the wrong order.
        *epistemic = if spread > 0.0 { at_most(spread, bernoulli) } else { 0.0 };
        *aleatoric = bernoulli - *epistemic;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_logits_give_the_softmax() {
        let (mut mean, mut epistemic, mut aleatoric) =
            ([0.0, 2.0_f32.ln(), 5.0_f32.ln()], [0.0; 3], [0.0; 3]);
        categorical(&mut mean, &mut epistemic, &mut aleatoric);
        for (index, expected) in [0.125, 0.25, 0.625].into_iter().enumerate() {
            assert!((mean[index] - expected).abs() < 1e-6, "{mean:?}");
            assert_eq!(epistemic[index], 0.0);
            assert!((aleatoric[index] - expected * (1.0 - expected)).abs() < 1e-6);
        }
    }

    #[test]
    fn small_variances_of_logits_become_those_of_probabilities() {
        // By finite differences of the softmax: V[p_k] ≈ Σ_j (∂p_k/∂a_j)² v_j.
        let (logits, vars) = ([0.3_f32, -0.5, 1.0], [1e-4_f32, 3e-4, 2e-4]);
        let softmax = |logits: [f32; 3]| {
            let exps = logits.map(|logit| f64::from(logit).exp());
            exps.map(|exp| exp / exps.iter().sum::<f64>())
        };
        let mut expected = [0.0_f64; 3];
        for (j, var) in vars.into_iter().enumerate() {
            let (mut above, mut below) = (logits, logits);
            above[j] += 0.01;
            below[j] -= 0.01;
            let (above, below) = (softmax(above), softmax(below));
            for k in 0..3 {
                expected[k] += ((above[k] - below[k]) / 0.02).powi(2) * f64::from(var);
            }
        }
        let (mut mean, mut epistemic, mut aleatoric) = (logits, vars, [0.0; 3]);
        categorical(&mut mean, &mut epistemic, &mut aleatoric);
        for k in 0..3 {
            assert!((f64::from(epistemic[k]) / expected[k] - 1.0).abs() < 1e-3, "{epistemic:?} {expected:?}");
        }
    }

    #[test]
    fn nothing_known_of_the_logits_makes_all_classes_alike() {
        let (mut mean, mut epistemic, mut aleatoric) = ([3.0, -1.0], [1e30, 1e30], [0.0; 2]);
        categorical(&mut mean, &mut epistemic, &mut aleatoric);
        assert!((mean[0] - 0.5).abs() < 1e-6 && (mean[0] + mean[1] - 1.0).abs() < 1e-6);
        assert!(epistemic.iter().chain(&aleatoric).all(|var| (0.0..=0.25).contains(var)));
    }

    #[test]
    fn noise_is_the_mean_of_a_log_normal() {
        let expected = (0.5_f64 + 0.4).exp();
        assert!((f64::from(noise_of(Moments { mean: 0.5, var: 0.8 })) - expected).abs() < 1e-6);
        assert!(noise_of(Moments { mean: 1e6, var: 1e12 }).is_finite());
    }
}
