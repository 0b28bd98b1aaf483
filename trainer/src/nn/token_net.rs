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

use super::embedding_tensors::{EmbeddingTensors, Rows};
use super::gather::{gather_columns, gather_rows};
use super::net::{FirstInput, ForwardOptions, MomentTensors, forward_layers};
use super::parameters::{NamedTensor, Parameters};
use super::recurrence::LayerState;
use super::tensors::{ParameterTensors, to_vec};

pub use super::gather::NONE;

/// Prefix of the names of an embedding's parameters.
pub(crate) const EMBEDDING: &str = "embedding.";

/// Name of the list of an embedding's weights.
pub(crate) const EMBEDDING_WEIGHT: &str = "embedding.weight";

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
        Self::with_rows(spec, parameters, Rows::All, device)
    }

    /// The same for a forward pass of these tokens only: other rows of the embedding are left out, also from
    /// its posterior.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn for_tokens(spec: &ModelSpec, parameters: &Parameters, tokens: &[u32], device: &Device) -> Self {
        Self::with_rows(spec, parameters, Rows::of(tokens), device)
    }

    fn with_rows(spec: &ModelSpec, parameters: &Parameters, rows: Rows, device: &Device) -> Self {
        let method = parameters.method;
        let (own, network): (Vec<&NamedTensor>, Vec<&NamedTensor>) =
            parameters.tensors.iter().partition(|named| named.name.starts_with(EMBEDDING));
        let mut network = ParameterTensors::from_lists(spec, method, network, device);
        let embedding = (!own.is_empty()).then(|| EmbeddingTensors::new(method, &own, rows, device));
        if let (Some(posteriors), Some(embedding)) = (&mut network.posteriors, &embedding) {
            posteriors.weights.extend(embedding.posterior.clone());
        }
        TokenTensors { network, embedding }
    }

    /// Takes out the gradient of each parameter, in the order of [`Parameters`].
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
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
                let places = embedding.places(tokens).map_or_else(|| Arc::clone(tokens), Arc::from);
                let select = |matrix: &Tensor<2>| gather_rows(matrix.clone(), &places);
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

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::config::InitConfig;
    use crate::nn::{TrainingMethod, WeightPosterior, test_spec};
    use crate::random::{Purpose, normals, stream};

    /// A token that occurs twice, and a start without one.
    const TOKENS: [u32; 6] = [4, 1, NONE, 4, 8, 0];

    /// The states of the last layer, and all gradients of the sum of their squares.
    fn measured(spec: &ModelSpec, tensors: &TokenTensors) -> Vec<Vec<f32>> {
        let options = ForwardOptions { lanes: 2, threads: 1, start: None };
        let (hidden, _) = tensors.forward(spec, &TOKENS.into(), options);
        let square = |states: &Tensor<2>| (states.clone() * states.clone()).sum();
        let loss = hidden.var.iter().fold(square(&hidden.mean), |sum, var| sum + square(var));
        let mut found = vec![to_vec(hidden.mean)];
        found.extend(hidden.var.map(to_vec));
        found.extend(tensors.gradients(&mut loss.backward()));
        found
    }

    /// A network with an embedding of nine tokens.
    fn with_embedding(spec: &ModelSpec, posterior: WeightPosterior) -> Parameters {
        let method = TrainingMethod { posterior, ..TrainingMethod::default() };
        let mut parameters = InitConfig::default().parameters_for(spec, method, 1);
        let names = posterior.spread().map(|spread| format!("weight{}", spread.suffix()));
        for (index, name) in std::iter::once("weight".to_string()).chain(names).enumerate() {
            let mut list = NamedTensor::zeros(format!("{EMBEDDING}{name}"), &[9, 3]);
            list.values = normals(&mut stream(index as u64, Purpose::Embedding), 27);
            parameters.tensors.push(list);
        }
        parameters
    }

    #[test]
    fn rows_of_other_tokens_change_no_bit() {
        let spec = test_spec(3, 2, &[(CellKind::Lstm, 4)]);
        for posterior in [WeightPosterior::Point, WeightPosterior::Ropd] {
            let parameters = with_embedding(&spec, posterior);
            let device = Device::flex().autodiff();
            let all = measured(&spec, &TokenTensors::new(&spec, &parameters, &device));
            let some = measured(&spec, &TokenTensors::for_tokens(&spec, &parameters, &TOKENS, &device));
            assert_eq!(all, some);
            let gradient = &all[all.len() - 1];
            assert!(gradient[12..15].iter().all(|value| *value != 0.0), "{gradient:?}");
            // No token at all: rows that nobody reads.
            let tensors = TokenTensors::for_tokens(&spec, &parameters, &[NONE], &device);
            assert_eq!(tensors.embedded(NoiseCoefficients::none()).len(), 3);
        }
    }

    #[test]
    fn pruned_numbers_of_an_embedding_have_neither_variance_nor_gradient() {
        let spec = test_spec(3, 2, &[(CellKind::Lstm, 4)]);
        for posterior in [WeightPosterior::Point, WeightPosterior::Ropd] {
            let mut parameters = with_embedding(&spec, posterior);
            // The second number of every row, with a variance far from zero in its list.
            let kept: Vec<bool> = (0..27).map(|index| index % 3 != 1).collect();
            parameters.get_mut(EMBEDDING_WEIGHT).unwrap().kept = Some(kept.clone());
            let device = Device::flex().autodiff();
            let all = TokenTensors::new(&spec, &parameters, &device);
            let embedded = all.embedded(NoiseCoefficients::none());
            for (moments, kept) in embedded.iter().zip(&kept) {
                assert_eq!(*moments == [0.0, 0.0], !kept);
            }
            let some = TokenTensors::for_tokens(&spec, &parameters, &TOKENS, &device);
            let (all, some) = (measured(&spec, &all), measured(&spec, &some));
            assert_eq!(all, some);
            let lists = 1 + usize::from(posterior.spread().is_some());
            for gradient in &all[all.len() - lists..] {
                // Token 4, and only what is left of it.
                let [first, second, third] = gradient[12..15] else { unreachable!() };
                assert!(first != 0.0 && second == 0.0 && third != 0.0, "{gradient:?}");
            }
        }
    }
}
