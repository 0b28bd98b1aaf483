//! Trained parameters as the contents of a checkpoint.

use burn::tensor::Device;
use quaver::checkpoint::{Affine, Contents, LinearSpec, ModelSpec, Scaler, WeightFormat};

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
    let layers = tensors.layers.into_iter().zip(&spec.layers);
    let mut output = affine(tensors.output.affine, spec.output.weight_variance);
    if spec.layers.is_empty() {
        output.weight.clear();
    }
    let scaler =
        |scaler: &crate::data::Scaler| Scaler { mean: scaler.mean.clone(), std_dev: scaler.std_dev.clone() };
    let mut spec = ModelSpec { weight_format: format, ..parameters.resolved(spec) };
    spec.extensions.linear = scaling.linear.as_ref().map(|part| LinearSpec { rows: part.rows as u16 });
    Contents {
        input_names: input_names.to_vec(),
        output_names: output_names.to_vec(),
        input_scaler: scaler(&scaling.inputs),
        output_scaler: scaler(&scaling.targets),
        layers: layers.map(|(layer, spec)| affine(layer.affine, spec.weight_variance)).collect(),
        output,
        noise_var: parameters.noise_var(&spec),
        linear: scaling.linear.as_ref().map_or_else(Vec::new, |part| part.numbers.clone()),
        ..Contents::zeros(spec)
    }
}

/// The moments of one map's weights and biases; without variances where the network has none.
fn affine(affine: AffineTensors, has_variance: bool) -> Affine {
    let bias = to_vec(affine.bias);
    let weight_var = affine.weight_var.filter(|_| has_variance).map_or_else(Vec::new, to_vec);
    let deterministic = if weight_var.is_empty() { 0 } else { bias.len() };
    let bias_var = affine.bias_var.filter(|_| has_variance).map_or_else(|| vec![0.0; deterministic], to_vec);
    Affine { weight: to_vec(affine.weight), bias, weight_var, bias_var }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::write;

    use super::*;
    use crate::config::InitConfig;
    use crate::data::Scaler;
    use crate::nn::WeightPosterior;
    use crate::nn::parameters::maps;
    use crate::nn::{TrainingMethod, test_cells, test_spec};

    #[test]
    fn every_cell_has_the_numbers_that_a_checkpoint_holds() {
        let names = |count: usize| vec!["name".to_string(); count];
        let scaling = Scaling {
            inputs: Scaler::identity(2),
            targets: Scaler::identity(1),
            density: None,
            linear: None,
        };
        for cell in test_cells() {
            let mut spec = test_spec(2, 1, &[(cell, 3), (cell, 4)]);
            spec.layers.iter_mut().for_each(|layer| layer.weight_variance = true);
            spec.output.weight_variance = true;
            let method = TrainingMethod { posterior: WeightPosterior::Ropd, ..TrainingMethod::default() };
            let parameters = InitConfig::default().parameters_for(&spec, method, 1);
            let contents = contents(&spec, WeightFormat::F32, &parameters, &scaling, &names(2), &names(1));
            let affines = contents.layers.iter().chain([&contents.output]);
            for (map, affine) in maps(&spec).zip(affines) {
                let weights = [affine.weight.len(), affine.weight_var.len()];
                assert_eq!(weights, [map.rows * map.columns; 2], "{cell:?}");
                assert_eq!([affine.bias.len(), affine.bias_var.len()], [map.biases; 2], "{cell:?}");
            }
            write(&contents).unwrap_or_else(|error| panic!("{cell:?}: {error}"));
        }
    }
}
