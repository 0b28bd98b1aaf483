//! Models of latent sequences: STORN, VOSP and VRAE (Bayer 2015, thesis, chapter 4; Bayer and Osendorfer
//! 2014).
//!
//! Each consists of two networks ([`nets`]): a recognition network that infers the latent variables z from
//! the observed rows, q(z_{1:T} | x_{1:T}) = Π N(μ_t, σ_t²), and a generative network that gives the
//! likelihood of the rows given z. They are trained together on a [bound](mod@bound) on the negative
//! log-likelihood, KL(q ‖ p(z)) − E_q[ln p(x | z)], whose first term is in [`mod@divergence`];
//! [`importance_sampling`] estimates the likelihood itself. A [`TrainedLatentModel`] infers and reconstructs
//! ([`model`]), predicts ([`predict`]), samples ([`sample`]) and imputes gaps ([`impute`]); [`streaming`]
//! denoises row by row.

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
mod prior_fit;
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
pub use prior_fit::{fit_prior, row_noise};
pub use sample::SampleOptions;
pub use streaming::{DenoisedRow, StreamingDenoiser};
pub use training::BoundEstimate;
