//! Nearest prototypes.

use quaver::classifier::{KernelSums, Votes, kernel_log_scale, kernel_precision};

use super::Classification;
use super::thinning::thinned;
use crate::config::ReduceConfig;
use crate::reduce::embed::Embeddings;

/// Prototypes with their classes, and the kernel around them.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestClassifier {
    /// Prototype after prototype.
    pub prototypes: Vec<f32>,
    /// Class of each prototype.
    pub labels: Vec<usize>,
    /// Inverse temperature β of the kernel exp(−β‖e − p‖²).
    pub beta: f64,
    /// Nearest prototypes that vote; 0 for the most probable class.
    pub neighbours: u16,
    classes: usize,
    dimensions: usize,
}

impl NearestClassifier {
    /// Prototypes for training embeddings, as many as the config allows. β is 1 over the mean squared
    /// distance of a training embedding from its nearest prototype, before it is calibrated.
    pub(super) fn fit(train: &Embeddings, classes: usize, reduce: &ReduceConfig) -> Self {
        let dimensions = train.dimensions;
        let (prototypes, labels) = thinned(train, classes, reduce.prototypes.into(), reduce.thinning);
        let neighbours = reduce.neighbours;
        let mut fitted = NearestClassifier { prototypes, labels, beta: 1.0, neighbours, classes, dimensions };
        let scale = fitted.mean_distance(train);
        fitted.beta = if scale > 0.0 { 1.0 / scale } else { 1.0 };
        fitted
    }

    fn prototype(&self, index: usize) -> &[f32] {
        &self.prototypes[index * self.dimensions..][..self.dimensions]
    }

    /// Mean squared distance of embeddings from the nearest prototype that is not in the same place.
    fn mean_distance(&self, embeddings: &Embeddings) -> f64 {
        let nearest = |index: usize| {
            let [mean, _] = embeddings.point(index);
            let distances = (0..self.labels.len()).map(|other| distance(mean, self.prototype(other)));
            distances.filter(|distance| *distance > 0.0).fold(f64::INFINITY, f64::min)
        };
        let found: Vec<f64> =
            (0..embeddings.len()).map(nearest).filter(|distance| distance.is_finite()).collect();
        found.iter().sum::<f64>() / found.len().max(1) as f64
    }

    pub(super) fn classify(&self, [mean, var]: [&[f32]; 2], apart: bool) -> Classification {
        let precision: Vec<f64> =
            var.iter().map(|var| kernel_precision(self.beta, f64::from(*var))).collect();
        let log_scale: f64 = var.iter().map(|var| kernel_log_scale(self.beta, f64::from(*var))).sum();
        let spread: f64 = var.iter().map(|var| f64::from(*var)).sum();
        let mut probabilities = vec![0.0; self.classes];
        let mut sums = KernelSums::new(&mut probabilities);
        let mut votes = Votes::new(self.neighbours);
        for (index, class) in self.labels.iter().enumerate() {
            let (mut plain, mut weighted) = (0.0, 0.0);
            for ((m, p), precision) in mean.iter().zip(self.prototype(index)).zip(&precision) {
                let square = f64::from(m - p).powi(2);
                plain += square;
                weighted += precision * square;
            }
            if apart && plain == 0.0 {
                continue;
            }
            sums.add(*class, log_scale - weighted);
            votes.add((plain + spread) as f32, *class as u16);
        }
        let energy = sums.finish().unwrap_or(f64::INFINITY);
        let distance = votes.nearest().map_or(f64::INFINITY, |(distance, _)| distance.into());
        let probable = (0..self.classes).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        let voted = votes.majority().filter(|_| self.neighbours > 0).map(usize::from);
        let class = voted.or(probable).unwrap_or(0);
        Classification { class, probabilities, distance, energy }
    }
}

/// ‖a − b‖².
pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}
