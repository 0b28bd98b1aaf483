//! The LSTM as one would write it with Burn: one product for all gates, slices of it through the activations.

use burn::tensor::activation::{sigmoid, tanh};
use burn::tensor::{Device, Tensor, TensorData};
use quaver::checkpoint::{Affine, Scaler};
use quaver_tests::bench::contents;

use crate::COMPARED;

/// Weights and state.
pub struct BurnLstm {
    /// Columns in order of gates: all input gates, all forget gates, all candidates, all output gates.
    gates: (Tensor<2>, Tensor<2>),
    output: (Tensor<2>, Tensor<2>),
    input_mean: Tensor<2>,
    input_std_dev: Tensor<2>,
    outputs: Scaler,
    units: usize,
    h: Tensor<2>,
    c: Tensor<2>,
    device: Device,
}

fn matrix(values: Vec<f32>, rows: usize, device: &Device) -> Tensor<2> {
    let shape = [rows, values.len() / rows];
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Weights with one column per row of the map, and biases, the rows taken in the given order.
fn affine(map: &Affine, order: &[usize], device: &Device) -> (Tensor<2>, Tensor<2>) {
    let cols = map.weight.len() / map.bias.len();
    let weight =
        (0..cols).flat_map(|col| order.iter().map(move |row| map.weight[row * cols + col])).collect();
    let bias = order.iter().map(|row| map.bias[*row]).collect();
    (matrix(weight, cols, device), matrix(bias, 1, device))
}

impl BurnLstm {
    /// The network that is compared, before its first row.
    ///
    /// # Panics
    /// If there is no such network.
    #[allow(clippy::new_without_default)] // a benchmark's subject has no default
    pub fn new() -> Self {
        let contents = contents(COMPARED).expect("the network is known");
        let device = Device::flex();
        let units = contents.layers[0].bias.len() / 4;
        let by_gate: Vec<usize> =
            (0..4).flat_map(|gate| (0..units).map(move |unit| 4 * unit + gate)).collect();
        BurnLstm {
            gates: affine(&contents.layers[0], &by_gate, &device),
            output: affine(&contents.output, &[0], &device),
            input_mean: matrix(contents.input_scaler.mean, 1, &device),
            input_std_dev: matrix(contents.input_scaler.std_dev, 1, &device),
            outputs: contents.output_scaler,
            units,
            h: Tensor::zeros([1, units], &device),
            c: Tensor::zeros([1, units], &device),
            device,
        }
    }

    /// Takes one row of raw units and returns the first output.
    pub fn step(&mut self, row: &[f32]) -> f32 {
        let x =
            (matrix(row.to_vec(), 1, &self.device) - self.input_mean.clone()) / self.input_std_dev.clone();
        let joined = Tensor::cat(vec![x, self.h.clone()], 1);
        let sums = joined.matmul(self.gates.0.clone()) + self.gates.1.clone();
        let gate = |index: usize| sums.clone().slice([0..1, index * self.units..(index + 1) * self.units]);
        self.c = sigmoid(gate(1)) * self.c.clone() + sigmoid(gate(0)) * tanh(gate(2));
        self.h = sigmoid(gate(3)) * tanh(self.c.clone());
        let result = self.h.clone().matmul(self.output.0.clone()) + self.output.1.clone();
        let value = result.into_data().as_slice::<f32>().map_or(f32::NAN, |values| values[0]);
        value * self.outputs.std_dev[0] + self.outputs.mean[0]
    }
}
