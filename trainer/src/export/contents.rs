//! Trained parameters as the contents of a checkpoint.

use burn::tensor::Device;
use quaver::checkpoint::{Affine, Contents, ModelSpec, Scaler, WeightFormat};

use crate::data::Scaling;
use crate::nn::Parameters;
use crate::nn::tensors::{AffineTensors, ParameterTensors, to_vec};

/// The contents of a checkpoint. Noise on weights is included in their moments; keep probabilities and
/// variance scales are the learned ones.
///
/// # Panics
/// If the parameters are not those of such a network.
pub fn contents(
    spec: &ModelSpec,
    format: WeightFormat,
    parameters: &Parameters,
    scaling: &Scaling,
    input_names: &[String],
    output_names: &[String],
) -> Contents {
    let tensors = ParameterTensors::new(spec, parameters, &Device::flex());
    let scaler =
        |scaler: &crate::data::Scaler| Scaler { mean: scaler.mean.clone(), std_dev: scaler.std_dev.clone() };
    let spec = ModelSpec { weight_format: format, ..parameters.resolved(spec) };
    Contents {
        input_names: input_names.to_vec(),
        output_names: output_names.to_vec(),
        input_scaler: scaler(&scaling.inputs),
        output_scaler: scaler(&scaling.targets),
        layers: tensors.layers.into_iter().map(|layer| affine(layer.affine)).collect(),
        output: affine(tensors.output.affine),
        noise_var: parameters.noise_var(&spec),
        ..Contents::zeros(spec)
    }
}

/// The moments of one map's weights and biases.
fn affine(affine: AffineTensors) -> Affine {
    let bias = to_vec(affine.bias);
    let weight_var = affine.weight_var.map_or_else(Vec::new, to_vec);
    let deterministic = if weight_var.is_empty() { 0 } else { bias.len() };
    let bias_var = affine.bias_var.map_or_else(|| vec![0.0; deterministic], to_vec);
    Affine { weight: to_vec(affine.weight), bias, weight_var, bias_var }
}
