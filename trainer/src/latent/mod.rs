//! Models of latent sequences: STORN, VOSP and VRAE (Bayer 2015, thesis, chapter 4; Bayer and Osendorfer 2014).
//!
//! Each is two ordinary networks ([`nets`]): a recognition net that guesses latent variables z from what was observed,
//! q(z_{1:T} | x_{1:T}) = Π N(μ_t, σ_t²), and a generative net that says how likely the observations are given them. They
//! are trained together on a [`bound`] on the negative log-likelihood, KL(q ‖ p(z)) − E_q[ln p(x | z)]
//! ([`divergence`] has the first term); [`importance`] sampling gets closer to the likelihood itself. What a trained
//! model is good for are methods of [`LatentModel`]: guesses and reconstructions ([`model`]), predictions ([`predict`]),
//! samples ([`sample`]) and gaps filled in ([`impute`]); [`streaming`] denoises a stream.

pub mod bound;
pub mod divergence;
pub mod importance;
pub mod impute;
mod input_masking;
mod learn;
pub mod model;
pub mod nets;
mod noise_search;
pub mod posterior;
pub mod predict;
pub mod sample;
mod stream;
pub mod streaming;
pub mod tensors;

#[cfg(test)]
mod tests;

pub use bound::{Bound, bound};
pub use importance::{ImportanceEstimate, importance};
pub use impute::{Guessing, Imputation};
pub use learn::BoundEstimate;
pub use model::{Feed, Guess, LatentModel};
pub use nets::{LatentNets, Net};
pub use sample::{FeedMode, Wish};
pub use streaming::{CleanRow, StreamingDenoiser};
