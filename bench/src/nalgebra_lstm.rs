//! The LSTM as one would write it with nalgebra: one product for all gates, then a loop over units.

use nalgebra::{DMatrix, DVector};
use quaver::checkpoint::{Affine, Scaler};
use quaver_tests::bench::contents;

use crate::COMPARED;

/// Weights and state.
pub struct NalgebraLstm {
    gates: (DMatrix<f32>, DVector<f32>),
    output: (DMatrix<f32>, DVector<f32>),
    inputs: Scaler,
    outputs: Scaler,
    /// [x, h].
    row: DVector<f32>,
    cell: DVector<f32>,
    /// Room for the products.
    sums: DVector<f32>,
    result: DVector<f32>,
}

fn affine(map: &Affine) -> (DMatrix<f32>, DVector<f32>) {
    let rows = map.bias.len();
    (DMatrix::from_row_slice(rows, map.weight.len() / rows, &map.weight), DVector::from_row_slice(&map.bias))
}

impl NalgebraLstm {
    /// The network that is compared, before its first row.
    ///
    /// # Panics
    /// If there is no such network.
    #[allow(clippy::new_without_default)] // a benchmark's subject has no default
    pub fn new() -> Self {
        let contents = contents(COMPARED).expect("the network is known");
        let (gates, output) = (affine(&contents.layers[0]), affine(&contents.output));
        let (units, cols) = (gates.0.nrows() / 4, gates.0.ncols());
        NalgebraLstm {
            row: DVector::zeros(cols),
            cell: DVector::zeros(units),
            sums: DVector::zeros(4 * units),
            result: DVector::zeros(output.0.nrows()),
            gates,
            output,
            inputs: contents.input_scaler,
            outputs: contents.output_scaler,
        }
    }

    /// Takes one row of raw units and returns the first output.
    pub fn step(&mut self, row: &[f32]) -> f32 {
        let inputs = row.len();
        for (index, value) in row.iter().enumerate() {
            self.row[index] = (value - self.inputs.mean[index]) / self.inputs.std_dev[index];
        }
        self.sums.copy_from(&self.gates.1);
        self.sums.gemv(1.0, &self.gates.0, &self.row, 1.0);
        let sigmoid = |a: f32| 1.0 / (1.0 + (-a).exp());
        for (unit, cell) in self.cell.iter_mut().enumerate() {
            let gate = |gate: usize| self.sums[4 * unit + gate];
            *cell = sigmoid(gate(1)) * *cell + sigmoid(gate(0)) * gate(2).tanh();
            self.row[inputs + unit] = sigmoid(gate(3)) * cell.tanh();
        }
        self.result.copy_from(&self.output.1);
        self.result.gemv(1.0, &self.output.0, &self.row.rows(inputs, self.cell.len()), 1.0);
        self.result[0] * self.outputs.std_dev[0] + self.outputs.mean[0]
    }
}
