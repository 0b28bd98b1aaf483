//! Truncated backpropagation through time with states carried from batch to batch.

use crate::data::batch::{Batch, Chunk};
use crate::nn::recurrence::LayerState;

/// Final states of the sequences of the last batch. Gradients do not propagate into them.
#[derive(Clone, Debug, Default)]
pub(crate) struct CarriedStates {
    chunks: Vec<Chunk>,
    states: Vec<LayerState>,
}

impl CarriedStates {
    /// The final states of a batch.
    pub(crate) fn after(batch: &Batch, states: Vec<LayerState>) -> Self {
        CarriedStates { chunks: batch.chunks.clone(), states }
    }

    /// Initial states of a batch, for layers of these sizes: the final state of the preceding chunk where the
    /// last batch had it, zero otherwise.
    pub(crate) fn start(&self, units: &[usize], batch: &Batch) -> Vec<LayerState> {
        units.iter().enumerate().map(|(index, units)| self.layer(index, *units, batch)).collect()
    }

    fn layer(&self, index: usize, units: usize, batch: &Batch) -> LayerState {
        let zeros = || vec![0.0; 2 * batch.rows * units];
        let mut start = LayerState { state: zeros(), memory: zeros() };
        let Some(last) = self.states.get(index) else { return start };
        for (row, chunk) in batch.chunks.iter().enumerate() {
            let goes_on =
                |last: &Chunk| (last.sequence, last.start + last.len) == (chunk.sequence, chunk.start);
            if let Some(from) = self.chunks.iter().position(goes_on) {
                copy_row(&last.state, from, &mut start.state, row, units);
                copy_row(&last.memory, from, &mut start.memory, row, units);
            }
        }
        start
    }
}

/// Copies means and variances of one row, [2, rows, units] each.
fn copy_row(from: &[f32], from_row: usize, to: &mut [f32], to_row: usize, units: usize) {
    let (from_half, to_half) = (from.len() / 2, to.len() / 2);
    for plane in 0..2 {
        let source = &from[plane * from_half + from_row * units..][..units];
        to[plane * to_half + to_row * units..][..units].copy_from_slice(source);
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Activation, CellKind, UnitNoise};

    use super::*;
    use crate::config::InitConfig;
    use crate::data::{Rows, Scaling, Sequence, batch};
    use crate::fit::{Architecture, BatchContext, evaluate, loss_and_gradient_with};
    use crate::nn::test_spec;
    use crate::random::{Purpose, normal, stream};

    #[test]
    fn the_loss_of_carried_chunks_is_that_of_whole_sequences() {
        let dense = CellKind::Dense(Activation::Tanh);
        let elman = CellKind::Elman(Activation::Tanh);
        let mut spec = test_spec(1, 1, &[(CellKind::Lstm, 4), (dense, 3), (CellKind::Gru, 4), (elman, 5)]);
        for layer in [0, 2] {
            spec.layers[layer].recurrent_noise = UnitNoise::Dropout { keep: 0.8 };
        }
        let parameters = InitConfig::default().parameters(&spec, 1);
        let mut rng = stream(1, Purpose::Initialisation);
        let mut sequence = |steps: usize| {
            let mut rows =
                || Rows { channels: 1, values: (0..steps).map(|_| normal(&mut rng) as f32).collect() };
            Sequence::columns(rows(), rows())
        };
        let sequences: Vec<Sequence> = [11, 4, 9, 6].map(&mut sequence).to_vec();
        let scaling = Scaling::fit(&sequences);
        let whole = evaluate(&spec, &parameters, batch::evaluation(&sequences, &scaling, 4)).unwrap();

        let mut carried = CarriedStates::default();
        let mut sum = 0.0;
        for batch in batch::carried(&sequences, &scaling, 3, 2, &mut rng) {
            let start = carried.start(&spec.carried_units(), &batch);
            let context = BatchContext { start: Some(&start), ..BatchContext::default() };
            let batch_loss = loss_and_gradient_with(&spec, &parameters, &batch, context).unwrap();
            sum += batch_loss.nll * batch_loss.steps as f64;
            carried = CarriedStates::after(&batch, batch_loss.states);
        }
        assert!((sum / 30.0 - whole).abs() < 1e-6, "{} against {whole}", sum / 30.0);
    }
}
