//! Predictions by networks of which every random quantity is drawn.

use quaver::checkpoint::ModelSpec;

use super::sequence::{SequencePrediction, write_batch};
use crate::data::batch;
use crate::data::{Scaling, Sequence};
use crate::nn::{Parameters, SampledNetwork};
use crate::random::{Purpose, stream};

/// Sequences per batch.
const ROWS: usize = 64;

/// Predictions by one draw of the network: weights drawn once for all sequences, noise on units at every
/// step. Epistemic variances are zero, because a draw has none.
///
/// Draws depend only on the seed, the number of the draw and the index of the sequence.
pub fn predict_by_draw(
    spec: &ModelSpec,
    parameters: &Parameters,
    scaling: &Scaling,
    sequences: &[Sequence],
    (seed, draw): (u64, u64),
) -> Vec<SequencePrediction> {
    let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: draw });
    let network = SampledNetwork::draw(spec, parameters, &mut rng);
    let noise_var = parameters.noise_var(spec);
    let outputs = usize::from(spec.outputs);
    let mut predictions: Vec<_> =
        sequences.iter().map(|s| SequencePrediction::zeros(s.len(), outputs)).collect();
    for batch in batch::evaluation(sequences, scaling, ROWS) {
        let unit_noise = |lane: usize| {
            let sequence = batch.chunks[lane].sequence as u64;
            stream(seed, Purpose::MonteCarlo { draw, sequence })
        };
        let prediction = network.predict(&noise_var, &batch, unit_noise);
        write_batch(&mut predictions, spec.likelihood, scaling, &batch, &prediction);
    }
    predictions
}
