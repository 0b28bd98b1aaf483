//! The training method of a network, beyond its architecture: which quantities are distributions, and which
//! are learned.

use serde::{Deserialize, Serialize};

use super::weight_posterior::WeightPosterior;
use crate::config::{NetworkConfig, WeightsConfig};

/// How a network is trained. The default has point weights, and fixed noise and scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingMethod {
    /// What is learned for each weight.
    pub posterior: WeightPosterior,
    /// Noise on the weights.
    pub weight_noise: WeightNoise,
    /// Lower bound β_min of the factors β on the variances of all layers, if those are learned (Bayer 2015,
    /// thesis, 2.6.1).
    pub scale_min: Option<f32>,
    /// Whether the keep probabilities of dropout are learned.
    pub learned_keep: bool,
    /// Whether the variance of a Gaussian output is the propagated one only (Bayer 2015, thesis, 2.6.1).
    pub implicit_variance: bool,
}

/// Noise on the weights of all affine maps, not on the biases (Bayer 2015, thesis, 2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum WeightNoise {
    /// No noise.
    #[default]
    None,
    /// Additive Gaussian noise: variance τ + s².
    Gaussian {
        /// Variance s² of the noise.
        var: f32,
    },
    /// DropConnect: each weight is kept with probability p, hence μ̃ = pμ, τ̃ = p(1−p)μ² + pτ.
    DropConnect {
        /// The keep probability p.
        keep: f32,
    },
}

impl From<&NetworkConfig> for TrainingMethod {
    fn from(NetworkConfig { model, noise, weights }: &NetworkConfig) -> Self {
        TrainingMethod {
            posterior: weights.into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// States of runs that were trained before there was Bayes by Backprop hold these bytes.
    #[test]
    fn methods_of_earlier_versions_keep_their_encoding() {
        for (code, posterior) in
            [WeightPosterior::Point, WeightPosterior::Ropd, WeightPosterior::Vb].iter().enumerate()
        {
            let method = TrainingMethod { posterior: *posterior, ..TrainingMethod::default() };
            assert_eq!(postcard::to_extend(&method, Vec::new()).unwrap(), [code as u8, 0, 0, 0, 0]);
        }
    }
}
