//! The cross entropy of many classes: output map, softmax, loss and gradient in one node.
//!
//! Logits may have tens of thousands of columns. They are computed for some rows at a time, class by class
//! with the rows side by side, so that weights are read as they are stored and every formula runs on vectors
//! of rows; and they are turned into their own gradient where they are. Without a gradient to record they are
//! not kept at all.

use std::sync::Arc;

use burn::tensor::Tensor;
use quaver::checkpoint::ModelSpec;
use quaver::likelihood::{shrunk_logit, softmax, softmax_gradient};
use quaver::moments::{Dual, Scalar};

use super::class_lanes::{LANES, Lanes};
use super::likelihood::class_nll;
use super::loss::Loss;
use crate::nn::host_node::{HostArray, HostFunction, Kept, apply3};
use crate::nn::net::MomentTensors;
use crate::nn::output_factors::{AffineFactors, OutputFactors, output_factors};
use crate::nn::parallel;
use crate::nn::product::{Packed, Strided, add_product};
use crate::nn::recurrence::Traces;
use crate::nn::tensors::ParameterTensors;
use crate::nn::token_net::NONE;
use crate::nn::vectorised::{self, Kernel, Processor};

/// Classes of a task that computes gradients of weights.
const CLASSES_PER_TASK: usize = 128;

/// −ln p of the class of every row, summed over rows and divided by their number, given the states of the
/// last layer; [`NONE`] for a row that does not count. Nothing if no row counts.
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

/// Derivatives of −Σ_j w_j ln p_j with respect to the moments of a logit with probability `p`: through κm
/// (see [`shrunk_logit`]).
#[inline(always)]
pub(super) fn by_moments(p: f32, mean: f32, var: f32, weight: f32, total_weight: f32) -> [f32; 2] {
    let by_logit = softmax_gradient(p, weight, total_weight);
    let shrunk: Dual = shrunk_logit(Dual::by_mean(mean), Dual::by_var(var));
    [shrunk.by_mean * by_logit, shrunk.by_var * by_logit]
}

/// A function of inputs [rows, terms], weights [classes, terms] and biases of the logits' means, each
/// followed by those of their variances if they have any.
#[derive(Clone, Debug)]
struct ClassLoss {
    targets: Arc<[u32]>,
    classes: usize,
    /// Terms of the means and of the variances.
    terms: [usize; 2],
    share: f32,
    threads: usize,
}

/// Moments of the logits of [`LANES`] rows, [classes, rows] each, to be replaced by the derivatives with
/// respect to them. No variances if there are none.
struct Block<'a> {
    /// The first of the rows.
    first: usize,
    mean: &'a mut [f32],
    var: &'a mut [f32],
    nll: &'a mut f64,
}

impl ClassLoss {
    /// Moments of the logits: 1, or 2 if they have variances.
    fn moments(&self) -> usize {
        if self.terms[1] > 0 { 2 } else { 1 }
    }

    /// Numbers of one moment of a block.
    fn block_len(&self) -> usize {
        self.classes * LANES
    }

    /// The parts of the inputs that belong to means and to variances: rows, weights and biases.
    fn split<'a>(&self, [input, weight, bias]: [&'a [f32]; 3]) -> [[&'a [f32]; 3]; 2] {
        let input = input.split_at(self.targets.len() * self.terms[0]);
        let weight = weight.split_at(self.classes * self.terms[0]);
        let bias = bias.split_at(self.classes);
        [[input.0, weight.0, bias.0], [input.1, weight.1, bias.1]]
    }

    /// The targets of a block; [`NONE`] beyond the last row.
    fn block_targets(&self, first: usize) -> [u32; LANES] {
        std::array::from_fn(|lane| self.targets.get(first + lane).copied().unwrap_or(NONE))
    }

    /// Logits of a block, then the derivatives with respect to them.
    fn run(&self, block: Block<'_>, inputs: [[&[f32]; 3]; 2]) {
        let Block { first, mean, var, nll } = block;
        for (moment, out) in [&mut *mean, &mut *var].into_iter().enumerate().take(self.moments()) {
            let ([input, weight, bias], terms) = (inputs[moment], self.terms[moment]);
            out.chunks_exact_mut(LANES).zip(bias).for_each(|(rows, bias)| rows.fill(*bias));
            let rows = block_rows(input, terms, first);
            let rows = Packed::new(Strided::transposed(&rows, terms), terms, LANES);
            add_product(out, Strided::rows(weight, terms), &rows);
        }
        vectorised::run(Differentiate { targets: self.block_targets(first), mean, var, nll });
    }

    /// Gradients for the inputs [rows, terms], the weights [classes, terms] and the biases of one moment,
    /// times `factor`.
    fn gradients(
        &self,
        moment: usize,
        [input, weight, _]: [&[f32]; 3],
        by_logit: &[f32],
        factor: f32,
    ) -> [Vec<f32>; 3] {
        let terms = self.terms[moment];
        let blocks: Vec<&[f32]> = by_logit.chunks_exact(self.block_len()).collect();
        let scale = |values: &mut [f32]| values.iter_mut().for_each(|value| *value *= factor);
        let mut by_input = vec![0.0; input.len()];
        let packed = Packed::new(Strided::rows(weight, terms), self.classes, terms);
        parallel::for_each(self.threads, by_input.chunks_mut(LANES * terms).zip(&blocks), |(out, block)| {
            add_product(out, Strided::transposed(block, LANES), &packed);
            scale(out);
        });
        let rows: Vec<Packed> = (0..blocks.len())
            .map(|block| {
                Packed::new(Strided::rows(&block_rows(input, terms, block * LANES), terms), LANES, terms)
            })
            .collect();
        let (mut by_weight, mut by_bias) = (vec![0.0; weight.len()], vec![0.0; self.classes]);
        let tasks = by_weight.chunks_mut(CLASSES_PER_TASK * terms).zip(by_bias.chunks_mut(CLASSES_PER_TASK));
        parallel::for_each(self.threads, tasks.enumerate(), |(task, (by_weight, by_bias))| {
            let first = task * CLASSES_PER_TASK * LANES;
            for (block, rows) in blocks.iter().zip(&rows) {
                let own = &block[first..first + by_bias.len() * LANES];
                add_product(by_weight, Strided::rows(own, LANES), rows);
                by_bias
                    .iter_mut()
                    .zip(own.chunks_exact(LANES))
                    .for_each(|(sum, rows)| *sum += rows.iter().sum::<f32>());
            }
            scale(by_weight);
            scale(by_bias);
        });
        [by_input, by_weight, by_bias]
    }
}

/// [`LANES`] rows from `first` on, with zeros beyond the last one.
fn block_rows(input: &[f32], terms: usize, first: usize) -> Vec<f32> {
    let mut rows = vec![0.0; LANES * terms];
    rows.iter_mut().zip(&input[first * terms..]).for_each(|(row, value)| *row = *value);
    rows
}

/// Replaces the moments of the logits of a block by the derivatives of the loss with respect to them, and
/// adds up the loss.
struct Differentiate<'a> {
    targets: [u32; LANES],
    mean: &'a mut [f32],
    var: &'a mut [f32],
    nll: &'a mut f64,
}

impl Kernel for Differentiate<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let Differentiate { targets, mean, var, nll } = self;
        let (mean, var) = (mean.as_chunks_mut::<LANES>().0, var.as_chunks_mut::<LANES>().0);
        let lanes = |rows: &[[f32; LANES]]| -> Vec<Lanes> { rows.iter().map(|row| Lanes(*row)).collect() };
        let mut p = lanes(mean);
        let variances = if var.is_empty() { vec![Lanes::ZERO; mean.len()] } else { lanes(var) };
        softmax(&mut p, &variances);
        let counts = targets.map(|target| if target == NONE { 0.0 } else { 1.0 });
        let counted =
            || (0..LANES).filter(|lane| targets[*lane] != NONE).map(|lane| (lane, targets[lane] as usize));
        counted().for_each(|(lane, class)| *nll += class_nll(p[class].0[lane], 1.0));
        if var.is_empty() {
            // κ = 1. Every class as if it were not the target, then the targets.
            for (mean, p) in mean.iter_mut().zip(&p) {
                *mean = softmax_gradient(*p, Lanes::ZERO, Lanes(counts)).0;
            }
            counted()
                .for_each(|(lane, class)| mean[class][lane] = softmax_gradient(p[class].0[lane], 1.0, 1.0));
            return;
        }
        let mut of_targets = [[0.0; 2]; LANES];
        for (lane, class) in counted() {
            of_targets[lane] = by_moments(p[class].0[lane], mean[class][lane], var[class][lane], 1.0, 1.0);
        }
        for ((mean, var), p) in mean.iter_mut().zip(var.iter_mut()).zip(&p) {
            for lane in 0..LANES {
                let [by_mean, by_var] = by_moments(p.0[lane], mean[lane], var[lane], 0.0, counts[lane]);
                (mean[lane], var[lane]) = (by_mean, by_var);
            }
        }
        counted().for_each(|(lane, class)| [mean[class][lane], var[class][lane]] = of_targets[lane]);
    }
}

/// Derivatives of the summed loss with respect to the moments of the logits, [blocks, classes, rows] each;
/// empty if they are not kept, and those of variances if there are none.
#[derive(Debug, Default)]
struct LogitGradients([Vec<f32>; 2]);

impl HostFunction<3> for ClassLoss {
    type Tape = LogitGradients;

    fn forward(&self, inputs: [&[f32]; 3], keep: Traces) -> (HostArray, LogitGradients) {
        let parts = self.split(inputs);
        let (blocks, length) = (self.targets.len().div_ceil(LANES), self.block_len());
        let var_length = if self.moments() == 2 { length } else { 0 };
        let kept = if keep == Traces::Keep { blocks } else { 0 };
        let mut gradients = LogitGradients([vec![0.0; kept * length], vec![0.0; kept * var_length]]);
        let mut sums = vec![0.0; blocks];
        let [mean, var] = &mut gradients.0;
        let places = mean.chunks_exact_mut(length).zip(var_places(var, var_length)).map(Some);
        let places = places.chain(std::iter::repeat_with(|| None));
        let tasks =
            sums.iter_mut().zip(places).enumerate().map(|(index, (nll, place))| (index * LANES, nll, place));
        parallel::for_each(self.threads, tasks, |(first, nll, place)| match place {
            Some((mean, var)) => self.run(Block { first, mean, var, nll }, parts),
            None => {
                let (mut mean, mut var) = (vec![0.0; length], vec![0.0; var_length]);
                self.run(Block { first, mean: &mut mean, var: &mut var, nll }, parts);
            }
        });
        let value = (sums.iter().sum::<f64>() * f64::from(self.share)) as f32;
        (HostArray { values: vec![value], shape: vec![1] }, gradients)
    }

    fn backward(
        &self,
        inputs: [&[f32]; 3],
        (_, kept): Kept<'_, LogitGradients>,
        grad: &[f32],
    ) -> [Vec<f32>; 3] {
        let (parts, factor) = (self.split(inputs), grad[0] * self.share);
        let [mut all, var] = [0, 1].map(|moment| match moment < self.moments() {
            true => self.gradients(moment, parts[moment], &kept.0[moment], factor),
            false => Default::default(),
        });
        all.iter_mut().zip(var).for_each(|(all, mut var)| all.append(&mut var));
        all
    }
}

/// Places of `length` numbers; any number of empty ones if the length is zero.
fn var_places(var: &mut [f32], length: usize) -> impl Iterator<Item = &mut [f32]> {
    let empty = if length == 0 { usize::MAX } else { 0 };
    var.chunks_exact_mut(length.max(1)).chain(std::iter::repeat_with(|| &mut [][..]).take(empty))
}

#[cfg(test)]
mod tests;
