//! What a network is beyond its architecture while it is trained: what is uncertain, what is learned.

use serde::{Deserialize, Serialize};

use crate::config::{NetworkConfig, WeightPosterior, WeightsConfig};

/// How a network is trained. The default: weights are plain numbers, noise and scales are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingMethod {
    /// What is learned of each weight.
    pub posterior: WeightPosterior,
    /// Noise on the weights.
    pub weight_noise: WeightNoise,
    /// Lower bound β_min of the factors β on the variances of all layers, if those are learned (Bayer 2015, thesis,
    /// 2.6.1).
    pub scale_min: Option<f32>,
    /// Whether the keep probabilities of dropout are learned.
    pub learned_keep: bool,
    /// Whether the variance of a Gaussian output is what the network carries, and nothing else (Bayer 2015, thesis,
    /// 2.6.1).
    pub implicit_variance: bool,
}

/// Noise on the weights of all affine maps; biases are left alone (Bayer 2015, thesis, 2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WeightNoise {
    /// None.
    #[default]
    None,
    /// A Gaussian summand: τ + s².
    Gaussian {
        /// Variance s² of the summand.
        var: f32,
    },
    /// DropConnect: each weight is there with a probability p, hence μ̃ = pμ, τ̃ = p(1−p)μ² + pτ.
    DropConnect {
        /// The probability p.
        keep: f32,
    },
}

impl From<&NetworkConfig> for TrainingMethod {
    fn from(NetworkConfig { model, noise, weights }: &NetworkConfig) -> Self {
        TrainingMethod {
            posterior: weights.posterior,
            weight_noise: weights.into(),
            scale_min: model.learn_variance_scale.then_some(model.variance_scale_min),
            learned_keep: noise.learn_keep,
            implicit_variance: model.implicit_variance,
        }
    }
}

impl From<&WeightsConfig> for WeightNoise {
    fn from(weights: &WeightsConfig) -> Self {
        if weights.keep < 1.0 {
            WeightNoise::DropConnect { keep: weights.keep }
        } else if weights.noise_std_dev > 0.0 {
            WeightNoise::Gaussian { var: weights.noise_std_dev * weights.noise_std_dev }
        } else {
            WeightNoise::None
        }
    }
}
