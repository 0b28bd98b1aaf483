//! The embedding of tokens as tensors on a device: a row per token.

use burn::tensor::{Device, Gradients, Tensor};

use super::gather::NONE;
use super::method::TrainingMethod;
use super::parameters::NamedTensor;
use super::posterior_tensors::PosteriorTensors;
use super::tensors::{constant, gradient, leaf, masked, noisy_weights};

/// The rows of all tokens, or of those alone that a batch contains: a window of a text has a few of ten
/// thousand.
#[derive(Clone, Debug)]
pub struct EmbeddingTensors {
    leaves: Vec<Tensor<1>>,
    rows: Rows,
    /// Numbers of each list of parameters.
    length: usize,
    /// The posterior of its weights, with the name of their list, if their variances are learned.
    pub(super) posterior: Option<(String, PosteriorTensors)>,
    /// Means, including noise on weights.
    pub weight: Tensor<2>,
    /// Variances; `None` if all are zero.
    pub weight_var: Option<Tensor<2>>,
}

/// The rows that are on the device.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// Those of all tokens.
    All,
    /// Those of these tokens, sorted; at least one, because tensors have no empty dimension.
    Of(Vec<u32>),
}

impl Rows {
    /// The rows of the tokens of a batch.
    pub(super) fn of(tokens: &[u32]) -> Self {
        let mut rows: Vec<u32> = tokens.iter().copied().filter(|token| *token != NONE).collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.is_empty() {
            rows.push(0);
        }
        Rows::Of(rows)
    }

    /// The values of these rows.
    fn select(&self, values: &[f32], width: usize) -> Vec<f32> {
        match self {
            Rows::All => values.to_vec(),
            Rows::Of(rows) => {
                rows.iter().flat_map(|row| &values[*row as usize * width..][..width]).copied().collect()
            }
        }
    }

    /// Values of these rows in their places, and zeros in all others.
    fn spread(&self, values: Vec<f32>, width: usize, length: usize) -> Vec<f32> {
        let Rows::Of(rows) = self else { return values };
        let mut all = vec![0.0; length];
        for (row, values) in rows.iter().zip(values.chunks_exact(width)) {
            all[*row as usize * width..][..width].copy_from_slice(values);
        }
        all
    }

    /// Where the rows of these tokens are.
    fn places(&self, tokens: &[u32]) -> Option<Vec<u32>> {
        let Rows::Of(rows) = self else { return None };
        let place = |token: &u32| rows.binary_search(token).map_or(NONE, |place| place as u32);
        Some(tokens.iter().map(place).collect())
    }
}

impl EmbeddingTensors {
    /// Copies rows of the lists of an embedding to a device.
    pub(super) fn new(method: TrainingMethod, lists: &[&NamedTensor], rows: Rows, device: &Device) -> Self {
        let (named, width) = (lists[0], lists[0].shape[1]);
        let leaves: Vec<Tensor<1>> =
            lists.iter().map(|list| leaf(rows.select(&list.values, width), device)).collect();
        let mean = leaves[0].clone();
        let count = mean.dims()[0] / width;
        let matrix = |list: Tensor<1>| list.reshape([count, width]);
        let mask = named.mask().map(|mask| constant(rows.select(&mask, width), device));
        let posterior = method.posterior.spread().map(|spread| {
            let own = PosteriorTensors::new(mean.clone(), leaves[1].clone(), spread);
            (named.name.clone(), own.masked(mask.clone()))
        });
        let var = posterior.as_ref().map(|(_, posterior)| matrix(posterior.var_in_network()));
        let (weight, weight_var) = noisy_weights(matrix(mean), var, method.weight_noise);
        let (weight, weight_var) = masked(weight, weight_var, mask.map(matrix));
        EmbeddingTensors { leaves, rows, length: named.values.len(), posterior, weight, weight_var }
    }

    /// Indices of the rows of these tokens; nothing if they are the tokens themselves.
    pub(super) fn places(&self, tokens: &[u32]) -> Option<Vec<u32>> {
        self.rows.places(tokens)
    }

    /// Takes out the gradient of each parameter; zero for the rows of other tokens.
    pub(super) fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        let width = self.weight.dims()[1];
        let all = |leaf| self.rows.spread(gradient(leaf, gradients), width, self.length);
        self.leaves.iter().map(all).collect()
    }
}
