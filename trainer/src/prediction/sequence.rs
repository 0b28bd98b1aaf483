//! Predictions for every step of every sequence, in raw units.

use quaver::checkpoint::{Likelihood, ModelSpec};
use quaver::{Model, State};

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

/// Sequences that the runtime follows at a time: enough for its vectors, few enough for memory.
const SIDE_BY_SIDE: usize = 256;

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
    let mut predictions = Vec::with_capacity(sequences.len());
    for sequences in sequences.chunks(SIDE_BY_SIDE) {
        predictions.extend(predict_together(&model, sequences, &observed)?);
    }
    Ok(predictions)
}

/// Predictions of a few sequences, step by step, each in a stream of its own: the bits are those of one
/// sequence after the other.
fn predict_together(
    model: &Model<'_>,
    sequences: &[Sequence],
    observed: impl Fn(usize) -> bool,
) -> Result<Vec<SequencePrediction>, quaver::Error> {
    let (inputs, words) = (usize::from(model.spec().inputs), model.spec().arena_words());
    let (mut arenas, mut memory) = (vec![0.0; sequences.len() * words], vec![0.0; model.batch_words()]);
    let streams = arenas.chunks_exact_mut(words.max(1)).map(|arena| model.start_in(arena));
    let mut streams: Vec<State<'_>> = streams.collect::<Result<_, _>>()?;
    let zeros = |sequence: &Sequence| SequencePrediction::zeros(sequence.len(), model.spec().outputs.into());
    let mut predictions: Vec<SequencePrediction> = sequences.iter().map(zeros).collect();
    let mut rows = Vec::new();
    for step in 0..sequences.iter().map(Sequence::len).max().unwrap_or(0) {
        let lasts = |sequence: &Sequence| step < sequence.len();
        let mut write = |streams: &[State<'_>]| {
            for ((sequence, stream), prediction) in sequences.iter().zip(streams).zip(&mut predictions) {
                if lasts(sequence) {
                    prediction.write_row(step, &model.prediction(stream));
                }
            }
        };
        // A model of its own next input has predicted a row before it sees it.
        if model.spec().target.is_next() {
            write(&streams);
        }
        rows.clear();
        for sequence in sequences.iter().filter(|sequence| lasts(sequence)) {
            let row = sequence.inputs.row(step).iter().copied();
            rows.extend(row.chain(std::iter::repeat(f32::NAN)).take(inputs));
        }
        let present = streams.iter_mut().zip(sequences).filter(|(_, sequence)| lasts(sequence));
        let mut present: Vec<&mut State<'_>> = present.map(|(stream, _)| stream).collect();
        model.step_batch(&mut present, &rows, &mut memory);
        if !model.spec().target.is_next() {
            write(&streams);
        }
        if observed(step) {
            for (stream, sequence) in streams.iter_mut().zip(sequences) {
                if lasts(sequence) {
                    model.observe(stream, sequence.targets.row(step));
                }
            }
        }
    }
    Ok(predictions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequences of different lengths, so that streams end one after the other.
    #[test]
    fn sequences_are_predicted_together_as_they_are_alone() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/examples/grip_force.qvr");
        let bytes = &std::fs::read(path).expect("an example of the runtime");
        let sequence = |index: usize| {
            let len = 3 + (index * 5) % 11;
            let value = |place: usize| ((place * 37 + index * 101) % 97) as f32 / 3.0;
            let values = |channels: usize| (0..len * channels).map(value).collect();
            let inputs = Rows { channels: 8, values: values(8) };
            Sequence::columns(inputs, Rows { channels: 1, values: values(1) })
        };
        let sequences: Vec<Sequence> = (0..40).map(sequence).collect();
        let observed = |step: usize| step % 3 == 1;
        let together = predict_observing(bytes, &sequences, observed).unwrap();
        for (sequence, together) in sequences.iter().zip(&together) {
            let alone = predict_observing(bytes, std::slice::from_ref(sequence), observed).unwrap();
            assert_eq!(std::slice::from_ref(together), &alone[..]);
        }
        assert!(together.iter().any(|prediction| prediction.mean.values.len() == 13));
    }
}
