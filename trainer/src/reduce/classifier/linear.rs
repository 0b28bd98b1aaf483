//! Multinomial logistic regression.

use nalgebra::{DMatrix, DVector};
use quaver::classifier::{energy, logit};
use quaver::likelihood::softmax;

use super::Classification;
use super::lbfgs::minimise;
use crate::reduce::embed::Embeddings;

/// An affine map to logits, and the centres of the classes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearClassifier {
    /// Row of weights of each class.
    pub weight: Vec<f32>,
    /// Bias of each class.
    pub bias: Vec<f32>,
    /// Divisor of the logits.
    pub temperature: f64,
    /// Mean embedding of each class.
    pub centres: Vec<f32>,
    /// One over the variance of each component within classes.
    pub precision: Vec<f32>,
}

impl LinearClassifier {
    /// A map with the centres of training embeddings.
    pub(super) fn new(weight: Vec<f32>, bias: Vec<f32>, train: &Embeddings, classes: usize) -> Self {
        let dimensions = train.dimensions;
        let (mut counts, mut centres) = (vec![0usize; classes], vec![0.0f64; classes * dimensions]);
        let points =
            || (0..train.len()).filter_map(|index| Some((train.labels[index]?, train.point(index)[0])));
        for (class, mean) in points() {
            counts[class] += 1;
            let centre = &mut centres[class * dimensions..][..dimensions];
            centre.iter_mut().zip(mean).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        for (class, count) in counts.iter().enumerate() {
            let centre = &mut centres[class * dimensions..][..dimensions];
            centre.iter_mut().for_each(|sum| *sum /= (*count).max(1) as f64);
        }
        let mut within = vec![0.0f64; dimensions];
        for (class, mean) in points() {
            let centre = &centres[class * dimensions..][..dimensions];
            for ((sum, value), centre) in within.iter_mut().zip(mean).zip(centre) {
                *sum += (f64::from(*value) - centre).powi(2);
            }
        }
        let count = counts.iter().sum::<usize>().max(1) as f64;
        // A component that is the same for all members of a class must not decide alone.
        let largest = within.iter().copied().fold(0.0, f64::max) / count;
        let precision =
            |sum: &f64| (1.0 / (sum / count).max(1e-6 * largest).max(f64::from(f32::MIN_POSITIVE))) as f32;
        LinearClassifier {
            weight,
            bias,
            temperature: 1.0,
            centres: centres.iter().map(|value| *value as f32).collect(),
            precision: within.iter().map(|sum| precision(sum).min(f32::MAX)).collect(),
        }
    }

    pub(super) fn classify(&self, [mean, var]: [&[f32]; 2]) -> Classification {
        let dimensions = mean.len();
        let components = || mean.iter().zip(var).map(|(mean, var)| [f64::from(*mean), f64::from(*var)]);
        let of_class = |(weights, bias): (&[f32], &f32)| {
            let weights = weights.iter().map(|weight| f64::from(*weight));
            logit(weights, components(), f64::from(*bias), self.temperature)
        };
        let logits = self.weight.chunks_exact(dimensions).zip(&self.bias).map(of_class);
        let (mut probabilities, vars): (Vec<f64>, Vec<f64>) = logits.map(|[mean, var]| (mean, var)).unzip();
        let energy = energy(&probabilities, &vars);
        softmax(&mut probabilities, &vars);
        let class = (0..probabilities.len()).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        let from = |centre: &[f32]| -> f64 {
            let terms = components().zip(centre).zip(&self.precision);
            terms
                .map(|(([mean, var], centre), precision)| {
                    f64::from(*precision) * ((mean - f64::from(*centre)).powi(2) + var)
                })
                .sum()
        };
        let distance = self.centres.chunks_exact(dimensions).map(from).fold(f64::INFINITY, f64::min);
        Classification { class: class.unwrap_or(0), probabilities, distance, energy }
    }
}

/// Weights [classes, components] and biases that minimise the mean cross entropy of embeddings plus ½ `ridge`
/// Σw² of embeddings scaled to variance 1.
pub(super) fn logistic_regression(train: &Embeddings, classes: usize, ridge: f64) -> (Vec<f32>, Vec<f32>) {
    let labelled: Vec<usize> = (0..train.len()).filter(|index| train.labels[*index].is_some()).collect();
    let (count, dimensions) = (labelled.len(), train.dimensions);
    let (mean, scale) = standardisation(train, &labelled);
    let row = |index: usize, column: usize| match column {
        column if column == dimensions => 1.0,
        column => (f64::from(train.point(labelled[index])[0][column]) - mean[column]) / scale[column],
    };
    let inputs = DMatrix::from_fn(count, dimensions + 1, row);
    let targets = DMatrix::from_fn(count, classes, |index, class| {
        f64::from(u8::from(train.labels[labelled[index]] == Some(class)))
    });
    let objective = |weights: &DVector<f64>| {
        let weights = DMatrix::from_column_slice(dimensions + 1, classes, weights.as_slice());
        let (loss, by_logit) = cross_entropy(&inputs * &weights, &targets);
        let mut penalised = weights;
        penalised.row_mut(dimensions).fill(0.0);
        let gradient = inputs.tr_mul(&by_logit) / count as f64 + &penalised * ridge;
        let value = loss / count as f64 + 0.5 * ridge * penalised.norm_squared();
        (value, DVector::from_column_slice(gradient.as_slice()))
    };
    let found = minimise(DVector::zeros((dimensions + 1) * classes), objective);
    let found = DMatrix::from_column_slice(dimensions + 1, classes, found.as_slice());
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for class in 0..classes {
        let unscaled: Vec<f64> = (0..dimensions).map(|at| found[(at, class)] / scale[at]).collect();
        let shift: f64 = unscaled.iter().zip(&mean).map(|(weight, mean)| weight * mean).sum();
        bias.push((found[(dimensions, class)] - shift) as f32);
        weight.extend(unscaled.iter().map(|value| *value as f32));
    }
    (weight, bias)
}

/// Mean and standard deviation of every component; 1 for one that is constant.
fn standardisation(train: &Embeddings, members: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let count = members.len().max(1) as f64;
    let column = |at: usize| members.iter().map(move |index| f64::from(train.point(*index)[0][at]));
    let mean: Vec<f64> = (0..train.dimensions).map(|at| column(at).sum::<f64>() / count).collect();
    let std_dev =
        |at: usize| (column(at).map(|value| (value - mean[at]).powi(2)).sum::<f64>() / count).sqrt();
    let scale = (0..train.dimensions).map(std_dev).map(|scale| if scale > 1e-12 { scale } else { 1.0 });
    let scale = scale.collect();
    (mean, scale)
}

/// The summed cross entropy of logits, and p − target.
fn cross_entropy(mut logits: DMatrix<f64>, targets: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
    let mut loss = 0.0;
    for (mut row, target) in logits.row_iter_mut().zip(targets.row_iter()) {
        let largest = row.max();
        let total: f64 = row.iter().map(|logit| (logit - largest).exp()).sum();
        let log_total = largest + total.ln();
        for (logit, target) in row.iter_mut().zip(target.iter()) {
            loss -= target * (*logit - log_total);
            *logit = (*logit - log_total).exp() - target;
        }
    }
    (loss, logits)
}
