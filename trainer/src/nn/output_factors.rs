//! The output map as factors of two products, for losses that compute outputs and their gradients together.

use burn::tensor::Tensor;
use quaver::checkpoint::{ModelSpec, OutputMode};

use super::net::MomentTensors;
use super::noise_layer::VarianceScale;
use super::tensors::{AffineTensors, ParameterTensors};

/// E[a] = `mean`·`weight`ᵀ + `bias`, and V[a] likewise if any variance enters.
pub(crate) struct OutputFactors {
    pub(crate) mean: AffineFactors,
    pub(crate) var: Option<AffineFactors>,
}

/// a·wᵀ + b for a [rows, terms], w [columns, terms] and b [columns].
pub(crate) struct AffineFactors {
    pub(crate) input: Tensor<2>,
    pub(crate) weight: Tensor<2>,
    pub(crate) bias: Tensor<1>,
}

/// The factors of [`net::output_map`](super::net): the variance β (Σ ṽ (μ² + τ) + m̃² τ + τ_b) (Bayer 2015,
/// thesis, eqs. 17 and 18) is one product of [ṽ, m̃²] with β [μ² + τ, τ].
pub(crate) fn output_factors(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    hidden: MomentTensors,
) -> OutputFactors {
    let output = &parameters.output;
    let AffineTensors { weight, bias, weight_var, bias_var } = output.affine.clone();
    if spec.output.mode == OutputMode::MeanOnly {
        return OutputFactors { mean: AffineFactors { input: hidden.mean, weight, bias }, var: None };
    }
    let MomentTensors { mean, var } = output.noise.apply(hidden);
    let square = || weight.clone() * weight.clone();
    let squared_mean = || mean.clone() * mean.clone();
    let factors = match (var, weight_var) {
        (None, None) => None,
        (Some(var), None) => Some((var, square())),
        (None, Some(weight_var)) => Some((squared_mean(), weight_var)),
        (Some(var), Some(weight_var)) => Some((
            Tensor::cat(vec![var, squared_mean()], 1),
            Tensor::cat(vec![square() + weight_var.clone(), weight_var], 1),
        )),
    };
    let var = factors.map(|(input, factor)| {
        let bias = bias_var.unwrap_or_else(|| bias.zeros_like()).unsqueeze();
        let (weight, bias) = match &output.scale {
            VarianceScale::Fixed(1.0) => (factor, bias),
            scale => (scale.apply(factor), scale.apply(bias)),
        };
        let count = bias.dims()[1];
        AffineFactors { input, weight, bias: bias.reshape([count]) }
    });
    OutputFactors { mean: AffineFactors { input: mean, weight, bias }, var }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};
    use quaver::checkpoint::{CellKind, Likelihood, ModelSpec, UnitNoise};

    use super::*;
    use crate::config::InitConfig;
    use crate::nn::net::output_map;
    use crate::nn::tensors::to_vec;
    use crate::nn::{TrainingMethod, WeightPosterior, test_spec};
    use crate::random::{Purpose, normals, stream};

    /// Two sums of at most eight terms of the order of 1, in another order: 10⁻⁵.
    #[test]
    fn factors_multiply_to_the_output_map() {
        let device = Device::flex();
        let mut rng = stream(1, Purpose::Initialisation);
        let mut tensor = || Tensor::<2>::from_data(TensorData::new(normals(&mut rng, 12), [3, 4]), &device);
        for (posterior, noise, certain) in [
            (WeightPosterior::Point, UnitNoise::None, true),
            (WeightPosterior::Point, UnitNoise::Dropout { keep: 0.7 }, true),
            (WeightPosterior::Point, UnitNoise::Dropout { keep: 0.7 }, false),
            (WeightPosterior::Ropd, UnitNoise::None, true),
            (WeightPosterior::Ropd, UnitNoise::Dropout { keep: 0.7 }, false),
        ] {
            let mut spec =
                ModelSpec { likelihood: Likelihood::Categorical, ..test_spec(2, 5, &[(CellKind::Lstm, 4)]) };
            spec.output.noise = noise;
            spec.output.variance_scale = 0.5;
            let method = TrainingMethod { posterior, ..TrainingMethod::default() };
            let parameters = ParameterTensors::new(
                &spec,
                &InitConfig::default().parameters_for(&spec, method, 1),
                &device,
            );
            let (mean, var) = (tensor(), tensor());
            let hidden = MomentTensors { mean, var: (!certain).then(|| var.clone() * var) };
            let expected = output_map(&spec, &parameters, hidden.clone());
            let found = output_factors(&spec, &parameters, hidden);
            let multiplied = |factors: AffineFactors| {
                to_vec(factors.input.matmul(factors.weight.transpose()) + factors.bias.unsqueeze())
            };
            let pairs = [(Some(found.mean), Some(expected.mean)), (found.var, expected.var)];
            for (found, expected) in pairs {
                let (found, expected) = (found.map(multiplied), expected.map(to_vec));
                assert_eq!(found.is_some(), expected.is_some(), "{posterior:?} {noise:?}");
                for (found, expected) in found.into_iter().flatten().zip(expected.into_iter().flatten()) {
                    assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
                }
            }
        }
    }
}
