//! How a trained network is stored: its weight format, and the fastest layout that is accurate enough.

use anyhow::{Result, anyhow, ensure};
use quaver::checkpoint::{DensitySpec, Layout, WeightFormat};
use quaver::export::GramMatrices;

use super::density::{unsettled, write_density};
use super::layout::{LayoutChoice, fastest_layout};
use super::{Additions, contents};
use crate::data::Sequence;
use crate::evaluate::scores;
use crate::fit::RunState;
use crate::prediction::predict_by_runtime;

/// How weights are stored; without a layout, in the fastest one that is accurate enough.
#[derive(Clone, Copy, Debug)]
pub struct StorageOptions {
    /// Format of the weights.
    pub format: WeightFormat,
    /// Layout of the weights.
    pub layout: Option<Layout>,
}

impl StorageOptions {
    /// The layout to use. If none is set, it is chosen on the training and the validation data: quantization
    /// errors are relative to the largest number and matter most where the network is certain, and not every
    /// recording has such parts.
    ///
    /// # Errors
    /// When the layout `float` cannot store the network either.
    pub fn layout(
        self,
        state: &RunState,
        encoding: &Encoding<'_>,
        [train, valid]: [&[Sequence]; 2],
    ) -> Result<LayoutChoice> {
        if let Some(layout) = self.layout {
            return Ok(layout.into());
        }
        if self.format == WeightFormat::F32 {
            return Ok(Layout::Float.into());
        }
        let nll = |bytes: &[u8], sequences: &[Sequence]| -> Result<f64> {
            let predictions = predict_by_runtime(bytes, sequences)?;
            Ok(scores(state.spec.likelihood, &state.target_names, sequences, &predictions).nll)
        };
        let bytes = |layout| encode(state, self.format, layout, encoding);
        fastest_layout(bytes, &[("training", train), ("validation", valid)], nll)
    }
}

/// What a checkpoint gets beyond the trained network; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoding<'a> {
    /// Gram matrices of the affine maps, which guide rounding.
    pub gram_matrices: &'a [GramMatrices],
    /// Factors on the variances of the outputs.
    pub factors: Option<&'a [f32]>,
    /// Use of the input density, if the state has one; by default every gap is imputed and every row
    /// familiar.
    pub density: Option<DensitySpec>,
    /// Parts that follow the stream.
    pub additions: Option<&'a Additions>,
}

/// A state as the bytes of a checkpoint.
///
/// # Errors
/// When the layout does not support the network, or when there are factors for outputs without a variance.
pub fn encode(
    state: &RunState,
    format: WeightFormat,
    layout: Layout,
    encoding: &Encoding<'_>,
) -> Result<Vec<u8>> {
    let RunState { spec, parameters, scaling, input_names, target_names, .. } = state;
    let mut contents = contents(spec, format, parameters, scaling, input_names, target_names);
    if let Some(factors) = encoding.factors {
        ensure!(
            contents.calibration.len() == factors.len(),
            "--calibrate scales the variance of normal outputs, and this model has none; leave it out"
        );
        contents.calibration = factors.to_vec();
    }
    contents.spec.layout = layout;
    contents.gram = encoding.gram_matrices.to_vec();
    if let Some(density) = &scaling.density {
        write_density(&mut contents, density, encoding.density.unwrap_or_else(|| unsettled(state)));
    }
    if let Some(additions) = encoding.additions {
        additions.add_to(&mut contents);
    }
    quaver::checkpoint::write(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Activation, CellKind};

    use super::super::layout::WhyFloat;
    use super::*;
    use crate::config::{InitConfig, TrainingConfig};
    use crate::data::{Rows, Scaler, Scaling};
    use crate::nn::test_spec;
    use crate::random::{Purpose, normal, stream};

    const STORAGE: StorageOptions = StorageOptions { format: WeightFormat::Int8, layout: None };

    /// A network with this log-variance of its noise.
    fn state(log_noise: f32, activation: Activation) -> RunState {
        sized(8, log_noise, activation)
    }

    fn sized(units: u16, log_noise: f32, activation: Activation) -> RunState {
        let spec = test_spec(2, 1, &[(CellKind::Elman(activation), units)]);
        let mut parameters = InitConfig::default().parameters(&spec, 1);
        parameters.get_mut("output.log_noise").unwrap().values[0] = log_noise;
        let scaling = Scaling {
            inputs: Scaler::identity(2),
            targets: Scaler::identity(1),
            density: None,
            linear: None,
        };
        let names = [vec!["a".into(), "b".into()], vec!["y".into()]];
        RunState::first(spec, parameters, &TrainingConfig::default(), scaling, names)
    }

    /// A sequence that the network predicts exactly in floating point.
    fn predicted(state: &RunState) -> Vec<Sequence> {
        let mut rng = stream(1, Purpose::Initialisation);
        let inputs = Rows { channels: 2, values: (0..200).map(|_| normal(&mut rng) as f32).collect() };
        let unknown = Rows { channels: 1, values: vec![0.0; 100] };
        let bytes = encode(state, WeightFormat::Int8, Layout::Float, &Encoding::default()).unwrap();
        let predictions = predict_by_runtime(&bytes, &[Sequence::columns(inputs.clone(), unknown)]).unwrap();
        vec![Sequence::columns(inputs, predictions[0].mean.clone())]
    }

    /// The choice on these training and validation sequences.
    fn chosen(state: &RunState, splits: [&[Sequence]; 2]) -> LayoutChoice {
        STORAGE.layout(state, &Encoding::default(), splits).unwrap()
    }

    #[test]
    fn the_fast_layout_is_taken_where_it_costs_little() {
        let unsure = state(0.0, Activation::Tanh);
        assert_eq!(chosen(&unsure, [&predicted(&unsure), &[]]), Layout::Fast.into());
    }

    #[test]
    fn a_pruned_net_is_stored_without_its_zeros() {
        let mut pruned = sized(40, 0.0, Activation::Tanh);
        // Two inputs and forty units: the columns of the state.
        let weights = &mut pruned.parameters.get_mut("layer0.weight").unwrap().values;
        weights.chunks_mut(42).for_each(|row| row[2..].fill(0.0));
        assert_eq!(chosen(&pruned, [&predicted(&pruned), &[]]), Layout::Sparse.into());
        let [sparse, fast] = [Layout::Sparse, Layout::Fast]
            .map(|layout| encode(&pruned, WeightFormat::Int8, layout, &Encoding::default()).unwrap());
        assert!(sparse.len() < fast.len());
        let sequences = predicted(&pruned);
        let values = |bytes: &[u8]| predict_by_runtime(bytes, &sequences).unwrap()[0].mean.values.clone();
        assert_eq!(values(&sparse), values(&fast));
    }

    #[test]
    fn a_net_surer_than_integers_are_exact_is_stored_in_float() {
        // Ten bits of an activation are a thousandth; a standard deviation of e^−8 is a third of that, and
        // the shift costs 0.12 nats.
        let sure = state(-16.0, Activation::Tanh);
        let known = predicted(&sure);
        // That one split does not show it is no excuse.
        for (splits, costly) in [([&known[..], &[]], "training"), ([&[], &known[..]], "validation")] {
            let LayoutChoice { layout, why_float } = chosen(&sure, splits);
            assert_eq!(layout, Layout::Float);
            let Some(WhyFloat::Costly { split, nll_increase }) = why_float else { panic!("{why_float:?}") };
            assert_eq!(split, costly);
            assert!((0.05..0.5).contains(&nll_increase), "{nll_increase}");
        }
    }

    #[test]
    fn what_integers_cannot_run_is_stored_in_float_unless_asked_for() {
        let relu = state(0.0, Activation::Relu);
        let LayoutChoice { layout, why_float } = chosen(&relu, [&predicted(&relu), &[]]);
        assert_eq!(layout, Layout::Float);
        let asked = StorageOptions { layout: Some(Layout::Fast), ..STORAGE };
        assert_eq!(asked.layout(&relu, &Encoding::default(), [&[], &[]]).unwrap(), Layout::Fast.into());
        let error = encode(&relu, asked.format, Layout::Fast, &Encoding::default()).unwrap_err().to_string();
        assert!(error.starts_with("the model cannot be stored"), "{error}");
        assert_eq!(why_float, Some(WhyFloat::Unsupported(error)));
    }
}
