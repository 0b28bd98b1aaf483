//! Rows or columns of a matrix, selected by index, as a node of the autodiff graph.

use std::sync::Arc;

use burn::tensor::Tensor;

use super::host_node::{HostArray, HostFunction, Kept, apply1};
use super::recurrence::Traces;

/// In place of an index: no row and no column, hence zeros.
pub const NONE: u32 = u32::MAX;

/// A row [count, columns] for every index into the rows of a matrix [rows, columns].
pub(super) fn gather_rows(matrix: Tensor<2>, indices: &Arc<[u32]>) -> Tensor<2> {
    let shape = matrix.dims();
    apply1(Gather { indices: Arc::clone(indices), shape, by_column: false }, matrix)
}

/// A row [count, rows] for every index into the columns of a matrix [rows, columns].
pub(super) fn gather_columns(matrix: Tensor<2>, indices: &Arc<[u32]>) -> Tensor<2> {
    let shape = matrix.dims();
    apply1(Gather { indices: Arc::clone(indices), shape, by_column: true }, matrix)
}

/// The product of a matrix with one-hot rows, without the products; its gradient adds each row to the place
/// that it was read from.
#[derive(Clone, Debug)]
struct Gather {
    indices: Arc<[u32]>,
    /// Of the matrix.
    shape: [usize; 2],
    by_column: bool,
}

impl Gather {
    /// Length of a result's row.
    fn width(&self) -> usize {
        self.shape[usize::from(!self.by_column)]
    }

    /// First place and distance of the numbers that an index selects.
    fn stride(&self, index: u32) -> (usize, usize) {
        let index = index as usize;
        if self.by_column { (index, self.shape[1]) } else { (index * self.shape[1], 1) }
    }
}

impl HostFunction<1> for Gather {
    type Tape = ();

    fn forward(&self, [matrix]: [&[f32]; 1], _keep: Traces) -> (HostArray, ()) {
        let width = self.width();
        let mut values = vec![0.0; self.indices.len() * width];
        for (row, &index) in
            values.chunks_exact_mut(width).zip(self.indices.iter()).filter(|(_, index)| **index != NONE)
        {
            let (first, step) = self.stride(index);
            row.iter_mut().zip(matrix[first..].iter().step_by(step)).for_each(|(to, from)| *to = *from);
        }
        (HostArray { values, shape: vec![self.indices.len(), width] }, ())
    }

    fn backward(&self, [matrix]: [&[f32]; 1], _kept: Kept<'_, ()>, grad: &[f32]) -> [Vec<f32>; 1] {
        let mut gradient = vec![0.0; matrix.len()];
        let rows = grad.chunks_exact(self.width()).zip(self.indices.iter());
        for (row, &index) in rows.filter(|(_, index)| **index != NONE) {
            let (first, step) = self.stride(index);
            gradient[first..].iter_mut().step_by(step).zip(row).for_each(|(sum, value)| *sum += value);
        }
        [gradient]
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::nn::tensors::to_vec;
    use crate::random::{Purpose, normals, stream};

    const SHAPE: [usize; 2] = [5, 7];
    const INDICES: [u32; 6] = [3, 0, NONE, 3, 4, 1];

    /// Rows of zeros and ones, [count, width].
    fn one_hot(width: usize, device: &Device) -> Tensor<2> {
        let row = |index: u32| (0..width).map(move |place| if place == index as usize { 1.0 } else { 0.0 });
        let values: Vec<f32> = INDICES.into_iter().flat_map(row).collect();
        Tensor::from_data(TensorData::new(values, [INDICES.len(), width]), device)
    }

    /// Value and gradient of a weighted sum of squares.
    fn measured(function: impl Fn(Tensor<2>) -> Tensor<2>) -> [Vec<f32>; 2] {
        let device = Device::flex().autodiff();
        let draws = normals(&mut stream(1, Purpose::Initialisation), SHAPE.iter().product());
        let matrix = Tensor::<2>::from_data(TensorData::new(draws, SHAPE), &device).require_grad();
        let value = function(matrix.clone());
        let shape = value.dims();
        let weights: Vec<f32> = (0..shape[0] * shape[1]).map(|index| 0.5 + index as f32).collect();
        let weights = Tensor::<2>::from_data(TensorData::new(weights, shape), &device);
        let grads = (value.clone() * value.clone() * weights).sum().backward();
        [to_vec(value), to_vec(matrix.grad(&grads).unwrap())]
    }

    /// The sums of a product have one term that is not zero, and those of gradients two: equal up to their
    /// order.
    #[test]
    fn gathering_is_the_product_with_one_hot_rows() {
        let device = Device::flex().autodiff();
        let indices: Arc<[u32]> = INDICES.into();
        let pairs = [
            (measured(|w| gather_rows(w, &indices)), measured(|w| one_hot(SHAPE[0], &device).matmul(w))),
            (
                measured(|w| gather_columns(w, &indices)),
                measured(|w| one_hot(SHAPE[1], &device).matmul(w.transpose())),
            ),
        ];
        for (found, expected) in pairs {
            assert_eq!(found[0], expected[0]);
            for (found, expected) in found[1].iter().zip(&expected[1]) {
                assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found} against {expected}");
            }
        }
    }
}
