//! The cross entropy of many classes: output map, softmax, loss and gradient in one node.
//!
//! Rows of logits, which may have tens of thousands of columns, are turned into their own gradient where they are
//! computed, a block of rows per task. Without a gradient to record they are not kept at all.

use std::sync::Arc;

use burn::tensor::Tensor;
use quaver::checkpoint::ModelSpec;
use quaver::likelihood::{shrunk_logit, softmax, softmax_gradient};
use quaver::moments::Dual;

use super::likelihood::class_nll;
use super::loss::Loss;
use crate::nn::host_node::{HostArray, HostFunction, Kept, apply3};
use crate::nn::linear::Linear;
use crate::nn::net::MomentTensors;
use crate::nn::output_factors::{AffineFactors, OutputFactors, output_factors};
use crate::nn::parallel;
use crate::nn::product::{Packed, Strided, add_product};
use crate::nn::recurrence::Traces;
use crate::nn::tensors::ParameterTensors;
use crate::nn::token_net::NONE;

/// Rows of logits per task: enough to use each weight that is read several times, few enough that both moments of
/// thousands of classes stay in the second-level cache.
const ROWS_PER_TASK: usize = 16;

/// −ln p of the class of every row, summed over rows and divided by their number, given the states of the last
/// layer; [`NONE`] for a row that does not count. Nothing if no row counts.
pub(crate) fn class_loss(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    hidden: MomentTensors,
    classes: &Arc<[u32]>,
) -> Option<Loss> {
    let steps = classes.iter().filter(|class| **class != NONE).count();
    if steps == 0 {
        return None;
    }
    let OutputFactors { mean, var } = output_factors(spec, parameters, hidden);
    let terms = |factors: &AffineFactors| factors.weight.dims()[1];
    let loss = ClassLoss {
        targets: Arc::clone(classes),
        classes: spec.outputs.into(),
        terms: [terms(&mean), var.as_ref().map_or(0, terms)],
        share: 1.0 / steps as f32,
        threads: parallel::default_threads(),
    };
    let value = match var {
        None => apply3(loss, mean.input, mean.weight, mean.bias),
        Some(var) => apply3(
            loss,
            joined([mean.input, var.input]),
            joined([mean.weight, var.weight]),
            Tensor::cat(vec![mean.bias, var.bias], 0),
        ),
    };
    Some(Loss { value, steps })
}

/// The numbers of two matrices, one after the other.
fn joined(matrices: [Tensor<2>; 2]) -> Tensor<1> {
    Tensor::cat(matrices.into_iter().map(|matrix| matrix.flatten(0, 1)).collect(), 0)
}

/// Derivatives of −Σ_j w_j ln p_j with respect to the moments of a logit with probability `p`: through κm (see
/// [`shrunk_logit`]).
pub(super) fn by_moments(p: f32, mean: f32, var: f32, weight: f32, total_weight: f32) -> [f32; 2] {
    let by_logit = softmax_gradient(p, weight, total_weight);
    let shrunk: Dual = shrunk_logit(Dual::by_mean(mean), Dual::by_var(var));
    [shrunk.by_mean * by_logit, shrunk.by_var * by_logit]
}

/// A function of inputs [rows, terms], weights [classes, terms] and biases of the logits' means, each followed by
/// those of their variances if they have any.
#[derive(Clone, Debug)]
struct ClassLoss {
    targets: Arc<[u32]>,
    classes: usize,
    /// Terms of the means and of the variances.
    terms: [usize; 2],
    share: f32,
    threads: usize,
}

/// Means and variances of the logits of some rows, to be replaced by the derivatives with respect to them.
struct Block<'a> {
    first: usize,
    mean: &'a mut [f32],
    var: &'a mut [f32],
    nll: &'a mut f64,
}

impl ClassLoss {
    fn linear(&self, moment: usize) -> Linear {
        Linear { columns: self.classes, terms: self.terms[moment], threads: self.threads }
    }

    fn has_variance(&self) -> bool {
        self.terms[1] > 0
    }

    /// The parts of an input that belong to means and to variances.
    fn split<'a>(&self, [input, weight, bias]: [&'a [f32]; 3]) -> [[&'a [f32]; 3]; 2] {
        let (input, weight) = (
            input.split_at(self.targets.len() * self.terms[0]),
            weight.split_at(self.classes * self.terms[0]),
        );
        let bias = bias.split_at(self.classes);
        [[input.0, weight.0, bias.0], [input.1, weight.1, bias.1]]
    }

    fn pack(&self, weight: &[f32], moment: usize) -> Packed {
        let terms = self.terms[moment];
        Packed::new(Strided::transposed(weight, terms), terms, self.classes)
    }

    /// Replaces logits by derivatives, row by row, and sums up the loss.
    fn differentiate(&self, block: Block<'_>) {
        let Block { first, mean, var, nll } = block;
        let none = vec![0.0; if self.has_variance() { 0 } else { self.classes }];
        let mut logits = vec![0.0; if self.has_variance() { self.classes } else { 0 }];
        for (row, mean) in mean.chunks_exact_mut(self.classes).enumerate() {
            let target = self.targets[first + row];
            let weight = |class: usize| if class == target as usize { 1.0 } else { 0.0 };
            let range = row * self.classes..(row + 1) * self.classes;
            if target == NONE {
                mean.fill(0.0);
                if self.has_variance() {
                    var[range].fill(0.0);
                }
                continue;
            }
            if !self.has_variance() {
                softmax(mean, &none);
                *nll += class_nll(mean[target as usize], 1.0);
                // κ = 1.
                mean.iter_mut().enumerate().for_each(|(class, p)| *p = softmax_gradient(*p, weight(class), 1.0));
                continue;
            }
            let var = &mut var[range];
            logits.copy_from_slice(mean);
            softmax(mean, var);
            *nll += class_nll(mean[target as usize], 1.0);
            for (class, ((p, var), logit)) in mean.iter_mut().zip(var).zip(&logits).enumerate() {
                [*p, *var] = by_moments(*p, *logit, *var, weight(class), 1.0);
            }
        }
    }

    /// Logits of a block, then the derivatives with respect to them.
    fn run(&self, block: Block<'_>, inputs: [[&[f32]; 3]; 2], packed: &[Option<Packed>; 2]) {
        let Block { first, mean, var, nll } = block;
        for (moment, out) in [&mut *mean, &mut *var].into_iter().enumerate() {
            let [input, _, bias] = inputs[moment];
            if let Some(weight) = &packed[moment] {
                out.chunks_exact_mut(self.classes).for_each(|row| row.copy_from_slice(bias));
                add_product(out, Strided::rows(input, self.terms[moment]).skip_rows(first), weight);
            }
        }
        self.differentiate(Block { first, mean, var, nll });
    }
}

/// Derivatives of the summed loss with respect to the moments of every logit; empty if they are not kept, and those
/// of variances if there are none.
#[derive(Debug, Default)]
struct LogitGradients([Vec<f32>; 2]);

impl HostFunction<3> for ClassLoss {
    type Tape = LogitGradients;

    fn forward(&self, inputs: [&[f32]; 3], keep: Traces) -> (HostArray, LogitGradients) {
        let parts = self.split(inputs);
        let packed = [0, 1].map(|moment| (self.terms[moment] > 0).then(|| self.pack(parts[moment][1], moment)));
        let rows = self.targets.len();
        let mut sums = vec![0.0; rows.div_ceil(ROWS_PER_TASK)];
        let size = ROWS_PER_TASK * self.classes;
        let (kept, width) = (keep == Traces::Keep, usize::from(self.has_variance()));
        let count = if kept { rows * self.classes } else { 0 };
        let mut gradients = LogitGradients([vec![0.0; count], vec![0.0; width * count]]);
        let [mean, var] = &mut gradients.0;
        let mut blocks = mean.chunks_mut(size).map(Some).chain(std::iter::repeat_with(|| None));
        let mut var_blocks = var.chunks_mut(size).map(Some).chain(std::iter::repeat_with(|| None));
        let tasks = sums.iter_mut().enumerate().map(|(index, nll)| (index * ROWS_PER_TASK, nll, blocks.next().flatten(), var_blocks.next().flatten()));
        parallel::for_each(self.threads, tasks.collect::<Vec<_>>(), |(first, nll, mean, var)| {
            let length = ROWS_PER_TASK.min(rows - first) * self.classes;
            let (mut own_mean, mut own_var) = (Vec::new(), Vec::new());
            let mean = mean.unwrap_or_else(|| {
                own_mean.resize(length, 0.0);
                &mut own_mean
            });
            let var = var.unwrap_or_else(|| {
                own_var.resize(width * length, 0.0);
                &mut own_var
            });
            self.run(Block { first, mean, var, nll }, parts, &packed);
        });
        let value = (sums.iter().sum::<f64>() * f64::from(self.share)) as f32;
        (HostArray { values: vec![value], shape: vec![1] }, gradients)
    }

    fn backward(&self, inputs: [&[f32]; 3], (_, kept): Kept<'_, LogitGradients>, grad: &[f32]) -> [Vec<f32>; 3] {
        let parts = self.split(inputs);
        let factor = grad[0] * self.share;
        let mut gradients = [Vec::new(), Vec::new(), Vec::new()];
        for moment in 0..1 + usize::from(self.has_variance()) {
            let ([input, weight, _], by_logit, linear) = (parts[moment], &kept.0[moment], self.linear(moment));
            let own = [
                linear.input_gradient(weight, by_logit),
                linear.weight_gradient(input, by_logit),
                linear.bias_gradient(by_logit),
            ];
            for (all, mut own) in gradients.iter_mut().zip(own) {
                own.iter_mut().for_each(|value| *value *= factor);
                if all.is_empty() { *all = own } else { all.append(&mut own) }
            }
        }
        gradients
    }
}

#[cfg(test)]
mod tests;
