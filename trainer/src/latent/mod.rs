//! Models of latent sequences: STORN, VOSP and VRAE (Bayer 2015, thesis, chapter 4; Bayer and Osendorfer 2014).
//!
//! Each is two ordinary networks ([`nets`]): a recognition net that guesses latent variables z from what was observed,
//! q(z_{1:T} | x_{1:T}) = Π N(μ_t, σ_t²), and a generative net that says how likely the observations are given them. They
//! are trained together on a [`bound`] on the negative log-likelihood, KL(q ‖ p(z)) − E_q[ln p(x | z)]
//! ([`divergence`] has the first term); [`importance`] sampling gets closer to the likelihood itself. What a trained
//! model is good for are methods of [`TrainedLatentModel`]: guesses and reconstructions ([`model`]), predictions ([`predict`]),
//! samples ([`sample`]) and gaps filled in ([`impute`]); [`streaming`] denoises a stream.

pub mod bound;
pub mod divergence;
pub mod importance_sampling;
pub mod impute;
mod input_masking;
pub mod model;
pub mod nets;
mod noise_search;
pub mod posterior;
pub mod predict;
pub mod sample;
mod stream;
pub mod streaming;
pub mod tensors;
mod training;

#[cfg(test)]
mod tests;

pub use bound::{Bound, bound};
pub use importance_sampling::{ImportanceEstimate, importance};
pub use impute::{Imputation, ImputeOptions};
pub use model::{LatentFeed, PosteriorMoments, TrainedLatentModel};
pub use nets::{LatentNet, LatentNets};
pub use sample::SampleOptions;
pub use streaming::{DenoisedRow, StreamingDenoiser};
pub use training::BoundEstimate;
