//! Negative log-likelihoods of observations under the moments of the outputs, and their derivatives.

use std::marker::PhantomData;

use quaver::checkpoint::MomentForm;
use quaver::likelihood;
use quaver::moments::Moments;

use crate::nn::activation_moments::{ActivationMoments, PaperSigmoid, Sigmoid};
use crate::nn::vectorised::{self, Kernel, Processor};

/// Observations, the moments of the outputs, and buffers for the derivatives. All slices have the same
/// length.
#[derive(Debug)]
pub struct LikelihoodTerms<'a> {
    /// Observed values.
    pub targets: &'a [f32],
    /// 1 where an observation counts, 0 where it does not.
    pub mask: &'a [f32],
    /// Means of the outputs.
    pub mean: &'a [f32],
    /// Variances of the outputs.
    pub var: &'a [f32],
    /// Derivatives of the loss with respect to the means.
    pub by_mean: &'a mut [f32],
    /// Derivatives of the loss with respect to the variances.
    pub by_var: &'a mut [f32],
}

/// Sum of −ln `N(z | E[y], V[y])`, in nats, where the variance includes the observation noise.
pub fn gaussian(terms: LikelihoodTerms<'_>) -> f64 {
    let mut sum = 0.0;
    for (index, target) in terms.targets.iter().enumerate() {
        let (mask, mean, var) = (terms.mask[index], terms.mean[index], terms.var[index]);
        // The score of a deterministic y has no limits, so that a diverging network has an infinite loss.
        sum += f64::from(mask)
            * likelihood::expected_gaussian_nll(mean.into(), 0.0_f64, var.into(), (*target).into());
        let [by_mean, by_var] = likelihood::gaussian_gradient(mean, var, *target);
        terms.by_mean[index] = mask * by_mean;
        terms.by_var[index] = mask * by_var;
    }
    sum
}

/// −w ln p of one class with a weight of 0 or 1, in nats.
pub(crate) fn class_nll(p: f32, weight: f32) -> f64 {
    -f64::from(weight) * f64::from(p.max(f32::MIN_POSITIVE)).ln()
}

/// Sum of the cross entropies of targets of 0 or 1 with E[σ(a)], in nats.
pub fn bernoulli(terms: LikelihoodTerms<'_>, form: MomentForm) -> f64 {
    match form {
        MomentForm::Accurate => cross_entropy::<Sigmoid>(terms),
        MomentForm::Paper => cross_entropy::<PaperSigmoid>(terms),
    }
}

fn cross_entropy<F: ActivationMoments>(terms: LikelihoodTerms<'_>) -> f64 {
    let mut probability = vec![0.0; terms.targets.len()];
    let mask = terms.mask;
    vectorised::run(CrossEntropyKernel { terms, probability: &mut probability, function: PhantomData::<F> });
    let counted = |(p, mask): (&f32, &f32)| if *mask == 0.0 { 1.0 } else { f64::from(*p) };
    // One logarithm for several probabilities: the product of eight f32 is far from the smallest f64.
    let groups = probability.chunks(8).zip(mask.chunks(8));
    groups.map(|(p, mask)| -p.iter().zip(mask).map(counted).product::<f64>().ln()).sum()
}

/// Probability of each target, and the derivatives of its negative logarithm.
///
/// 1 − E[σ(a)] = E[σ(−a)], so a target of 0 is treated as one of 1 for the mirrored output: no probability is
/// ever computed as 1 minus a number close to 1. The loop has no branches, so that it compiles to vector
/// instructions.
struct CrossEntropyKernel<'a, F> {
    terms: LikelihoodTerms<'a>,
    probability: &'a mut [f32],
    function: PhantomData<F>,
}

impl<F: ActivationMoments> Kernel for CrossEntropyKernel<'_, F> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let LikelihoodTerms { targets, mask, mean, var, by_mean, by_var } = self.terms;
        let count = targets.len();
        let [mask, mean, var] = [mask, mean, var].map(|plane| &plane[..count]);
        let [probability, by_mean, by_var] =
            [self.probability, by_mean, by_var].map(|plane| &mut plane[..count]);
        for index in 0..count {
            let sign = 2.0 * targets[index] - 1.0;
            let (activated, jacobian) =
                F::differentiate(Moments { mean: sign * mean[index], var: var[index] });
            let p = activated.mean.max(f32::MIN_POSITIVE);
            probability[index] = p;
            by_mean[index] = -mask[index] * sign * jacobian.mean_by_mean / p;
            by_var[index] = -mask[index] * jacobian.mean_by_var / p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Negative log-likelihood of one value, with its derivatives.
    #[derive(Debug)]
    struct Term {
        nll: f64,
        by_mean: f32,
        by_var: f32,
    }

    fn one(
        target: f32,
        mean: f32,
        var: f32,
        mask: f32,
        likelihood: impl Fn(LikelihoodTerms<'_>) -> f64,
    ) -> Term {
        let (mut by_mean, mut by_var) = ([f32::NAN], [f32::NAN]);
        let nll = likelihood(LikelihoodTerms {
            targets: &[target],
            mask: &[mask],
            mean: &[mean],
            var: &[var],
            by_mean: &mut by_mean,
            by_var: &mut by_var,
        });
        Term { nll, by_mean: by_mean[0], by_var: by_var[0] }
    }

    fn gaussian(target: f32, mean: f32, var: f32) -> Term {
        one(target, mean, var, 1.0, super::gaussian)
    }

    fn bernoulli(target: f32, mean: f32, var: f32, form: MomentForm) -> Term {
        one(target, mean, var, 1.0, |terms| super::bernoulli(terms, form))
    }

    #[test]
    fn what_is_masked_does_not_count() {
        let likelihoods: [fn(LikelihoodTerms<'_>) -> f64; 2] =
            [super::gaussian, |terms| super::bernoulli(terms, MomentForm::Accurate)];
        for likelihood in likelihoods {
            let term = one(0.0, 3.0, 0.5, 0.0, likelihood);
            assert_eq!((term.nll, term.by_mean, term.by_var), (0.0, 0.0, 0.0));
        }
    }

    #[test]
    fn gaussian_terms_by_hand() {
        // N(0 | 0, 1): ½ ln 2π.
        assert!((gaussian(0.0, 0.0, 1.0).nll - 0.918_938_533_2).abs() < 1e-9);
        // N(3 | 1, 4): ½ (ln 8π + 1); gradients −(3 − 1)/4 and ½·¼·(1 − 1).
        let term = gaussian(3.0, 1.0, 4.0);
        assert!((term.nll - 2.112_085_713_7).abs() < 1e-9);
        assert_eq!((term.by_mean, term.by_var), (-0.5, 0.0));
        // N(2 | 0, 1): gradients −2 and ½ (1 − 4).
        let term = gaussian(2.0, 0.0, 1.0);
        assert_eq!((term.by_mean, term.by_var), (-2.0, -1.5));
    }

    #[test]
    fn bernoulli_terms_of_a_deterministic_output_by_hand() {
        // σ(ln 3) = ¾.
        let logit = 3.0_f32.ln();
        let one = bernoulli(1.0, logit, 0.0, MomentForm::Accurate);
        let zero = bernoulli(0.0, logit, 0.0, MomentForm::Accurate);
        assert!((one.nll - -(0.75_f64.ln())).abs() < 1e-3, "{one:?}");
        assert!((zero.nll - -(0.25_f64.ln())).abs() < 1e-3, "{zero:?}");
        assert!((one.by_mean - -0.25).abs() < 1e-3, "{one:?}");
        assert!((zero.by_mean - 0.75).abs() < 1e-3, "{zero:?}");
    }

    #[test]
    fn uncertainty_makes_a_wrong_output_less_wrong() {
        let sure = bernoulli(0.0, 3.0, 0.0, MomentForm::Accurate);
        let unsure = bernoulli(0.0, 3.0, 4.0, MomentForm::Accurate);
        assert!(unsure.nll < sure.nll - 0.5);
        assert!(unsure.by_var < 0.0);
    }

    #[test]
    fn the_most_unlikely_observation_has_a_finite_loss() {
        for form in [MomentForm::Accurate, MomentForm::Paper] {
            let term = bernoulli(1.0, -1e4, 0.0, form);
            assert!(term.nll.is_finite() && term.by_mean.is_finite() && term.by_var.is_finite(), "{term:?}");
            assert!(term.nll > 80.0);
        }
    }
}
