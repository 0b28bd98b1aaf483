//! Likelihoods: what one step costs.

use std::f64::consts::{PI, TAU};

use quaver::checkpoint::{Activation, Likelihood};

use super::{Number, Pair, Reference};
use crate::nn::WeightPosterior;
use crate::nn::parameters::IMPLICIT_NOISE;

impl<N: Number> Reference<'_, N> {
    /// Nats of one step: what is masked does not count.
    pub(super) fn step_loss(&self, output: &[Pair<N>], targets: &[f32], mask: &[f32]) -> N {
        if self.spec.likelihood == Likelihood::Categorical {
            return categorical(output, targets, mask);
        }
        let mut sum = N::constant(0.0);
        for (index, target) in targets.iter().enumerate().filter(|(index, _)| mask[*index] == 1.0) {
            sum = sum + self.term(output, index, *target);
        }
        sum
    }

    fn term(&self, output: &[Pair<N>], index: usize, target: f32) -> N {
        let z = N::constant(target.into());
        match self.spec.likelihood {
            Likelihood::Gaussian => self.gaussian(output[index].clone(), index, z),
            Likelihood::Heteroscedastic => {
                let (mean, var) = output[2 * index].clone();
                let (log, log_var) = output[2 * index + 1].clone();
                // E[eˢ] of a normal s.
                normal(z - mean, var + (log + log_var * N::constant(0.5)).exp())
            }
            Likelihood::Bernoulli | Likelihood::Categorical => {
                let (mean, var) = output[index].clone();
                let (p, _) = (self.activation_moments)(Activation::Sigmoid, (mean, var));
                let of_target = if target == 1.0 { p } else { N::constant(1.0) - p };
                N::constant(0.0) - of_target.ln()
            }
        }
    }

    fn gaussian(&self, (mean, var): Pair<N>, index: usize, z: N) -> N {
        let noise = match self.values.get("output.log_noise") {
            Some(logs) => logs[index].clone().exp(),
            None => N::constant(IMPLICIT_NOISE.into()),
        };
        match self.method.posterior {
            // −E[ln N(z | y, σ̂²)] (Bayer 2015, thesis, 2.6.2.1).
            WeightPosterior::Vb => normal(z - mean, noise.clone()) + var / (noise * N::constant(2.0)),
            WeightPosterior::Point | WeightPosterior::Ropd | WeightPosterior::Bbb(_) => {
                normal(z - mean, var + noise)
            }
        }
    }
}

/// −ln N(residual | 0, var).
fn normal<N: Number>(residual: N, var: N) -> N {
    let fit = residual.squared() / var.clone();
    ((var * N::constant(TAU)).ln() + fit) * N::constant(0.5)
}

/// −Σ z_k ln p_k with p = softmax(m/√(1 + πv/8)).
fn categorical<N: Number>(output: &[Pair<N>], targets: &[f32], mask: &[f32]) -> N {
    let flat = |v: &N| (N::constant(1.0) + v.clone() * N::constant(PI / 8.0)).sqrt();
    let logits: Vec<N> = output.iter().map(|(m, v)| m.clone() / flat(v)).collect();
    let total = logits.iter().fold(N::constant(0.0), |sum, logit| sum + logit.clone().exp()).ln();
    let terms = logits.into_iter().zip(targets.iter().zip(mask));
    terms.fold(N::constant(0.0), |sum, (logit, (target, mask))| {
        sum + N::constant(f64::from(target * mask)) * (total.clone() - logit)
    })
}
