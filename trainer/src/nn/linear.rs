//! Large matrix products as nodes of the autodiff graph.
//!
//! The affine maps into a layer and out of the last one process all steps at once, so each is a single large
//! product. Rows are distributed over threads; no result depends on the number of threads.

use burn::tensor::Tensor;

use super::host_node::{HostArray, HostFunction, Kept, apply2, apply3};
use super::parallel;
use super::product::{Packed, Strided, add_product};
use super::recurrence::Traces;

/// Rows of the result per task: enough to amortise a task, few enough to keep every core busy.
const ROWS_PER_TASK: usize = 64;

/// The same for gradients of weights, which have few rows and many terms.
const WEIGHT_ROWS_PER_TASK: usize = 16;

/// a·wᵀ for a [rows, terms] and w [columns, terms].
pub(crate) fn product(a: Tensor<2>, weight: Tensor<2>) -> Tensor<2> {
    apply2(Linear::new(&weight, parallel::default_threads()), a, weight)
}

/// a·wᵀ + b for a [rows, terms], w [columns, terms] and b [columns].
pub(crate) fn affine(a: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    apply3(Linear::new(&weight, parallel::default_threads()), a, weight, bias)
}

/// A product with a transposed matrix of this size.
#[derive(Clone, Copy, Debug)]
struct Linear {
    columns: usize,
    terms: usize,
    threads: usize,
}

impl Linear {
    fn new(weight: &Tensor<2>, threads: usize) -> Self {
        let [columns, terms] = weight.dims();
        Linear { columns, terms, threads }
    }

    /// Adds a·wᵀ to `out`.
    fn add(self, mut out: Vec<f32>, a: &[f32], weight: &[f32]) -> HostArray {
        let weight = Packed::new(Strided::transposed(weight, self.terms), self.terms, self.columns);
        add_rows(&mut out, Strided::rows(a, self.terms), &weight, ROWS_PER_TASK, self.threads);
        let shape = vec![out.len() / self.columns, self.columns];
        HostArray { values: out, shape }
    }

    /// ∂L/∂a = g·w.
    fn input_gradient(self, weight: &[f32], grad: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; grad.len() / self.columns * self.terms];
        let weight = Packed::new(Strided::rows(weight, self.terms), self.columns, self.terms);
        add_rows(&mut gradient, Strided::rows(grad, self.columns), &weight, ROWS_PER_TASK, self.threads);
        gradient
    }

    /// ∂L/∂w = gᵀ·a.
    fn weight_gradient(self, a: &[f32], grad: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; self.columns * self.terms];
        let a = Packed::new(Strided::rows(a, self.terms), grad.len() / self.columns, self.terms);
        let grad = Strided::transposed(grad, self.columns);
        add_rows(&mut gradient, grad, &a, WEIGHT_ROWS_PER_TASK, self.threads);
        gradient
    }

    /// ∂L/∂b: the sum of all rows of g.
    fn bias_gradient(self, grad: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; self.columns];
        for row in grad.chunks_exact(self.columns) {
            gradient.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        gradient
    }
}

/// Adds a·b to `out`, some rows per task.
fn add_rows(out: &mut [f32], a: Strided<'_>, b: &Packed, rows_per_task: usize, threads: usize) {
    let tasks = out.chunks_mut(rows_per_task * b.columns()).enumerate();
    parallel::for_each(threads, tasks, |(task, out)| add_product(out, a.skip_rows(task * rows_per_task), b));
}

/// A function of input and weight.
impl HostFunction<2> for Linear {
    type Tape = ();

    fn forward(&self, [a, weight]: [&[f32]; 2], _keep: Traces) -> (HostArray, ()) {
        (self.add(vec![0.0; a.len() / self.terms * self.columns], a, weight), ())
    }

    fn backward(&self, inputs: [&[f32]; 2], kept: Kept<'_, ()>, grad: &[f32]) -> [Vec<f32>; 2] {
        self.backward_for(inputs, kept, grad, [true; 2])
    }

    fn backward_for(
        &self,
        [a, weight]: [&[f32]; 2],
        _kept: Kept<'_, ()>,
        grad: &[f32],
        [wants_a, wants_weight]: [bool; 2],
    ) -> [Vec<f32>; 2] {
        [
            if wants_a { self.input_gradient(weight, grad) } else { Vec::new() },
            if wants_weight { self.weight_gradient(a, grad) } else { Vec::new() },
        ]
    }
}

/// A function of input, weight and bias.
impl HostFunction<3> for Linear {
    type Tape = ();

    fn forward(&self, [a, weight, bias]: [&[f32]; 3], _keep: Traces) -> (HostArray, ()) {
        (self.add(bias.repeat(a.len() / self.terms), a, weight), ())
    }

    fn backward(&self, inputs: [&[f32]; 3], kept: Kept<'_, ()>, grad: &[f32]) -> [Vec<f32>; 3] {
        self.backward_for(inputs, kept, grad, [true; 3])
    }

    fn backward_for(
        &self,
        [a, weight, _]: [&[f32]; 3],
        kept: Kept<'_, ()>,
        grad: &[f32],
        [wants_a, wants_weight, wants_bias]: [bool; 3],
    ) -> [Vec<f32>; 3] {
        let wanted = [wants_a, wants_weight];
        let [by_a, by_weight] = HostFunction::<2>::backward_for(self, [a, weight], kept, grad, wanted);
        [by_a, by_weight, if wants_bias { self.bias_gradient(grad) } else { Vec::new() }]
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;
    use crate::nn::tensors::to_vec;

    fn ramp<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
        let count = shape.iter().product::<usize>();
        let values: Vec<f32> = (0..count).map(|i| ((i * 7 + 3) % 11) as f32 * 0.25 - 1.0).collect();
        Tensor::from_data(TensorData::new(values, shape), device).require_grad()
    }

    /// Value and gradients of the sum of squares of a function of three tensors.
    fn measured(function: impl Fn(Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<2>) -> Vec<Vec<f32>> {
        let device = Device::flex().autodiff();
        let (a, w, b) = (ramp([150, 5], &device), ramp([19, 5], &device), ramp([19], &device));
        let value = function(a.clone(), w.clone(), b.clone());
        let grads = (value.clone() * value.clone()).sum().backward();
        let gradient = |found: Option<Tensor<2>>| found.map_or(Vec::new(), to_vec);
        let by_bias = b.grad(&grads).map_or(Vec::new(), to_vec);
        vec![to_vec(value), gradient(a.grad(&grads)), gradient(w.grad(&grads)), by_bias]
    }

    #[test]
    fn values_and_gradients_are_those_of_separate_operations() {
        let pairs = [
            (measured(affine), measured(|a, w, b| a.matmul(w.transpose()) + b.unsqueeze())),
            (measured(|a, w, _| product(a, w)), measured(|a, w, _| a.matmul(w.transpose()))),
        ];
        for (found, expected) in pairs {
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    // Sums of up to 150 terms of the order of 100, rounded in another order.
                    assert!(
                        (found - expected).abs() <= 1e-5 * expected.abs().max(100.0),
                        "{found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let on = |threads: usize| measured(|a, w, b| apply3(Linear::new(&w, threads), a, w, b));
        let alone = on(1);
        assert_eq!(on(2), alone);
        assert_eq!(on(5), alone);
    }

    #[test]
    fn gradients_for_constants_are_not_computed() {
        let linear = Linear { columns: 1, terms: 2, threads: 1 };
        let wanted = [false, true];
        let [by_a, by_weight] = HostFunction::<2>::backward_for(
            &linear,
            [&[3.0, 4.0], &[1.0, 2.0]],
            (&[11.0], &()),
            &[2.0],
            wanted,
        );
        assert_eq!((by_a, by_weight), (vec![], vec![6.0, 8.0]));
    }
}
