//! Linear discriminant analysis: normal classes with one covariance.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::Classification;
use crate::data::Rows;
use crate::evaluate::classification::most_probable;

/// Weight of the identity in the covariance of standardised features, (1 − γ) Σ + γ I: only as much as makes
/// it invertible where features depend on each other.
const SHRINKAGE: f64 = 1e-6;

/// Normal classes with means of their own and a pooled covariance (Fisher 1936; Hastie et al. 2009, eq.
/// 4.10), with prior probabilities as frequent as the classes are in the training data.
pub(super) struct Lda {
    centre: DVector<f64>,
    scale: DVector<f64>,
    /// One column per class, in standardised units.
    means: DMatrix<f64>,
    log_priors: Vec<f64>,
    covariance: Cholesky<f64, Dyn>,
}

impl Lda {
    /// `None` if there are no features, or not more samples than classes.
    pub(super) fn fit(classes: usize, features: &[Vec<f64>], labels: &[usize]) -> Option<Self> {
        let width = features.first().map_or(0, Vec::len);
        if width == 0 || features.len() <= classes {
            return None;
        }
        let n = features.len() as f64;
        let centre = sum(width, features.iter()) / n;
        let squares = features.iter().map(|row| (row_vector(row) - &centre).map(|x| x * x));
        let scale = (squares.fold(DVector::zeros(width), |sum, row| sum + row) / n)
            .map(|variance| if variance > 0.0 { variance.sqrt() } else { 1.0 });
        let standardised: Vec<DVector<f64>> =
            features.iter().map(|row| (row_vector(row) - &centre).component_div(&scale)).collect();
        let (means, counts) = class_means(classes, width, &standardised, labels);
        let mut scatter = DMatrix::zeros(width, width);
        for (row, &label) in standardised.iter().zip(labels) {
            let residual = row - means.column(label);
            scatter.ger(1.0 / n, &residual, &residual, 1.0);
        }
        let covariance = scatter * (1.0 - SHRINKAGE) + DMatrix::identity(width, width) * SHRINKAGE;
        let log_priors = counts.iter().map(|&count| (count / n).ln()).collect();
        Some(Self { centre, scale, means, log_priors, covariance: Cholesky::new(covariance)? })
    }

    pub(super) fn classify(&self, features: &[Vec<f64>]) -> Classification {
        let classes = self.log_priors.len();
        let (mut probabilities, mut distances) = (Rows::new(classes), Vec::new());
        for row in features {
            let x = (row_vector(row) - &self.centre).component_div(&self.scale);
            let squared: Vec<f64> = (0..classes).map(|class| self.mahalanobis(&x, class)).collect();
            let logits: Vec<f64> =
                squared.iter().zip(&self.log_priors).map(|(squared, prior)| prior - 0.5 * squared).collect();
            let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
            probabilities.values.extend(logits.iter().map(|logit| ((logit - largest).exp() / total) as f32));
            let known = squared.iter().zip(&self.log_priors).filter(|(_, prior)| prior.is_finite());
            distances.push(known.map(|(squared, _)| squared.sqrt() as f32).fold(f32::INFINITY, f32::min));
        }
        let classes = most_probable(&probabilities);
        Classification { classes, probabilities: Some(probabilities), distances }
    }

    /// The squared Mahalanobis distance from a class.
    fn mahalanobis(&self, x: &DVector<f64>, class: usize) -> f64 {
        let mut residual = x - self.means.column(class);
        self.covariance.l_dirty().solve_lower_triangular_mut(&mut residual);
        residual.norm_squared()
    }
}

fn row_vector(row: &[f64]) -> DVector<f64> {
    DVector::from_column_slice(row)
}

fn sum<'r>(width: usize, rows: impl Iterator<Item = &'r Vec<f64>>) -> DVector<f64> {
    rows.fold(DVector::zeros(width), |sum, row| sum + row_vector(row))
}

/// One column per class, and the numbers of samples; the mean of a class without samples is 0.
fn class_means(
    classes: usize,
    width: usize,
    rows: &[DVector<f64>],
    labels: &[usize],
) -> (DMatrix<f64>, Vec<f64>) {
    let (mut means, mut counts) = (DMatrix::zeros(width, classes), vec![0.0; classes]);
    for (row, &label) in rows.iter().zip(labels) {
        let mut mean = means.column_mut(label);
        mean += row;
        counts[label] += 1.0;
    }
    for (class, count) in counts.iter().enumerate() {
        means.column_mut(class).scale_mut(1.0 / f64::max(*count, 1.0));
    }
    (means, counts)
}
