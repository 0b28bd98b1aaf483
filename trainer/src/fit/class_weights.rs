//! The weights that a moment of the logits multiplies, some classes at a time.
//!
//! Those of the variances follow from means and variances of the weights number by number. They are computed
//! where they are multiplied, and again for the gradient: a few rows stay in the cache, while all of them
//! would be written to memory and read back.

use std::ops::Range;

use crate::nn::output_factors::VarianceWeight;

/// Classes that are handled together: as many as a product sums before it writes results back, so that their
/// number changes no bit.
pub(super) const CLASSES_PER_TASK: usize = 128;

/// What the matrix [classes, terms] of a moment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// μ.
    Means,
    /// μ².
    Squares,
    /// [μ² + τ, τ].
    SquaresAndVar,
    /// The given one.
    Given,
}

impl From<&VarianceWeight> for Rule {
    fn from(weight: &VarianceWeight) -> Self {
        match weight {
            VarianceWeight::Squares => Rule::Squares,
            VarianceWeight::SquaresAndVar(_) => Rule::SquaresAndVar,
            VarianceWeight::Given(_) => Rule::Given,
        }
    }
}

/// The matrix of a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassWeights<'a> {
    pub(super) rule: Rule,
    pub(super) terms: usize,
    /// μ, [classes, units].
    pub(super) mean: &'a [f32],
    /// τ or the given matrix; not read if neither is needed.
    pub(super) var: &'a [f32],
    pub(super) units: usize,
}

impl<'a> ClassWeights<'a> {
    /// The rows of some classes, written to the buffer unless they are there already.
    pub(super) fn rows<'b>(&self, classes: Range<usize>, buffer: &'b mut Vec<f32>) -> &'b [f32]
    where
        'a: 'b,
    {
        let part = |matrix: &'a [f32], width: usize| &matrix[classes.start * width..classes.end * width];
        match self.rule {
            Rule::Means => part(self.mean, self.units),
            Rule::Given => part(self.var, self.terms),
            Rule::Squares => {
                buffer.clear();
                buffer.extend(part(self.mean, self.units).iter().map(|mean| mean * mean));
                buffer
            }
            Rule::SquaresAndVar => {
                buffer.resize(classes.len() * self.terms, 0.0);
                let sources = rows(part(self.mean, self.units), self.units)
                    .zip(rows(part(self.var, self.units), self.units));
                for (row, (mean, var)) in buffer.chunks_exact_mut(self.terms).zip(sources) {
                    let (sums, copies) = row.split_at_mut(self.units);
                    copies.copy_from_slice(var);
                    for (sum, (mean, var)) in sums.iter_mut().zip(mean.iter().zip(var)) {
                        *sum = mean * mean + var;
                    }
                }
                buffer
            }
        }
    }

    /// Whether gradients for the matrix are those for μ and τ only after [`ClassWeights::pull_back`].
    pub(super) fn is_derived(&self) -> bool {
        matches!(self.rule, Rule::Squares | Rule::SquaresAndVar)
    }

    /// Adds what gradients for the rows from `first` on contribute to those for μ, and writes those for τ.
    pub(super) fn pull_back(&self, first: usize, grad: &[f32], by_mean: &mut [f32], by_var: &mut [f32]) {
        let means = self.mean[first * self.units..].chunks_exact(self.units);
        let rows = grad.chunks_exact(self.terms).zip(by_mean.chunks_exact_mut(self.units)).zip(means);
        for ((grad, by_mean), mean) in rows {
            for (by_mean, (grad, mean)) in by_mean.iter_mut().zip(grad.iter().zip(mean)) {
                *by_mean += 2.0 * (grad * mean);
            }
        }
        if self.rule == Rule::SquaresAndVar {
            for (by_var, grad) in by_var.chunks_exact_mut(self.units).zip(grad.chunks_exact(self.terms)) {
                let (sums, copies) = grad.split_at(self.units);
                for (by_var, (sum, copy)) in by_var.iter_mut().zip(sums.iter().zip(copies)) {
                    *by_var = sum + copy;
                }
            }
        }
    }
}

fn rows(matrix: &[f32], width: usize) -> std::slice::ChunksExact<'_, f32> {
    matrix.chunks_exact(width)
}
