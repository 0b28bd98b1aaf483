//! The sums of linear regression, gathered once for every number of lags and every penalty.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::rows::Sequence;
use super::scaler::Scaling;

/// Steps multiplied at a time: enough for wide products, few enough for memory.
const BLOCK: usize = 1024;

/// The features of a linear prediction in standardised units: a one, then the last `lags` input rows, the
/// newest first. Before the start, the oldest row is repeated. A missing value is 0, the training mean, or
/// its conditional mean given the values of its row if the scaling has a density.
#[derive(Clone, Debug)]
pub(crate) struct Features<'a> {
    pub(crate) scaling: &'a Scaling,
    pub(crate) lags: usize,
}

impl Features<'_> {
    /// Number of features for the last `lags` rows.
    pub(crate) fn width(&self, lags: usize) -> usize {
        1 + lags * self.scaling.inputs.channels()
    }

    pub(crate) fn at(&self, sequence: &Sequence, step: usize) -> Vec<f64> {
        let channels = self.scaling.inputs.channels();
        let mut features = vec![0.0; self.width(self.lags)];
        features[0] = 1.0;
        let (mut means, mut vars) = (vec![0.0; channels], vec![0.0; channels]);
        for (lag, place) in features[1..].chunks_mut(channels).enumerate() {
            let mut back_to_the_oldest =
                (0..=lag).rev().filter_map(|lag| sequence.input(step.checked_sub(lag)?));
            if let Some(row) = back_to_the_oldest.next() {
                self.scaling.row_moments(row, &mut means, &mut vars);
                place.iter_mut().zip(&means).for_each(|(feature, mean)| *feature = f64::from(*mean));
            }
        }
        features
    }
}

/// Sums over the steps at which all of some outputs were observed.
#[derive(Clone, Debug)]
pub(crate) struct NormalEquations {
    /// Σ x xᵀ.
    pub(crate) gram: DMatrix<f64>,
    /// Σ x yᵀ.
    pub(crate) cross: DMatrix<f64>,
    /// Σ y², per output.
    squares: Vec<f64>,
    /// Number of steps.
    pub(crate) n: usize,
}

impl NormalEquations {
    /// Gathers the sums for these outputs, in standardised units.
    pub(crate) fn gather(sequences: &[Sequence], features: &Features<'_>, outputs: &[usize]) -> Self {
        let width = features.width(features.lags);
        let mut moments = NormalEquations {
            gram: DMatrix::zeros(width, width),
            cross: DMatrix::zeros(width, outputs.len()),
            squares: vec![0.0; outputs.len()],
            n: 0,
        };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for sequence in sequences {
            for (step, row) in sequence.targets.iter().enumerate() {
                let targets =
                    outputs.iter().map(|&o| f64::from(features.scaling.targets.standardise(o, row[o])));
                if outputs.iter().all(|&output| !row[output].is_nan()) {
                    x.extend(features.at(sequence, step));
                    y.extend(targets);
                }
                if y.len() >= BLOCK * outputs.len() {
                    moments.add(&mut x, &mut y);
                }
            }
        }
        moments.add(&mut x, &mut y);
        moments
    }

    /// Adds a block of steps and empties the buffers.
    fn add(&mut self, x: &mut Vec<f64>, y: &mut Vec<f64>) {
        let steps = x.len() / self.gram.nrows();
        let x = DMatrix::from_vec(self.gram.nrows(), steps, std::mem::take(x));
        let y = DMatrix::from_vec(self.squares.len(), steps, std::mem::take(y));
        self.gram.gemm(1.0, &x, &x.transpose(), 1.0);
        self.cross.gemm(1.0, &x, &y.transpose(), 1.0);
        for (sum, output) in self.squares.iter_mut().zip(y.row_iter()) {
            *sum += output.norm_squared();
        }
        self.n += steps;
    }

    /// Weights that minimise Σ |y − Wᵀx|² + λ |W|² over the first `width` features, without a penalty on the
    /// constant (Hoerl and Kennard 1970); nothing where the sums do not determine them.
    pub(crate) fn ridge(&self, width: usize, penalty: f64) -> Option<DMatrix<f64>> {
        let mut punished = DVector::from_element(width, penalty);
        punished[0] = 0.0;
        let system = self.gram.view((0, 0), (width, width)) + DMatrix::from_diagonal(&punished);
        Some(system.cholesky()?.solve(&self.cross.rows(0, width)))
    }

    /// Σ (y − Wᵀx)² of every output, for weights of the first features.
    pub(crate) fn squared_errors(&self, weights: &DMatrix<f64>) -> Vec<f64> {
        let width = weights.nrows();
        let gram = self.gram.view((0, 0), (width, width)) * weights;
        let cross = self.cross.rows(0, width);
        let error = |(output, squares): (usize, &f64)| {
            let weights = weights.column(output);
            squares - 2.0 * weights.dot(&cross.column(output)) + weights.dot(&gram.column(output))
        };
        // Rounding may make the error of a perfect fit negative.
        self.squares.iter().enumerate().map(error).map(|sum| sum.max(0.0)).collect()
    }
}

/// Outputs in groups that are observed at the same steps: outputs that are missing at different steps cannot
/// share their sums.
pub(crate) fn observed_together<'a>(
    sequences: impl Iterator<Item = &'a Sequence> + Clone,
    outputs: usize,
) -> Vec<Vec<usize>> {
    let mut together: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
    for output in 0..outputs {
        let rows = sequences.clone().flat_map(|sequence| sequence.targets.iter());
        let missing = rows.map(|row| row[output].is_nan()).collect();
        together.entry(missing).or_default().push(output);
    }
    together.into_values().collect()
}
