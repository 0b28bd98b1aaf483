//! What is learned for each weight, and its prior.

use serde::{Deserialize, Serialize};

use super::weight_spread::WeightSpread;
use crate::config::{PosteriorName, WeightPriorName, WeightsConfig};

/// What is learned for each weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WeightPosterior {
    /// A point estimate.
    #[default]
    Point,
    /// Mean and variance by regularised optimisation of the predictive distribution (Bayer 2015, thesis,
    /// 2.6.2.2).
    Ropd,
    /// Mean and variance by variational Bayes (Bayer 2015, thesis, 2.6.2.1).
    Vb,
    /// Mean and variance by Bayes by Backprop.
    Bbb(BayesByBackprop),
}

/// Bayes by Backprop: a step trains a network whose weights are drawn from their posterior (Fortunato,
/// Blundell and Vinyals 2017, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayesByBackprop {
    /// The prior of every weight.
    pub prior: WeightPrior,
    /// Standard deviation σ₀ of the sharpened posterior around φ − η∘g_φ, if the posterior is sharpened
    /// (eq. 7).
    pub sharpening: Option<f32>,
}

/// The prior of every weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum WeightPrior {
    /// A normal distribution whose mean and variance are learned.
    Learned,
    /// A fixed mixture of two normal distributions.
    Mixture(ScaleMixture),
}

/// π N(0, σ₁²) + (1 − π) N(0, σ₂²) (Fortunato, Blundell and Vinyals 2017, eq. 18).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaleMixture {
    /// The weight π of the first component.
    pub weight: f32,
    /// The standard deviations σ₁ and σ₂.
    pub std_devs: [f32; 2],
}

impl WeightPosterior {
    /// How the variances of weights are stored, if they are learned.
    pub fn spread(self) -> Option<WeightSpread> {
        match self {
            WeightPosterior::Point => None,
            WeightPosterior::Ropd | WeightPosterior::Vb => Some(WeightSpread::LogVar),
            WeightPosterior::Bbb(_) => Some(WeightSpread::Softplus),
        }
    }

    /// The prior of the weights, if their variances are learned.
    pub fn prior(self) -> Option<WeightPrior> {
        match self {
            WeightPosterior::Point => None,
            WeightPosterior::Ropd | WeightPosterior::Vb => Some(WeightPrior::Learned),
            WeightPosterior::Bbb(method) => Some(method.prior),
        }
    }

    /// σ₀ of a sharpened posterior.
    pub fn sharpening(self) -> Option<f32> {
        match self {
            WeightPosterior::Bbb(method) => method.sharpening,
            WeightPosterior::Point | WeightPosterior::Ropd | WeightPosterior::Vb => None,
        }
    }

    /// The same posterior if it were not sharpened.
    pub(super) fn without_sharpening(self) -> Self {
        match self {
            WeightPosterior::Bbb(method) => {
                WeightPosterior::Bbb(BayesByBackprop { sharpening: None, ..method })
            }
            WeightPosterior::Point | WeightPosterior::Ropd | WeightPosterior::Vb => self,
        }
    }
}

impl From<&WeightsConfig> for WeightPosterior {
    fn from(weights: &WeightsConfig) -> Self {
        match weights.posterior {
            PosteriorName::Point => WeightPosterior::Point,
            PosteriorName::Ropd => WeightPosterior::Ropd,
            PosteriorName::Vb => WeightPosterior::Vb,
            PosteriorName::Bbb => WeightPosterior::Bbb(BayesByBackprop {
                prior: weights.into(),
                sharpening: weights.sharpen.then_some(weights.sharpen_std_dev),
            }),
        }
    }
}

impl From<&WeightsConfig> for WeightPrior {
    fn from(weights: &WeightsConfig) -> Self {
        match weights.prior {
            Some(WeightPriorName::Learned) => WeightPrior::Learned,
            Some(WeightPriorName::Mixture) | None => WeightPrior::Mixture(ScaleMixture {
                weight: weights.prior_weight,
                std_devs: weights.prior_std_dev,
            }),
        }
    }
}
