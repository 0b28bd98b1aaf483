//! How a trained net is stored: as bytes, in the fastest layout that is good enough.

use anyhow::{Result, anyhow, ensure};
use quaver::checkpoint::{GramMatrices, Layout, WeightFormat};

use super::contents;
use crate::data::Sequence;
use crate::evaluate::{from_runtime, scores};
use crate::fit::RunState;

/// The most that speed may cost: where the fast layout loses more nats per step than this against the plain one, on
/// training or on validation data, the plain one is taken.
pub(crate) const PRICE_OF_SPEED: f64 = 0.02;

/// How weights are stored: without a layout, in the fastest that is good enough.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// How many bits a weight has.
    pub format: WeightFormat,
    /// In which order weights are stored.
    pub layout: Option<Layout>,
}

impl Storage {
    /// The layout to take. Where nobody asked for one, it is settled on each of the `splits`: integers are exact to a part of the
    /// largest number, so that what they cost shows where a net is sure of itself, and not every recording has such stretches.
    pub fn layout(self, state: &RunState, usage: &[GramMatrices], splits: &[&[Sequence]]) -> Layout {
        if let Some(layout) = self.layout {
            return layout;
        }
        if self.format == WeightFormat::F32 {
            return Layout::Float;
        }
        let bytes = |layout| encode(state, self.format, layout, usage, None);
        let affordable = |fast: &[u8], plain: &[u8]| -> Result<bool> {
            for sequences in splits {
                let nll = |bytes: &[u8]| -> Result<f64> {
                    let forecasts = from_runtime(bytes, sequences)?;
                    Ok(scores(state.spec.likelihood, &state.target_names, sequences, &forecasts).nll)
                };
                if nll(fast)? - nll(plain)? > PRICE_OF_SPEED {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        // What the integer kernels cannot run, floating point can.
        match (bytes(Layout::Fast), bytes(Layout::Float)) {
            (Ok(fast), Ok(plain)) if affordable(&fast, &plain).unwrap_or(false) => Layout::Fast,
            _ => Layout::Float,
        }
    }
}

/// A state as the bytes of a checkpoint, rounded by the `usage` of its maps where there is one, with factors on the variances of its
/// outputs.
///
/// # Errors
/// When the layout cannot hold the net, or when there are factors for outputs that have none.
pub fn encode(
    state: &RunState,
    format: WeightFormat,
    layout: Layout,
    usage: &[GramMatrices],
    factors: Option<&[f32]>,
) -> Result<Vec<u8>> {
    let RunState { spec, parameters, scaling, input_names, target_names, .. } = state;
    let mut contents = contents(spec, format, parameters, scaling, input_names, target_names);
    if let Some(factors) = factors {
        ensure!(
            contents.calibration.len() == factors.len(),
            "--calibrate scales the variance of normal outputs, and this model has none; leave it out"
        );
        contents.calibration = factors.to_vec();
    }
    contents.spec.layout = layout;
    contents.gram = usage.to_vec();
    quaver::checkpoint::write(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Activation, CellKind};

    use super::*;
    use crate::config::{Init, Training};
    use crate::data::{Rows, Scaler, Scaling};
    use crate::nn::random::{Purpose, normal, stream};
    use crate::nn::test_spec;

    const STORAGE: Storage = Storage { format: WeightFormat::Int8, layout: None };

    /// A net whose noise has this logarithm of a variance.
    fn state(log_noise: f32, activation: Activation) -> RunState {
        let spec = test_spec(2, 1, &[(CellKind::Elman(activation), 8)]);
        let mut parameters = Init::default().draw(&spec, 1);
        parameters.get_mut("output.log_noise").unwrap().values[0] = log_noise;
        let scaling = Scaling { inputs: Scaler::identity(2), targets: Scaler::identity(1) };
        let names = [vec!["a".into(), "b".into()], vec!["y".into()]];
        RunState::first(spec, parameters, &Training::default(), scaling, names)
    }

    /// A sequence that the net predicts exactly as long as it computes in floating point.
    fn predicted(state: &RunState) -> Vec<Sequence> {
        let mut rng = stream(1, Purpose::Initialisation);
        let inputs = Rows { channels: 2, values: (0..200).map(|_| normal(&mut rng) as f32).collect() };
        let unknown = Rows { channels: 1, values: vec![0.0; 100] };
        let bytes = encode(state, WeightFormat::Int8, Layout::Float, &[], None).unwrap();
        let forecasts = from_runtime(&bytes, &[Sequence::columns(inputs.clone(), unknown)]).unwrap();
        vec![Sequence::columns(inputs, forecasts[0].mean.clone())]
    }

    #[test]
    fn the_fast_layout_is_taken_where_it_costs_little() {
        let unsure = state(0.0, Activation::Tanh);
        assert_eq!(STORAGE.layout(&unsure, &[], &[&predicted(&unsure)]), Layout::Fast);
    }

    #[test]
    fn a_net_surer_than_integers_are_exact_stays_plain() {
        // Ten bits of an activation are a thousandth; a deviation of e^−8 is a third of that, and the shift costs 0.12 nats.
        let sure = state(-16.0, Activation::Tanh);
        assert_eq!(STORAGE.layout(&sure, &[], &[&predicted(&sure)]), Layout::Float);
        // That one split does not show it is no excuse.
        assert_eq!(STORAGE.layout(&sure, &[], &[&[], &predicted(&sure)]), Layout::Float);
    }

    #[test]
    fn what_integers_cannot_run_stays_plain_unless_asked_for() {
        let relu = state(0.0, Activation::Relu);
        assert_eq!(STORAGE.layout(&relu, &[], &[&predicted(&relu)]), Layout::Float);
        let asked = Storage { layout: Some(Layout::Fast), ..STORAGE };
        assert_eq!(asked.layout(&relu, &[], &[]), Layout::Fast);
        let error = encode(&relu, asked.format, Layout::Fast, &[], None).unwrap_err().to_string();
        assert!(error.starts_with("the model cannot be stored"), "{error}");
    }
}
