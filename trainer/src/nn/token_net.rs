//! A network whose inputs are tokens.
//!
//! A token with index k is the one-hot row x with x_k = 1. Its affine map selects column k of the weights:
//! with m = 1 and v = 0 in that place, `E[a]` = μ_k and `V[a]` = τ_k (Bayer 2015, thesis, eqs. 17 and 18).
//! Dropout and multiplicative noise on x give the moments of the same noise on the column: p μ and p(1−p)μ² +
//! pτ, or μ and τ + α(μ² + τ). With an embedding, the selected row of a matrix [tokens, N] is the input of
//! the first layer.

use std::sync::Arc;

use burn::tensor::{Device, Gradients, Tensor};
use quaver::checkpoint::ModelSpec;
use quaver::noise::NoiseCoefficients;

use super::gather::{gather_columns, gather_rows};
use super::net::{FirstInput, ForwardOptions, MomentTensors, forward_layers};
use super::parameters::{NamedTensor, Parameters};
use super::recurrence::LayerState;
use super::tensors::{EmbeddingTensors, ParameterTensors, to_vec};

pub use super::gather::NONE;

/// Prefix of the names of an embedding's parameters.
pub(crate) const EMBEDDING: &str = "embedding.";

/// The parameters of a network and of its embedding as tensors on a device.
#[derive(Clone, Debug)]
pub struct TokenTensors {
    /// The network behind the embedding.
    pub network: ParameterTensors,
    embedding: Option<EmbeddingTensors>,
}

impl TokenTensors {
    /// Copies parameters to a device; those of the embedding, if there is one, come last.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn new(spec: &ModelSpec, parameters: &Parameters, device: &Device) -> Self {
        let (own, network): (Vec<NamedTensor>, Vec<NamedTensor>) =
            parameters.tensors.iter().cloned().partition(|named| named.name.starts_with(EMBEDDING));
        let part = |tensors| Parameters { method: parameters.method, tensors };
        let mut network = ParameterTensors::new(spec, &part(network), device);
        let embedding = (!own.is_empty()).then(|| EmbeddingTensors::new(&part(own), device));
        if let (Some(posteriors), Some(embedding)) = (&mut network.posteriors, &embedding) {
            posteriors.weights.extend(embedding.posterior.clone());
        }
        TokenTensors { network, embedding }
    }

    /// The gradient of each parameter, in the order of [`Parameters`].
    pub fn gradients(&self, gradients: &Gradients) -> Vec<Vec<f32>> {
        let mut all = self.network.gradients(gradients);
        all.extend(self.embedding.iter().flat_map(|embedding| embedding.gradients(gradients)));
        all
    }

    /// States of the last layer after every step, and the final states of every layer if states are carried.
    /// Tokens are time-major, [steps, lanes]; [`NONE`] is the start of a stream, where no column is selected.
    pub fn forward(
        &self,
        spec: &ModelSpec,
        tokens: &Arc<[u32]>,
        options: ForwardOptions<'_>,
    ) -> (MomentTensors, Vec<LayerState>) {
        let first = match &self.embedding {
            Some(embedding) => {
                let select = |matrix: &Tensor<2>| gather_rows(matrix.clone(), tokens);
                FirstInput::Units(MomentTensors {
                    mean: select(&embedding.weight),
                    var: embedding.weight_var.as_ref().map(select),
                })
            }
            None => FirstInput::PreActivations(self.columns(spec, tokens)),
        };
        forward_layers(spec, &self.network, first, options)
    }

    /// Mean and variance of every number of the embedding after noise, token by token; nothing without one.
    pub(crate) fn embedded(&self, noise: NoiseCoefficients) -> Vec<[f64; 2]> {
        let Some(EmbeddingTensors { weight, weight_var, .. }) = &self.embedding else { return Vec::new() };
        let mean = to_vec(weight.clone());
        let var = weight_var.clone().map_or_else(|| vec![0.0; mean.len()], to_vec);
        let noisy = |(mean, var): (&f32, &f32)| noise.apply(*mean, *var);
        mean.iter().zip(&var).map(noisy).map(|(mean, var)| [mean.into(), var.into()]).collect()
    }

    /// The share of one-hot inputs in the pre-activations of the first layer.
    fn columns(&self, spec: &ModelSpec, tokens: &Arc<[u32]>) -> MomentTensors {
        let (layer, cell) = (&self.network.layers[0], spec.layers[0].cell);
        let select = |matrix: &Tensor<2>| gather_columns(matrix.clone(), tokens);
        let selected = MomentTensors {
            mean: select(&layer.affine.weight),
            var: layer.affine.weight_var.as_ref().map(select),
        };
        let MomentTensors { mean, var } = layer.input_noise.apply(selected);
        let (bias, bias_var) = layer.affine.input_bias(cell);
        let var = var.map(|var| match bias_var {
            Some(bias_var) => var + bias_var.unsqueeze(),
            None => var,
        });
        MomentTensors { mean: mean + bias.unsqueeze(), var }
    }
}
