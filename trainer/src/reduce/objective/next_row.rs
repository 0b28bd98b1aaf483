//! One-step prediction (Bayer 2015, thesis, 3.5.1.2).

use burn::tensor::{Tensor, TensorData};

use crate::data::batch::Batch;
use crate::nn::net::MomentTensors;

/// The expected squared error of the next row, E(y_t − x_{t+1})² = (m − x)² + v, summed over channels and
/// averaged over the steps that have a next row; and the number of these steps. Missing inputs do not count.
/// Nothing if no step counts.
pub fn next_row(outputs: MomentTensors, batch: &Batch) -> Option<(Tensor<1>, usize)> {
    let [rows, channels] = outputs.mean.dims();
    let (lanes, device) = (batch.rows, outputs.mean.device());
    let mut target = vec![0.0; rows * channels];
    let mut weight = vec![0.0; rows * channels];
    let mut steps = 0;
    for (lane, chunk) in batch.chunks.iter().enumerate() {
        steps += chunk.len.saturating_sub(1);
        for step in 1..chunk.len {
            let (own, next) = ((step - 1) * lanes + lane, step * lanes + lane);
            for channel in 0..channels {
                let (place, index) = (own * channels + channel, next * channels + channel);
                target[place] = batch.inputs_mean[index];
                weight[place] = if batch.inputs_var[index] == 0.0 { 1.0 } else { 0.0 };
            }
        }
    }
    if steps == 0 {
        return None;
    }
    let tensor =
        |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, [rows, channels]), &device);
    let error = outputs.mean - tensor(target);
    let square = error.clone() * error;
    let expected = match outputs.var {
        Some(var) => square + var,
        None => square,
    };
    Some(((expected * tensor(weight)).sum() / steps as f32, steps))
}
