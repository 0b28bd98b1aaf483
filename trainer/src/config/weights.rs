//! The section `[weights]`: whether weights are numbers or distributions.

use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid, not_negative, probability};

/// The section `[weights]` (Bayer 2015, thesis, 2.6.2 and 2.7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeightsConfig {
    /// `"point"` (the default): a weight is a number. `"ropd"` and `"vb"`: fast adaptive weight noise, a weight is a
    /// normal distribution, learned by its predictions or by variational Bayes.
    pub posterior: WeightPosterior,
    /// Factor on the divergence of the weights from their prior; 1, as the documents have it, unless given. Where there are
    /// few data for many weights, less of it leaves a net more freedom to follow them.
    pub divergence_weight: f32,
    /// Standard deviation of Gaussian noise on every weight; 0 unless given. Not together with `keep`.
    pub noise_std: f32,
    /// Probability to keep a weight (DropConnect); 1 unless given.
    pub keep: f32,
}

/// Value of `weights.posterior`: what is learned of each weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightPosterior {
    /// A number.
    #[default]
    Point,
    /// Mean and variance; the variance of an output counts as doubt about it: regularised optimisation of the predictive
    /// distribution (Bayer 2015, thesis, 2.6.2.2).
    Ropd,
    /// Mean and variance by variational Bayes (Bayer 2015, thesis, 2.6.2.1).
    Vb,
}

impl WeightPosterior {
    /// Whether weights have variances that are learned.
    pub fn has_variance(self) -> bool {
        self != WeightPosterior::Point
    }
}

impl Default for WeightsConfig {
    fn default() -> Self {
        WeightsConfig { posterior: WeightPosterior::Point, divergence_weight: 1.0, noise_std: 0.0, keep: 1.0 }
    }
}

impl WeightsConfig {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        not_negative("weights.divergence_weight", self.divergence_weight.into())?;
        not_negative("weights.noise_std", self.noise_std.into())?;
        probability("weights.keep", self.keep.into())?;
        if self.noise_std > 0.0 && self.keep < 1.0 {
            let problem = "and `weights.keep` are two kinds of noise on the same weights; remove one of them";
            return Err(invalid("weights.noise_std", problem));
        }
        Ok(())
    }

    /// Whether weights have variances, learned or from noise.
    pub fn has_variance(&self) -> bool {
        self.posterior.has_variance() || self.keep < 1.0 || self.noise_std > 0.0
    }
}
