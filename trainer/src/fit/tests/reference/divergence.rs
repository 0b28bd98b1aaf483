//! Weights as distributions: their variances, draws from them, and their divergence from the prior.

use std::f64::consts::TAU;

use super::{Number, Pair, Reference};
use crate::nn::{ScaleMixture, WeightPosterior, WeightPrior};

impl<N: Number> Reference<'_, N> {
    /// Moments of one weight or bias: those of its posterior, or the one that was drawn.
    pub(super) fn weight(&self, name: &str, index: usize) -> Pair<N> {
        let mean = self.values[name][index].clone();
        if !self.draw.is_empty() {
            return (self.drawn_weight(name, index), N::constant(0.0));
        }
        let var = self.std_dev(name, index).map_or_else(|| N::constant(0.0), N::squared);
        (mean, var)
    }

    /// σ of one weight, if it is a distribution.
    fn std_dev(&self, name: &str, index: usize) -> Option<N> {
        let stored =
            |suffix: &str| self.values.get(&format!("{name}{suffix}")).map(|list| list[index].clone());
        match self.method.posterior {
            WeightPosterior::Point => None,
            WeightPosterior::Ropd | WeightPosterior::Vb => {
                Some((stored("_log_var")? * N::constant(0.5)).exp())
            }
            WeightPosterior::Bbb(_) => Some((N::constant(1.0) + stored("_rho")?.exp()).ln()),
        }
    }

    /// φ = μ + σε.
    fn first_stage(&self, name: &str, index: usize) -> N {
        let noise = N::constant(self.draw[name].noise[index].into());
        let std_dev = self.std_dev(name, index).expect("a distribution");
        self.values[name][index].clone() + std_dev * noise
    }

    /// φ, or φ − rs + σ₀ε₀ with s = σ₀²g_φ (Fortunato, Blundell and Vinyals 2017, alg. 1).
    fn drawn_weight(&self, name: &str, index: usize) -> N {
        let first = self.first_stage(name, index);
        let Some((shift, noise, std_dev)) = &self.draw[name].sharpened else { return first };
        let rate = self.values[&format!("{name}_rate")][index].clone();
        first - rate * N::constant(shift[index].into())
            + N::constant(f64::from(noise[index]) * f64::from(*std_dev))
    }

    /// Σ (rs)²/2σ₀² over all weights; 0 without sharpening.
    pub(super) fn sharpening_divergence(&self) -> N {
        let mut sum = N::constant(0.0);
        for (name, list) in &self.draw {
            let Some((shift, _, std_dev)) = &list.sharpened else { continue };
            for (rate, shift) in self.values[&format!("{name}_rate")].iter().zip(shift) {
                let shift = rate.clone() * N::constant(f64::from(*shift) / f64::from(*std_dev));
                sum = sum + shift.squared() * N::constant(0.5);
            }
        }
        sum
    }

    /// The divergence of all weights from their prior, if they are distributions.
    pub(super) fn divergence(&self) -> Option<N> {
        let prior = self.method.posterior.prior()?;
        let mut sum = N::constant(0.0);
        for (name, means) in
            self.values.iter().filter(|(name, _)| name.ends_with(".weight") || name.ends_with(".bias"))
        {
            for index in 0..means.len() {
                sum = sum
                    + match prior {
                        WeightPrior::Learned => self.closed_form(name, index),
                        WeightPrior::Mixture(mixture) => self.log_ratio(name, index, mixture),
                    };
            }
        }
        Some(sum)
    }

    /// ln(σ̃/σ) + (σ² + (μ − μ̃)²)/(2σ̃²) − ½ (Bayer 2015, thesis, 2.6.2).
    fn closed_form(&self, name: &str, index: usize) -> N {
        let [prior_mean, prior_log_var] =
            ["prior.mean", "prior.log_var"].map(|name| self.number(name).expect("a learned prior"));
        let var = self.std_dev(name, index).expect("a distribution").squared();
        let away = (self.values[name][index].clone() - prior_mean).squared();
        let spread = (var.clone() + away) / prior_log_var.clone().exp();
        (prior_log_var - var.ln() + spread - N::constant(1.0)) * N::constant(0.5)
    }

    /// ln N(φ | μ, σ²) − ln(π N(φ | 0, σ₁²) + (1 − π) N(φ | 0, σ₂²)) (Fortunato, Blundell and Vinyals 2017,
    /// eq. 18).
    fn log_ratio(&self, name: &str, index: usize, mixture: ScaleMixture) -> N {
        let first = self.first_stage(name, index);
        let std_dev = self.std_dev(name, index).expect("a distribution");
        let away = first.clone() - self.values[name][index].clone();
        let own = density(away, std_dev);
        let [share, one, other] = [mixture.weight, mixture.std_devs[0], mixture.std_devs[1]].map(f64::from);
        let component =
            |share: f64, std_dev: f64| N::constant(share) * density(first.clone(), N::constant(std_dev));
        own.ln() - (component(share, one) + component(1.0 - share, other)).ln()
    }
}

/// N(x | 0, σ²).
fn density<N: Number>(x: N, std_dev: N) -> N {
    let exponent = (x / std_dev.clone()).squared() * N::constant(-0.5);
    exponent.exp() / (std_dev * N::constant(TAU.sqrt()))
}
