//! The cross entropy of many classes: output map, softmax, loss and gradient in one node.
//!
//! Logits may have tens of thousands of columns. They are computed for some rows at a time, class by class
//! with the rows side by side, so that weights are read as they are stored and every formula runs on vectors
//! of rows; and they are turned into their own gradient where they are. Without a gradient to record they are
//! not kept at all.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use quaver::checkpoint::ModelSpec;
use quaver::likelihood::{shrunk_logit, softmax, softmax_gradient};
use quaver::moments::{Dual, Scalar};

use super::class_lanes::{LANES, Lanes};
use super::class_weights::{CLASSES_PER_TASK, ClassWeights, Rule};
use super::likelihood::class_nll;
use super::loss::Loss;
use crate::nn::host_node::{HostArray, HostFunction, Kept, apply6};
use crate::nn::net::MomentTensors;
use crate::nn::output_factors::{OutputFactors, VarianceFactors, VarianceWeight, output_factors};
use crate::nn::parallel;
use crate::nn::product::{Packed, Strided, add_product};
use crate::nn::recurrence::Traces;
use crate::nn::tensors::ParameterTensors;
use crate::nn::token_net::NONE;
use crate::nn::vectorised::{self, Kernel, Processor};

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
    let OutputFactors { input, weight, bias, var } = output_factors(spec, parameters, hidden);
    let units = weight.dims()[1];
    let loss = ClassLoss {
        targets: Arc::clone(classes),
        classes: spec.outputs.into(),
        units,
        terms: [units, var.as_ref().map_or(0, |var| var.input.dims()[1])],
        rules: [Rule::Means, var.as_ref().map_or(Rule::Given, |var| Rule::from(&var.weight))],
        share: 1.0 / steps as f32,
        threads: parallel::default_threads(),
    };
    let (device, flat) = (bias.device(), |matrix: Tensor<2>| -> Tensor<1> { matrix.flatten(0, 1) });
    // In place of what there is not: tensors have no empty dimension.
    let none = || Tensor::zeros([1], &device);
    let [var_input, var_weight, var_bias] = match var {
        None => [none(), none(), none()],
        Some(VarianceFactors { input, weight, bias }) => {
            let weight = match weight {
                VarianceWeight::Squares => none(),
                VarianceWeight::SquaresAndVar(weight) | VarianceWeight::Given(weight) => flat(weight),
            };
            [flat(input), weight, bias]
        }
    };
    let value = apply6(loss, [flat(input), flat(weight), bias, var_input, var_weight, var_bias]);
    Some(Loss { value, steps })
}

/// Derivatives of −Σ_j w_j ln p_j with respect to the moments of a logit with probability `p`: through κm
/// (see [`shrunk_logit`]).
#[inline(always)]
pub(super) fn by_moments(p: f32, mean: f32, var: f32, weight: f32, total_weight: f32) -> [f32; 2] {
    let by_logit = softmax_gradient(p, weight, total_weight);
    let shrunk: Dual = shrunk_logit(Dual::by_mean(mean), Dual::by_var(var));
    [shrunk.by_mean * by_logit, shrunk.by_var * by_logit]
}

/// A function of inputs [rows, terms], weights [classes, units] and biases of the logits' means, then of the
/// same of their variances, which are not read if they have none.
#[derive(Clone, Debug)]
struct ClassLoss {
    targets: Arc<[u32]>,
    classes: usize,
    units: usize,
    /// Terms of the means and of the variances; none if there are no variances.
    terms: [usize; 2],
    /// What their weights are.
    rules: [Rule; 2],
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

    /// What enters each moment.
    fn split<'a>(&self, inputs: [&'a [f32]; 6]) -> [Factors<'a>; 2] {
        let [input, mean, bias, var_input, var, var_bias] = inputs;
        let weights = |moment: usize| ClassWeights {
            rule: self.rules[moment],
            terms: self.terms[moment],
            mean,
            var,
            units: self.units,
        };
        [
            Factors { input, weights: weights(0), bias },
            Factors { input: var_input, weights: weights(1), bias: var_bias },
        ]
    }

    /// Ranges of classes that are handled together.
    fn class_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let classes = self.classes;
        (0..classes).step_by(CLASSES_PER_TASK).map(move |first| first..classes.min(first + CLASSES_PER_TASK))
    }

    /// The targets of a block; [`NONE`] beyond the last row.
    fn block_targets(&self, first: usize) -> [u32; LANES] {
        std::array::from_fn(|lane| self.targets.get(first + lane).copied().unwrap_or(NONE))
    }

    /// Logits of a block, then the derivatives with respect to them.
    fn run(&self, block: Block<'_>, moments: [Factors<'_>; 2]) {
        let Block { first, mean, var, nll } = block;
        let mut buffer = Vec::new();
        let outs = [&mut *mean, &mut *var].into_iter().zip(moments).take(self.moments());
        for (out, Factors { input, weights, bias }) in outs {
            out.chunks_exact_mut(LANES).zip(bias).for_each(|(rows, bias)| rows.fill(*bias));
            let rows = block_rows(input, weights.terms, first);
            let rows = Packed::new(Strided::transposed(&rows, weights.terms), weights.terms, LANES);
            for (out, classes) in out.chunks_mut(CLASSES_PER_TASK * LANES).zip(self.class_ranges()) {
                let weight = weights.rows(classes, &mut buffer);
                add_product(out, Strided::rows(weight, weights.terms), &rows);
            }
        }
        vectorised::run(Differentiate { targets: self.block_targets(first), mean, var, nll });
    }

    /// The gradient for the inputs [rows, terms] of a moment, times `factor`.
    fn input_gradient(&self, moment: Factors<'_>, by_logit: &[f32], factor: f32) -> Vec<f32> {
        let ClassWeights { terms, .. } = moment.weights;
        let blocks: Vec<&[f32]> = by_logit.chunks_exact(self.block_len()).collect();
        // As few tasks as there are threads: each packs all weights.
        let per_task = blocks.len().div_ceil(self.threads.max(1)).max(1);
        let mut by_input = vec![0.0; self.targets.len() * terms];
        let tasks = by_input.chunks_mut(per_task * LANES * terms).zip(blocks.chunks(per_task));
        parallel::for_each(self.threads, tasks, |(by_input, blocks)| {
            let mut buffer = Vec::new();
            for classes in self.class_ranges() {
                let weight = moment.weights.rows(classes.clone(), &mut buffer);
                let packed = Packed::new(Strided::rows(weight, terms), classes.len(), terms);
                for (out, block) in by_input.chunks_mut(LANES * terms).zip(blocks) {
                    let block = &block[classes.start * LANES..classes.end * LANES];
                    add_product(out, Strided::transposed(block, LANES), &packed);
                }
            }
            scale(by_input, factor);
        });
        by_input
    }

    /// Gradients for weights and biases of the means, then of the variances, times `factor`.
    fn weight_gradients(
        &self,
        moments: [Factors<'_>; 2],
        by_logit: &LogitGradients,
        factor: f32,
    ) -> [[Vec<f32>; 2]; 2] {
        let LogitGradients([by_mean, by_var]) = by_logit;
        let mean = LogitBlocks::new(self, moments[0], by_mean);
        let var = (self.moments() == 2).then(|| LogitBlocks::new(self, moments[1], by_var));
        let weights = moments[1].weights;
        // As many as the given matrix has, or τ.
        let width = match weights.rule {
            Rule::Given => self.terms[1],
            Rule::SquaresAndVar => self.units,
            Rule::Means | Rule::Squares => 0,
        };
        let var_classes = if var.is_some() { self.classes } else { 0 };
        let zeros = |columns: usize, rows: usize| vec![0.0; rows * columns];
        let mut by_mean = [zeros(self.units, self.classes), zeros(1, self.classes)];
        let mut by_var = [zeros(width, var_classes), zeros(1, var_classes)];
        let parts = chunks(&mut by_mean, self.units).zip(chunks(&mut by_var, width));
        let tasks = self.class_ranges().zip(parts);
        parallel::for_each(self.threads, tasks, |(classes, ([by_mean, by_bias], [by_var, by_var_bias]))| {
            let first = classes.start;
            mean.add(first, by_mean, by_bias, factor);
            match &var {
                Some(var) if weights.is_derived() => {
                    let mut by_rows = vec![0.0; by_bias.len() * weights.terms];
                    var.add(first, &mut by_rows, by_var_bias, factor);
                    weights.pull_back(first, &by_rows, by_mean, by_var);
                }
                Some(var) => var.add(first, by_var, by_var_bias, factor),
                None => {}
            }
        });
        [by_mean, by_var]
    }
}

/// What enters a moment: inputs [rows, terms], weights and biases.
#[derive(Clone, Copy)]
struct Factors<'a> {
    input: &'a [f32],
    weights: ClassWeights<'a>,
    bias: &'a [f32],
}

/// Derivatives with respect to a moment of the logits and the inputs of its product, block by block.
struct LogitBlocks<'a> {
    blocks: Vec<(&'a [f32], Packed)>,
}

impl<'a> LogitBlocks<'a> {
    fn new(loss: &ClassLoss, moment: Factors<'_>, by_logit: &'a [f32]) -> Self {
        let terms = moment.weights.terms;
        let rows = |block: usize| {
            Packed::new(Strided::rows(&block_rows(moment.input, terms, block * LANES), terms), LANES, terms)
        };
        let blocks = by_logit.chunks_exact(loss.block_len()).enumerate();
        LogitBlocks { blocks: blocks.map(|(index, block)| (block, rows(index))).collect() }
    }

    /// Adds the gradients for weights and biases of classes from `first` on, times `factor`.
    fn add(&self, first: usize, by_weight: &mut [f32], by_bias: &mut [f32], factor: f32) {
        for (block, rows) in &self.blocks {
            let own = &block[first * LANES..][..by_bias.len() * LANES];
            add_product(by_weight, Strided::rows(own, LANES), rows);
            by_bias
                .iter_mut()
                .zip(own.chunks_exact(LANES))
                .for_each(|(sum, rows)| *sum += rows.iter().sum::<f32>());
        }
        scale(by_weight, factor);
        scale(by_bias, factor);
    }
}

/// Gradients for weights with this many columns, and for biases, some classes at a time; then empty ones
/// without end.
fn chunks([weights, biases]: &mut [Vec<f32>; 2], columns: usize) -> impl Iterator<Item = [&mut [f32]; 2]> {
    let mut weights = weights.chunks_mut(CLASSES_PER_TASK * columns.max(1));
    let mut biases = biases.chunks_mut(CLASSES_PER_TASK);
    std::iter::repeat_with(move || [weights.next(), biases.next()].map(Option::unwrap_or_default))
}

fn scale(values: &mut [f32], factor: f32) {
    values.iter_mut().for_each(|value| *value *= factor);
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

impl HostFunction<6> for ClassLoss {
    type Tape = LogitGradients;

    fn forward(&self, inputs: [&[f32]; 6], keep: Traces) -> (HostArray, LogitGradients) {
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
        inputs: [&[f32]; 6],
        (_, kept): Kept<'_, LogitGradients>,
        grad: &[f32],
    ) -> [Vec<f32>; 6] {
        let (moments, factor) = (self.split(inputs), grad[0] * self.share);
        let by_input = self.input_gradient(moments[0], &kept.0[0], factor);
        let by_var_input = match self.moments() {
            2 => self.input_gradient(moments[1], &kept.0[1], factor),
            _ => Vec::new(),
        };
        let [[by_weight, by_bias], [by_var_weight, by_var_bias]] =
            self.weight_gradients(moments, kept, factor);
        [by_input, by_weight, by_bias, by_var_input, by_var_weight, by_var_bias]
    }
}

/// Places of `length` numbers; any number of empty ones if the length is zero.
fn var_places(var: &mut [f32], length: usize) -> impl Iterator<Item = &mut [f32]> {
    let empty = if length == 0 { usize::MAX } else { 0 };
    var.chunks_exact_mut(length.max(1)).chain(std::iter::repeat_with(|| &mut [][..]).take(empty))
}

#[cfg(test)]
mod tests;
