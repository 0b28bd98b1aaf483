//! The posterior distributions of weights as Burn tensors.

use burn::tensor::Tensor;

use super::softplus_var::softplus_var;
use super::weight_spread::WeightSpread;

/// The posterior distributions of all weights and biases, and their prior.
#[derive(Clone, Debug)]
pub struct Posteriors {
    /// Each list of weights with its name.
    pub weights: Vec<(String, PosteriorTensors)>,
    /// The prior of every weight, if it is learned.
    pub prior: Option<NormalPrior>,
}

/// A normal prior.
#[derive(Clone, Debug)]
pub struct NormalPrior {
    /// Its mean, `[1]`.
    pub mean: Tensor<1>,
    /// The logarithm of its variance, `[1]`.
    pub log_var: Tensor<1>,
}

/// The posterior of a list of weights.
#[derive(Clone, Debug)]
pub struct PosteriorTensors {
    mean: Tensor<1>,
    /// What is stored for σ.
    stored: Tensor<1>,
    spread: WeightSpread,
    /// Zero for every pruned weight and one for the others; nothing if none was pruned.
    mask: Option<Tensor<1>>,
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
            posterior.mask.clone().unwrap_or_else(|| posterior.mean.ones_like())
        };
        (terms * Tensor::cat(posteriors().map(mask).collect(), 0)).sum()
    }

    /// The posterior of the list of this name.
    pub(super) fn get(&self, name: &str) -> Option<&PosteriorTensors> {
        self.weights.iter().find(|(named, _)| named == name).map(|(_, posterior)| posterior)
    }
}

impl PosteriorTensors {
    pub(crate) fn new(mean: Tensor<1>, stored: Tensor<1>, spread: WeightSpread) -> Self {
        PosteriorTensors { mean, stored, spread, mask: None }
    }

    /// The same with a mask of the weights that are left.
    pub(super) fn masked(self, mask: Option<Tensor<1>>) -> Self {
        PosteriorTensors { mask, ..self }
    }

    /// μ.
    pub fn mean(&self) -> Tensor<1> {
        self.mean.clone()
    }

    /// σ² of weights in a network. Where its gradient is recorded, σ = softplus(ρ) is computed in one pass;
    /// results equal those of [`PosteriorTensors::var`] to six digits.
    pub(super) fn var_in_network(&self) -> Tensor<1> {
        match self.spread {
            WeightSpread::Softplus if self.stored.is_require_grad() => softplus_var(self.stored.clone()),
            _ => self.var(),
        }
    }

    /// σ².
    pub fn var(&self) -> Tensor<1> {
        self.spread.var(self.stored.clone())
    }

    /// ln σ².
    pub fn log_var(&self) -> Tensor<1> {
        self.spread.log_var(self.stored.clone())
    }
}
