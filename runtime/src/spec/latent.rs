//! Architecture of a latent model, apart from its two networks.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Most draws that a forecast may average over.
///
/// Each draw is a pass through the generative network: a header of a few bytes decides the time of a step.
/// Draws come in pairs ±ε, which keep the mean exact to first order; n pairs give the standard deviation to
/// within 1/√(2n), 6 % with 256 draws, which is less than what models are wrong by.
pub const MAX_DRAWS: u16 = 256;

/// How two networks and a latent variable z per step make one model of sequences.
///
/// The *recognition* network reads x_t and computes q(z_t | x_{1:t}) = N(μ_t, σ_t²): μ is the mean of its
/// output and σ² the total variance, propagated and noise. The *generative* network computes p(x_t | …, z_t).
/// Each is an ordinary network with a [`ModelSpec`](crate::checkpoint::ModelSpec) of its own.
///
/// ```
/// use quaver::checkpoint::{Family, Forecast, LatentSpec, Prior};
/// use quaver::LatentModel;
///
/// let model = LatentModel::load(quaver::include_checkpoint!("../../examples/denoiser.qvr"))?;
/// let (family, prior, forecast) = (Family::Vosp, Prior::White, Forecast::Moments);
/// let denoiser = LatentSpec { family, prior, latents: 3, forecast };
/// assert_eq!(*model.spec(), denoiser);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LatentSpec {
    /// Inputs of the generative network.
    pub family: Family,
    /// Distribution of z before x is observed.
    pub prior: Prior,
    /// Components of z.
    pub latents: u16,
    /// How the distribution of z enters the generative network.
    pub forecast: Forecast,
}

impl LatentSpec {
    /// How often the generative network runs in one step.
    ///
    /// A denoiser runs it twice, before and after it reads the row; a sampler advances it once and looks one
    /// step ahead. With draws, every look ahead is one pass per draw.
    pub fn generative_passes(&self) -> u64 {
        let looks = match self.forecast {
            Forecast::Moments | Forecast::PosteriorMean => 1,
            Forecast::Draws { count } => count.into(),
        };
        match self.family {
            Family::Storn => 1 + looks,
            Family::Vosp => 2 * looks,
        }
    }
}

/// Inputs of the generative network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Family {
    /// A recurrent generative network reads [x_{t−1}, z_t] (Bayer 2015, thesis, eqs. 29 and 31); x_0 is the
    /// training mean.
    Storn,
    /// A generative network without recurrence reads [h_{t−1}, z_t], h being the last layer of the
    /// recognition network before it reads x_t, mean and variance; h_0 = 0 (Bayer et al., VOSP, 3.2).
    Vosp,
}

/// Distribution of z before x is observed, each component independent of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Prior {
    /// z_t ~ N(0, 1), independent of the past.
    White,
    /// z_t − z_{t−1} ~ N(0, 1), z_0 = 0.
    Wiener,
}

/// Prior of one component of z that was fitted after training and then takes the place of [`Prior`] in
/// predictions: a stationary autoregressive process, z_t ~ N(m + a (z_{t−1} − m), (1 − a²) v), z_0 ~ N(m, v).
///
/// A VOSP that was trained with little weight on the divergence has a posterior that does not follow the
/// prior of its training; predictions of a row before it is observed need one that does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoregressivePrior {
    /// Stationary mean m.
    pub mean: f32,
    /// Stationary variance v.
    pub var: f32,
    /// Correlation a of successive steps, from −1 to 1. White noise has 0.
    pub decay: f32,
}

/// How the distribution of z enters the generative network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Forecast {
    /// Mean and variance, by variance propagation.
    Moments,
    /// The mean alone: of the posterior for an observed row, of the prior for the next one.
    PosteriorMean,
    /// Moments over a fixed set of draws; a recurrent generative network remembers the posterior mean.
    Draws {
        /// Number of draws, 1 to [`MAX_DRAWS`]. An even number keeps the mean of z exact, because draws come
        /// in pairs ±ε.
        count: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_multiply_the_passes_of_the_generative_network_and_nothing_else() {
        let passes = |family, forecast| {
            LatentSpec { family, prior: Prior::White, latents: 2, forecast }.generative_passes()
        };
        assert_eq!(passes(Family::Vosp, Forecast::Moments), 2);
        assert_eq!(passes(Family::Storn, Forecast::PosteriorMean), 2);
        assert_eq!(passes(Family::Vosp, Forecast::Draws { count: 8 }), 16);
        assert_eq!(passes(Family::Storn, Forecast::Draws { count: 8 }), 9);
    }
}
