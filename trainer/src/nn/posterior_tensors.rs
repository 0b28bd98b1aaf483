//! The posterior distributions of weights as Burn tensors, and draws from them.

use burn::tensor::{Tensor, TensorData};

use super::weight_posterior::ScaleMixture;
use super::weight_sample::{SharpenedSample, WeightSample};
use super::weight_spread::WeightSpread;

/// The posterior distributions of all weights and biases, and their prior.
#[derive(Clone, Debug)]
pub struct Posteriors {
    /// Each list of weights with its name.
    pub weights: Vec<(String, PosteriorTensors)>,
    /// The prior of every weight.
    pub prior: PriorTensors,
}

/// The prior of every weight.
#[derive(Clone, Debug)]
pub enum PriorTensors {
    /// A normal distribution that is learned.
    Learned(Box<NormalPrior>),
    /// A fixed mixture of two normal distributions.
    Mixture(ScaleMixture),
}

/// A normal prior.
#[derive(Clone, Debug)]
pub struct NormalPrior {
    /// Its mean, `[1]`.
    pub mean: Tensor<1>,
    /// The logarithm of its variance, `[1]`.
    pub log_var: Tensor<1>,
}

/// The parameters of a list of weights.
#[derive(Clone, Debug)]
pub struct WeightLeaves {
    /// μ.
    pub mean: Tensor<1>,
    /// What is stored for σ.
    pub stored: Tensor<1>,
    /// η, if the posterior is sharpened.
    pub rate: Option<Tensor<1>>,
}

/// The posterior of a list of weights.
#[derive(Clone, Debug)]
pub struct PosteriorTensors {
    leaves: WeightLeaves,
    spread: WeightSpread,
    /// Zero for every pruned weight and one for the others; nothing if none was pruned.
    mask: Option<Tensor<1>>,
    /// A draw from it, if the network is one of drawn weights.
    pub drawn: Option<DrawnTensors>,
}

/// A draw from the posterior of a list of weights.
#[derive(Clone, Debug)]
pub struct DrawnTensors {
    /// ε, a constant.
    pub noise: Tensor<1>,
    /// φ = μ + σ∘ε.
    pub first: Tensor<1>,
    /// −η∘g_φ/σ₀: the shift of the sharpened posterior in units of its standard deviation.
    pub shift: Option<Tensor<1>>,
    /// θ, the weights of the network: φ, or φ − η∘g_φ + σ₀ε₀.
    pub weights: Tensor<1>,
}

impl Posteriors {
    /// The sum over all weights and biases of a term that each has, without those that are pruned: they are
    /// no longer random.
    pub fn sum(&self, terms: Tensor<1>) -> Tensor<1> {
        let posteriors = || self.weights.iter().map(|(_, posterior)| posterior);
        if posteriors().all(|posterior| posterior.mask.is_none()) {
            return terms.sum();
        }
        let mask = |posterior: &PosteriorTensors| {
            posterior.mask.clone().unwrap_or_else(|| posterior.leaves.mean.ones_like())
        };
        (terms * Tensor::cat(posteriors().map(mask).collect(), 0)).sum()
    }

    /// The posterior of the list of this name.
    pub(super) fn get(&self, name: &str) -> Option<&PosteriorTensors> {
        self.weights.iter().find(|(named, _)| named == name).map(|(_, posterior)| posterior)
    }
}

impl PosteriorTensors {
    pub(crate) fn new(leaves: WeightLeaves, spread: WeightSpread, drawn: Option<DrawnTensors>) -> Self {
        PosteriorTensors { leaves, spread, mask: None, drawn }
    }

    /// The same with a mask of the weights that are left.
    pub(super) fn masked(self, mask: Option<Tensor<1>>) -> Self {
        PosteriorTensors { mask, ..self }
    }

    /// μ.
    pub fn mean(&self) -> Tensor<1> {
        self.leaves.mean.clone()
    }

    /// σ².
    pub fn var(&self) -> Tensor<1> {
        self.spread.var(self.leaves.stored.clone())
    }

    /// ln σ².
    pub fn log_var(&self) -> Tensor<1> {
        self.spread.log_var(self.leaves.stored.clone())
    }

    /// What the network computes with: mean and variance, or the draw, which has no variance.
    pub(super) fn moments(&self) -> (Tensor<1>, Option<Tensor<1>>) {
        match &self.drawn {
            Some(drawn) => (drawn.weights.clone(), None),
            None => (self.mean(), Some(self.var())),
        }
    }
}

impl DrawnTensors {
    /// The weights of list `index` in a sample.
    pub(crate) fn new(
        leaves: &WeightLeaves,
        spread: WeightSpread,
        sample: &WeightSample,
        index: usize,
    ) -> Self {
        let device = leaves.mean.device();
        let constant = |values: &[f32]| {
            Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), &device)
        };
        let noise = constant(&sample.noise[index]);
        let first = leaves.mean.clone() + spread.std_dev(leaves.stored.clone()) * noise.clone();
        let Some(SharpenedSample { gradient, noise: second, std_dev }) = &sample.sharpened else {
            return DrawnTensors { noise, weights: first.clone(), first, shift: None };
        };
        let rate = leaves.rate.clone().expect("a sharpened posterior has rates");
        let shift = rate * constant(&gradient[index]) * (-1.0 / *std_dev);
        let weights = first.clone() + (shift.clone() + constant(&second[index])) * *std_dev;
        DrawnTensors { noise, first, shift: Some(shift), weights }
    }
}
