//! The section `[weights]`: whether weights are numbers or distributions.

use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid};

/// The section `[weights]`: posterior distributions of the weights and noise on them (Bayer 2015, thesis,
/// 2.6.2 and 2.7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeightsConfig {
    /// What is learned for each weight: a point estimate, or (`"ropd"`, `"vb"`) mean and variance of a normal
    /// distribution, known as fast adaptive weight noise.
    pub posterior: WeightPosterior,
    /// Factor on the Kullback–Leibler divergence of the weights from their prior; 1 is the published
    /// objective. A smaller factor helps where there are few data for many weights.
    pub divergence_weight: f32,
    /// Standard deviation of Gaussian noise on every weight. Excludes `keep`.
    pub noise_std_dev: f32,
    /// Keep probability of every weight (DropConnect).
    pub keep: f32,
}

/// Value of `weights.posterior`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightPosterior {
    /// A point estimate.
    #[default]
    Point,
    /// Mean and variance by regularised optimisation of the predictive distribution: the variance that
    /// weights contribute to an output counts as predictive variance (Bayer 2015, thesis, 2.6.2.2).
    Ropd,
    /// Mean and variance by variational Bayes (Bayer 2015, thesis, 2.6.2.1).
    Vb,
}

impl WeightPosterior {
    /// Whether variances of weights are learned.
    pub fn has_variance(self) -> bool {
        self != WeightPosterior::Point
    }
}

impl Default for WeightsConfig {
    fn default() -> Self {
        WeightsConfig {
            posterior: WeightPosterior::Point,
            divergence_weight: 1.0,
            noise_std_dev: 0.0,
            keep: 1.0,
        }
    }
}

impl WeightsConfig {
    pub(super) const RULES: [Rule<Self>; 3] = [
        Rule::new("divergence_weight", Limits::NOT_NEGATIVE, |weights| {
            vec![weights.divergence_weight.into()]
        }),
        Rule::new("noise_std_dev", Limits::NOT_NEGATIVE, |weights| vec![weights.noise_std_dev.into()]),
        Rule::new("keep", Limits::KEEP, |weights| vec![weights.keep.into()]),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("weights", self, &Self::RULES)?;
        if self.noise_std_dev > 0.0 && self.keep < 1.0 {
            let problem = "and `weights.keep` are two kinds of noise on the same weights; remove one of them";
            return Err(invalid("weights.noise_std_dev", problem));
        }
        Ok(())
    }

    /// Whether weights have variances, learned or from noise.
    pub fn has_variance(&self) -> bool {
        self.posterior.has_variance() || self.keep < 1.0 || self.noise_std_dev > 0.0
    }
}
