//! Predictions by a runtime whose output layer learns from the first rows of each sequence.

use quaver::checkpoint::Target;
use quaver::{AdaptOptions, AdaptivePredictor, Model};

use super::SequencePrediction;
use crate::data::Sequence;

/// Predictions by the runtime, sample by sample, as on a device that is told the targets of the first
/// `labelled` rows of every sequence, each right after its prediction. Every sequence is another person: what
/// was learned from the one before is forgotten.
///
/// # Errors
/// If the bytes are not a checkpoint of a model that can adapt, or an option is out of its range.
pub fn predict_adaptively(
    bytes: &[u8],
    options: AdaptOptions,
    sequences: &[Sequence],
    labelled: usize,
) -> Result<Vec<SequencePrediction>, quaver::Error> {
    let model = Model::load(bytes)?;
    let mut words = vec![0.0; AdaptivePredictor::arena_words(&model, &options)];
    let mut predictor = AdaptivePredictor::new(model, &mut words, options)?;
    Ok(sequences.iter().map(|sequence| predict(&mut predictor, sequence, labelled)).collect())
}

fn predict(
    predictor: &mut AdaptivePredictor<'_, '_>,
    sequence: &Sequence,
    labelled: usize,
) -> SequencePrediction {
    let spec = predictor.model().spec();
    let (target, outputs) = (spec.target, usize::from(spec.outputs));
    let mut prediction = SequencePrediction::zeros(sequence.len(), outputs);
    predictor.forget();
    predictor.reset();
    for step in 0..sequence.len() {
        let row = sequence.inputs.row(step);
        // A model of its own next input has predicted a row before it sees it.
        match target {
            Target::Next | Target::ResidualNext => prediction.write_row(step, &predictor.prediction()),
            Target::Columns | Target::ResidualSame => prediction.write_row(step, &predictor.step(row)),
        }
        if step < labelled {
            predictor.learn(sequence.targets.row(step));
        }
        if target.is_next() {
            predictor.step(row);
        }
    }
    prediction
}
