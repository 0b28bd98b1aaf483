//! Trained parameters in the form of a checkpoint.

use quaver::checkpoint::{Affine, Contents, ModelSpec, Scaler, WeightFormat};

use crate::data::Scaling;
use crate::nn::Parameters;

/// Everything a checkpoint of this net holds.
///
/// # Panics
/// If the parameters are not those of such a net.
pub fn contents(
    spec: &ModelSpec,
    format: WeightFormat,
    parameters: &Parameters,
    scaling: &Scaling,
    input_names: &[String],
    output_names: &[String],
) -> Contents {
    let values = |name: String| {
        let tensor = parameters.get(&name).unwrap_or_else(|| panic!("the net has no parameter {name}"));
        tensor.values.clone()
    };
    let affine = |part: &str| Affine {
        weight: values(format!("{part}.weight")),
        bias: values(format!("{part}.bias")),
        ..Affine::default()
    };
    let scaler = |scaler: &crate::data::Scaler| Scaler { mean: scaler.mean.clone(), std: scaler.std.clone() };
    let spec = ModelSpec { weight_format: format, ..spec.clone() };
    Contents {
        input_names: input_names.to_vec(),
        output_names: output_names.to_vec(),
        input_scaler: scaler(&scaling.inputs),
        output_scaler: scaler(&scaling.targets),
        layers: (0..spec.layers.len()).map(|index| affine(&format!("layer{index}"))).collect(),
        output: affine("output"),
        noise_var: parameters.noise_var(),
        ..Contents::zeros(spec)
    }
}
