//! What a network is beyond its architecture while it is trained: what is uncertain, what is learned.

use serde::{Deserialize, Serialize};

/// How a network is trained. The default: weights are plain numbers, noise and scales are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// What is learned of each weight.
    pub posterior: Posterior,
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

/// What is learned of each weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Posterior {
    /// A number.
    #[default]
    Point,
    /// Mean and variance; the variance of an output counts as doubt about it: regularised optimisation of the predictive
    /// distribution (Bayer 2015, thesis, 2.6.2.2).
    Ropd,
    /// Mean and variance by variational Bayes (Bayer 2015, thesis, 2.6.2.1).
    Vb,
}

impl Posterior {
    /// Whether weights have variances that are learned.
    pub fn has_variance(self) -> bool {
        self != Posterior::Point
    }
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
