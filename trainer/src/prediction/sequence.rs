//! Predictions for every step of every sequence, in raw units.

use quaver::Model;
use quaver::checkpoint::{Likelihood, ModelSpec, Target};

use crate::data::batch::{self, Batch};
use crate::data::{Rows, Scaling, Sequence};
use crate::nn::{BatchPrediction, Parameters, predict};

/// Predictions for one sequence: a row per step, a column per output.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencePrediction {
    /// Expected values.
    pub mean: Rows,
    /// Epistemic variances: the propagated part.
    pub epistemic: Rows,
    /// Aleatoric variances: the noise part.
    pub aleatoric: Rows,
}

impl SequencePrediction {
    /// Predictions that are all zero.
    pub(crate) fn zeros(steps: usize, outputs: usize) -> Self {
        let rows = || Rows { channels: outputs, values: vec![0.0; steps * outputs] };
        SequencePrediction { mean: rows(), epistemic: rows(), aleatoric: rows() }
    }

    /// Total variance of one value.
    pub fn variance(&self, step: usize, output: usize) -> f32 {
        self.epistemic.row(step)[output] + self.aleatoric.row(step)[output]
    }

    /// Sets the prediction of one value.
    pub(crate) fn set(&mut self, step: usize, output: usize, mean: f32, epistemic: f32, aleatoric: f32) {
        let place = step * self.mean.channels + output;
        self.mean.values[place] = mean;
        self.epistemic.values[place] = epistemic;
        self.aleatoric.values[place] = aleatoric;
    }

    /// Copies what the runtime predicts for one step.
    pub(crate) fn write_row(&mut self, step: usize, prediction: &quaver::Prediction<'_>) {
        for (index, output) in prediction.iter().enumerate() {
            self.set(step, index, output.mean, output.epistemic, output.aleatoric);
        }
    }
}

/// Sequences per batch in evaluation: enough for wide products, few enough for memory.
const ROWS: usize = 64;

/// Predictions by the trained network, in batches.
pub fn predict_by_network(
    spec: &ModelSpec,
    parameters: &Parameters,
    scaling: &Scaling,
    sequences: &[Sequence],
) -> Vec<SequencePrediction> {
    let outputs = usize::from(spec.outputs);
    let mut predictions: Vec<_> =
        sequences.iter().map(|s| SequencePrediction::zeros(s.len(), outputs)).collect();
    for batch in batch::evaluation(sequences, scaling, ROWS) {
        let prediction = predict(spec, parameters, &batch);
        write_batch(&mut predictions, spec.likelihood, scaling, &batch, &prediction);
    }
    predictions
}

/// Copies the predictions for a batch into those of its sequences, in raw units.
pub(crate) fn write_batch(
    predictions: &mut [SequencePrediction],
    likelihood: Likelihood,
    scaling: &Scaling,
    batch: &Batch,
    prediction: &BatchPrediction,
) {
    let outputs = scaling.targets.channels();
    for (row, chunk) in batch.chunks.iter().enumerate() {
        for (step, output) in (0..chunk.len).flat_map(|step| (0..outputs).map(move |output| (step, output))) {
            let place = (step * batch.rows + row) * outputs + output;
            let (mean, var) = (prediction.mean[place], prediction.var[place]);
            let (mean, epistemic, aleatoric) = match likelihood {
                Likelihood::Gaussian | Likelihood::Heteroscedastic => (
                    scaling.targets.unstandardise(output, mean),
                    scaling.targets.unstandardise_variance(output, var),
                    scaling.targets.unstandardise_variance(output, prediction.noise[place]),
                ),
                Likelihood::Bernoulli | Likelihood::Categorical => (mean, var, prediction.noise[place]),
            };
            predictions[chunk.sequence].set(chunk.start + step, output, mean, epistemic, aleatoric);
        }
    }
}

/// Predictions by the runtime, sample by sample, as on a device.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn predict_by_runtime(
    bytes: &[u8],
    sequences: &[Sequence],
) -> Result<Vec<SequencePrediction>, quaver::Error> {
    predict_observing(bytes, sequences, |_| false)
}

/// The same, while the model is told the truth about the steps that `observed` chooses, after it has
/// predicted them.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn predict_observing(
    bytes: &[u8],
    sequences: &[Sequence],
    observed: impl Fn(usize) -> bool,
) -> Result<Vec<SequencePrediction>, quaver::Error> {
    let model = Model::load(bytes)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    let mut predictions = Vec::with_capacity(sequences.len());
    for sequence in sequences {
        let mut prediction = SequencePrediction::zeros(sequence.len(), model.spec().outputs.into());
        model.reset(&mut state);
        for step in 0..sequence.len() {
            let row = sequence.inputs.row(step);
            // A model of its own next input has predicted a row before it sees it.
            let outputs = match model.spec().target {
                Target::Next | Target::ResidualNext => model.prediction(&state),
                Target::Columns | Target::ResidualSame => model.step(&mut state, row),
            };
            prediction.write_row(step, &outputs);
            if model.spec().target.is_next() {
                model.step(&mut state, row);
            }
            if observed(step) {
                model.observe(&mut state, sequence.targets.row(step));
            }
        }
        predictions.push(prediction);
    }
    Ok(predictions)
}
