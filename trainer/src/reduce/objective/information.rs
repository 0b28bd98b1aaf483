//! Regularised information maximisation (Gomes, Krause and Perona 2010; Bayer 2015, thesis, 3.5.1.3).

use burn::tensor::Tensor;
use burn::tensor::activation::{log_softmax, softmax};

use super::shrunk;
use crate::nn::net::MomentTensors;
use crate::nn::tensors::ParameterTensors;

/// Smallest probability that is taken the logarithm of.
const LEAST: f32 = 1e-12;

/// −MI[z, x] in nats, with p(z | x) the softmax of the embedding: the mean entropy of p(z | x) less the
/// entropy of its mean over the batch.
pub fn mutual_information(embeddings: MomentTensors) -> Tensor<1> {
    let logits = shrunk(embeddings);
    let [count, _] = logits.dims();
    let p = softmax(logits.clone(), 1);
    let entropy = (p.clone() * log_softmax(logits, 1)).sum() / -(count as f32);
    let marginal = p.mean_dim(0);
    let entropy_of_mean = (marginal.clone() * (marginal + LEAST).log()).sum() * -1.0;
    entropy - entropy_of_mean
}

/// Σθ² of all weights and biases, those of the outputs' biases left out: a free bias lets clusters be unused.
/// Without outputs, where units are pooled, the output map is left out as a whole.
pub fn squared_parameters(tensors: &ParameterTensors, outputs: bool) -> Tensor<1> {
    let square = |values: Tensor<1>| (values.clone() * values).sum();
    let flat = |weight: &Tensor<2>| weight.clone().flatten(0, 1);
    let layers = tensors
        .layers
        .iter()
        .map(|layer| square(flat(&layer.affine.weight)) + square(layer.affine.bias.clone()));
    let output = outputs.then(|| square(flat(&tensors.output.affine.weight)));
    layers.chain(output).reduce(|sum, part| sum + part).expect("a network has layers")
}
