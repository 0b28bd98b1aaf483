//! What a latent model is, beside its two networks.
//!
//! As in `checkpoint::spec`, a variant may be appended to an enum; any other change needs a new version number.

use serde::{Deserialize, Serialize};

/// The most draws that a forecast may average over.
pub const MAX_DRAWS: u16 = 4096;

/// How two networks and a latent variable z per step make one model of sequences.
///
/// The *recognition* network reads x_t and says q(z_t | x_{1:t}) = N(μ_t, σ_t²): μ is the mean of its output and σ² its
/// whole variance, propagated and noise. The *generative* network says p(x_t | …, z_t). Both are ordinary networks, each with a
/// [`ModelSpec`](crate::checkpoint::ModelSpec) of its own.
///
/// ```
/// use quaver::checkpoint::{Family, Forecast, LatentSpec, Prior};
/// use quaver::LatentModel;
///
/// let model = LatentModel::load(quaver::include_checkpoint!("../../../examples/denoiser.qvr"))?;
/// let smoother = LatentSpec { family: Family::Vosp, prior: Prior::White, latents: 3, forecast: Forecast::Moments };
/// assert_eq!(*model.spec(), smoother);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LatentSpec {
    /// What the generative network reads.
    pub family: Family,
    /// How z is distributed before x is seen.
    pub prior: Prior,
    /// Components of z.
    pub latents: u16,
    /// How the distribution of z goes into the generative network.
    pub forecast: Forecast,
}

/// What the generative network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Family {
    /// A recurrent generative network reads [x_{t−1}, z_t] (Bayer 2015, thesis, eqs. 29 and 31); x_0 is the training mean.
    Storn,
    /// A generative network without recurrence reads [h_{t−1}, z_t], h being the last layer of the recognition network
    /// before it sees x_t, mean and variance; h_0 = 0 (Bayer et al., VOSP, 3.2).
    Vosp,
}

/// How z is distributed before x is seen, each component by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Prior {
    /// z_t ~ N(0, 1), independent of the past.
    White,
    /// z_t − z_{t−1} ~ N(0, 1), z_0 = 0.
    Wiener,
}

/// How the distribution of z goes into the generative network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Forecast {
    /// Mean and variance, by variance propagation.
    Moments,
    /// The mean alone: of the posterior for what was seen, of the prior for what comes next.
    PosteriorMean,
    /// Moments over this many draws, which are always the same; a recurrent generative network remembers the posterior mean.
    Draws {
        /// How many: 1 to [`MAX_DRAWS`]. An even number keeps the mean of z exact, because draws come in pairs ±ε.
        count: u16,
    },
}
