//! Dynamic evaluation (Mikolov et al. 2010; Fortunato, Blundell and Vinyals 2017, sections 5 and 6): the
//! network goes on learning from what it has been scored on.

use std::time::{Duration, Instant};

use burn::tensor::Device;
use quaver::checkpoint::ModelSpec;

use super::optimiser::{all_zero, clip_factor};
use super::state::RunState;
use super::step::{BatchContext, loss_and_gradient_with};
use super::truncated_bptt::CarriedStates;
use crate::data::Sequence;
use crate::data::batch::{Batch, Chunk};
use crate::fit::Architecture;
use crate::nn::tensors::ParameterTensors;
use crate::nn::{Parameters, net, parallel};
use crate::prediction::{SequencePrediction, write_batch};

/// Settings of a dynamic evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DynamicOptions {
    /// Learning rate of plain gradient descent on the mean NLL of a window.
    pub rate: f32,
    /// Time steps between updates.
    pub window: usize,
    /// Largest global norm of a gradient; infinite for none.
    pub clip_norm: f32,
}

/// Predictions of a network that learns from each window after it has predicted it.
#[derive(Clone, Debug)]
pub struct DynamicPrediction {
    /// The predictions, all made before their targets were learned from.
    pub predictions: Vec<SequencePrediction>,
    /// Updates that were made; windows without a finite gradient are left out.
    pub updates: usize,
    /// Time of the predictions.
    pub predicting: Duration,
    /// Time of the updates.
    pub learning: Duration,
}

/// Predicts sequences in their order, window by window, and updates the network by one step of gradient
/// descent after each window. State carries over from window to window, changes of parameters from sequence
/// to sequence: only the past is used. The posterior of uncertain weights moves by the gradient of the NLL
/// alone; its divergence from the prior was paid in training.
pub fn predict_dynamically(
    state: &RunState,
    sequences: &[Sequence],
    options: DynamicOptions,
    mut progress: impl FnMut(usize),
) -> DynamicPrediction {
    let outputs = usize::from(state.spec.outputs);
    let zeros = |sequence: &Sequence| SequencePrediction::zeros(sequence.len(), outputs);
    let mut found = DynamicPrediction {
        predictions: sequences.iter().map(zeros).collect(),
        updates: 0,
        predicting: Duration::ZERO,
        learning: Duration::ZERO,
    };
    let mut learner = Learner { spec: &state.spec, parameters: state.parameters.clone(), options };
    let mut done = 0;
    for (index, sequence) in sequences.iter().enumerate() {
        let mut carried = CarriedStates::default();
        for start in (0..sequence.len()).step_by(options.window) {
            let len = options.window.min(sequence.len() - start);
            let batch = Batch::new(sequences, &state.scaling, &[Chunk { sequence: index, start, len }]);
            carried = learner.window(state, &batch, &carried, &mut found);
            done += len;
            progress(done);
        }
    }
    found
}

/// A network that changes while it is evaluated.
struct Learner<'a> {
    spec: &'a ModelSpec,
    parameters: Parameters,
    options: DynamicOptions,
}

impl Learner<'_> {
    /// Predicts a window, then learns from it. Returns the states after it, of the network that predicted.
    fn window(
        &mut self,
        state: &RunState,
        batch: &Batch,
        carried: &CarriedStates,
        found: &mut DynamicPrediction,
    ) -> CarriedStates {
        let clock = Instant::now();
        let start = carried.start(&self.spec.carried_units(), batch);
        let tensors = ParameterTensors::new(self.spec, &self.parameters, &Device::flex());
        let pass = net::forward_from(self.spec, &tensors, batch, parallel::default_threads(), Some(&start));
        let prediction = net::to_prediction(self.spec, &self.parameters.noise_var(self.spec), pass.output);
        write_batch(&mut found.predictions, self.spec.likelihood, &state.scaling, batch, &prediction);
        found.predicting += clock.elapsed();

        let clock = Instant::now();
        let context = BatchContext { start: Some(&start), ..BatchContext::default() };
        if let Some(loss) = loss_and_gradient_with(self.spec, &self.parameters, batch, context) {
            found.updates += usize::from(learn(&mut self.parameters, &loss.gradients, self.options));
        }
        found.learning += clock.elapsed();
        CarriedStates::after(batch, pass.states)
    }
}

/// The global norm of gradients. Sums run side by side, several times faster than one after the other.
fn norm(gradients: &[Vec<f32>]) -> f64 {
    let mut sums = [0.0; 8];
    let square = |gradient: &f32| f64::from(*gradient) * f64::from(*gradient);
    for values in gradients {
        let (blocks, rest) = values.as_chunks::<8>();
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, gradient)| *sum += square(gradient));
        }
        sums[0] += rest.iter().map(square).sum::<f64>();
    }
    sums.iter().sum::<f64>().sqrt()
}

/// One step of gradient descent, unless the gradient is not finite.
pub(crate) fn learn(parameters: &mut Parameters, gradients: &[Vec<f32>], options: DynamicOptions) -> bool {
    let norm = norm(gradients);
    if !norm.is_finite() {
        return false;
    }
    let (rate, factor) = (options.rate, clip_factor(norm, options.clip_norm).unwrap_or(1.0));
    for (tensor, gradients) in parameters.tensors.iter_mut().zip(gradients) {
        // What has no gradient stays: most rows of an embedding.
        let blocks = tensor.values.chunks_mut(64).zip(gradients.chunks(64));
        for (values, gradients) in blocks.filter(|(_, gradients)| !all_zero(gradients)) {
            let pairs = values.iter_mut().zip(gradients);
            pairs.for_each(|(value, gradient)| *value -= rate * (gradient * factor));
        }
    }
    parameters.clamp_to_limits();
    true
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::config::{InitConfig, TrainingConfig};
    use crate::data::{Rows, Scaling};
    use crate::nn::test_spec;
    use crate::prediction::predict_by_network;
    use crate::random::{Purpose, normal, stream};

    /// A small untrained LSTM, and two recordings of y = 0.8 x + 2 in standardised units: far from what an
    /// untrained network predicts.
    fn untrained() -> (RunState, Vec<Sequence>) {
        let mut rng = stream(3, Purpose::Initialisation);
        let mut recording = |steps: usize| {
            let x: Vec<f32> = (0..steps).map(|_| normal(&mut rng) as f32).collect();
            let y = x.iter().map(|x| 0.8 * x + 2.0).collect();
            Sequence::columns(Rows { channels: 1, values: x }, Rows { channels: 1, values: y })
        };
        let sequences: Vec<Sequence> = [230, 70].map(&mut recording).to_vec();
        let spec = test_spec(1, 1, &[(CellKind::Lstm, 6)]);
        let parameters = InitConfig::default().parameters(&spec, 1);
        let mut scaling = Scaling::fit(&sequences);
        scaling.targets.mean[0] = 0.0;
        scaling.targets.std_dev[0] = 1.0;
        let names = [vec!["x".to_string()], vec!["y".to_string()]];
        (RunState::first(spec, parameters, &TrainingConfig::default(), scaling, names), sequences)
    }

    fn options(rate: f32, window: usize) -> DynamicOptions {
        DynamicOptions { rate, window, clip_norm: f32::INFINITY }
    }

    fn largest_difference(a: &[SequencePrediction], b: &[SequencePrediction]) -> f32 {
        let means = |predictions: &[SequencePrediction]| -> Vec<f32> {
            predictions.iter().flat_map(|prediction| prediction.mean.values.clone()).collect()
        };
        means(a).iter().zip(means(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn without_learning_it_is_the_ordinary_evaluation() {
        let (state, sequences) = untrained();
        let found = predict_dynamically(&state, &sequences, options(0.0, 7), |_| ());
        let whole = predict_by_network(&state.spec, &state.parameters, &state.scaling, &sequences);
        // Windows and whole sequences sum in the same order; only blocking of products may differ.
        assert!(largest_difference(&found.predictions, &whole) < 1e-5);
        assert_eq!(found.updates, 230_usize.div_ceil(7) + 70_usize.div_ceil(7));
    }

    #[test]
    fn the_error_falls_as_it_goes_and_only_the_past_counts() {
        let (state, sequences) = untrained();
        let found = predict_dynamically(&state, &sequences, options(0.1, 10), |_| ()).predictions;
        let error =
            |prediction: &SequencePrediction, rows: std::ops::Range<usize>, truth: &Sequence| -> f32 {
                let square = |t: usize| (prediction.mean.row(t)[0] - truth.targets.row(t)[0]).powi(2);
                rows.clone().map(square).sum::<f32>() / rows.len() as f32
            };
        let early = error(&found[0], 0..20, &sequences[0]);
        let late = error(&found[1], 0..70, &sequences[1]);
        assert!(late < 0.25 * early, "{late} in the second recording, {early} at first");
        // Another future leaves every prediction before it as it was.
        let mut other = sequences.clone();
        other[1] =
            Sequence::columns(other[1].inputs.as_ref().clone(), Rows { channels: 1, values: vec![-9.0; 70] });
        let changed = predict_dynamically(&state, &other, options(0.1, 10), |_| ()).predictions;
        assert_eq!(found[0], changed[0]);
        assert_eq!(found[1].mean.values[..10], changed[1].mean.values[..10]);
        assert_ne!(found[1].mean.values[10..], changed[1].mean.values[10..]);
    }
}
