//! One draw of all weights of a network.

use rand_core::Rng;

use super::fast_normals::fast_normals;
use super::parameters::Parameters;
use crate::random::normals;

/// One draw of all weights: θ = φ = μ + σ∘ε, or, from a sharpened posterior, θ = φ − η∘g_φ + σ₀ε₀ (Fortunato,
/// Blundell and Vinyals 2017, alg. 1) with η = rσ₀² and a rate r for every weight. Lists are in the order of
/// the means in [`Parameters`].
#[derive(Clone, Debug, PartialEq)]
pub struct WeightSample {
    /// ε, standard normal.
    pub noise: Vec<Vec<f32>>,
    /// The second stage, if the posterior is sharpened.
    pub sharpened: Option<SharpenedSample>,
}

/// The second stage of a draw from a sharpened posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct SharpenedSample {
    /// σ₀²g_φ with g_φ = −∇ ln p(y | φ, x) of the whole batch: the shift of a rate of 1. A constant: no
    /// gradient propagates through it.
    pub shift: Vec<Vec<f32>>,
    /// ε₀, standard normal.
    pub noise: Vec<Vec<f32>>,
    /// σ₀.
    pub std_dev: f32,
}

/// Weights from which on noise is drawn by [`fast_normals`]. Smaller networks keep the variates of f64, and
/// with them the results of their seeds.
const MANY_WEIGHTS: usize = 1 << 20;

/// A standard normal number for every weight.
pub(crate) fn draw_noise(parameters: &Parameters, rng: &mut impl Rng) -> Vec<Vec<f32>> {
    let lengths: Vec<usize> = parameters.weight_lists().map(|list| list.values.len()).collect();
    let many = lengths.iter().sum::<usize>() >= MANY_WEIGHTS;
    let mut draw = |count: usize| if many { fast_normals(rng, count) } else { normals(rng, count) };
    lengths.into_iter().map(&mut draw).collect()
}

/// −ε: the other half of an antithetic pair.
pub(crate) fn negated(noise: &[Vec<f32>]) -> Vec<Vec<f32>> {
    noise.iter().map(|list| list.iter().map(|value| -value).collect()).collect()
}
