//! The output map as factors of two products, for losses that compute outputs and their gradients together.

use burn::tensor::Tensor;
use quaver::checkpoint::{ModelSpec, OutputMode};

use super::net::MomentTensors;
use super::noise_layer::VarianceScale;
use super::tensors::{AffineTensors, ParameterTensors};

/// E[a] = `input`·`weight`ᵀ + `bias`, and V[a] likewise, with another weight, if any variance enters.
pub(crate) struct OutputFactors {
    /// [rows, units].
    pub(crate) input: Tensor<2>,
    /// μ, [columns, units].
    pub(crate) weight: Tensor<2>,
    /// `[columns]`.
    pub(crate) bias: Tensor<1>,
    pub(crate) var: Option<VarianceFactors>,
}

/// The factors of the variance.
pub(crate) struct VarianceFactors {
    /// [rows, terms].
    pub(crate) input: Tensor<2>,
    pub(crate) weight: VarianceWeight,
    /// `[columns]`.
    pub(crate) bias: Tensor<1>,
}

/// The matrix [columns, terms] that the variance multiplies. What follows from μ and τ number by number is
/// left to the product: written out, it would be millions of numbers for a vocabulary.
pub(crate) enum VarianceWeight {
    /// μ².
    Squares,
    /// [μ² + τ, τ], given τ.
    SquaresAndVar(Tensor<2>),
    /// This one.
    Given(Tensor<2>),
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
        return OutputFactors { input: hidden.mean, weight, bias, var: None };
    }
    let MomentTensors { mean, var } = output.noise.apply(hidden);
    let squared_mean = || mean.clone() * mean.clone();
    let factors = match (var, weight_var) {
        (None, None) => None,
        (Some(var), None) => Some((var, VarianceWeight::Squares)),
        (None, Some(weight_var)) => Some((squared_mean(), VarianceWeight::Given(weight_var))),
        (Some(var), Some(weight_var)) => {
            let input = Tensor::cat(vec![var, squared_mean()], 1);
            Some((input, VarianceWeight::SquaresAndVar(weight_var)))
        }
    };
    let var = factors.map(|(input, factor)| {
        let bias_var = bias_var.unwrap_or_else(|| bias.zeros_like());
        let (weight, bias) = match &output.scale {
            VarianceScale::Fixed(1.0) => (factor, bias_var),
            scale => {
                let factor = scale.apply(factor.written_out(&weight));
                (VarianceWeight::Given(factor), scale.apply(bias_var.unsqueeze()).flatten(0, 1))
            }
        };
        VarianceFactors { input, weight, bias }
    });
    OutputFactors { input: mean, weight, bias, var }
}

impl VarianceWeight {
    /// The matrix itself, given μ.
    fn written_out(self, mean: &Tensor<2>) -> Tensor<2> {
        let square = || mean.clone() * mean.clone();
        match self {
            VarianceWeight::Squares => square(),
            VarianceWeight::SquaresAndVar(var) => Tensor::cat(vec![square() + var.clone(), var], 1),
            VarianceWeight::Given(weight) => weight,
        }
    }
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
        let cases = [
            (WeightPosterior::Point, UnitNoise::None, true),
            (WeightPosterior::Point, UnitNoise::Dropout { keep: 0.7 }, true),
            (WeightPosterior::Point, UnitNoise::Dropout { keep: 0.7 }, false),
            (WeightPosterior::Ropd, UnitNoise::None, true),
            (WeightPosterior::Ropd, UnitNoise::Dropout { keep: 0.7 }, false),
        ];
        for ((posterior, noise, certain), scale) in
            cases.into_iter().flat_map(|case| [(case, 0.5), (case, 1.0)])
        {
            let mut spec =
                ModelSpec { likelihood: Likelihood::Categorical, ..test_spec(2, 5, &[(CellKind::Lstm, 4)]) };
            spec.output.noise = noise;
            spec.output.variance_scale = scale;
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
            let multiplied = |input: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>| {
                to_vec(input.matmul(weight.transpose()) + bias.unsqueeze())
            };
            let OutputFactors { input, weight, bias, var } = found;
            let var = var.map(|var| multiplied(var.input, var.weight.written_out(&weight), var.bias));
            let mean = multiplied(input, weight, bias);
            for (found, expected) in [(Some(mean), Some(expected.mean)), (var, expected.var)] {
                let expected = expected.map(to_vec);
                assert_eq!(found.is_some(), expected.is_some(), "{posterior:?} {noise:?}");
                for (found, expected) in found.into_iter().flatten().zip(expected.into_iter().flatten()) {
                    assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
                }
            }
        }
    }
}
