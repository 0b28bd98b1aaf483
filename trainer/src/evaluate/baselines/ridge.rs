//! Ridge regression on the last input rows.

use nalgebra::{DMatrix, DVector};

use super::memory::Memory;
use crate::data::normal_equations::{Features, NormalEquations, observed_together};
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::prediction::SequencePrediction;

/// Candidate numbers of rows and penalties.
const LAGS: [usize; 8] = [1, 2, 3, 5, 8, 12, 20, 32];
const PENALTIES: [f64; 7] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0];

/// With more features than this, fitting takes longer than a baseline should.
const MOST_FEATURES: usize = 512;

/// A linear prediction with constant variance.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    scaling: Scaling,
    lags: usize,
    penalty: f64,
    /// One column per output.
    weights: DMatrix<f64>,
    /// Variances of the training residuals, in standardised units.
    variance: Vec<f64>,
}

/// Outputs that are always observed together, and their sums.
struct Group {
    outputs: Vec<usize>,
    train: NormalEquations,
    valid: NormalEquations,
}

/// A number of lags and a penalty, with the weights of every group.
struct Candidate {
    lags: usize,
    penalty: f64,
    weights: Vec<DMatrix<f64>>,
    error: f64,
}

impl Ridge {
    /// Fits all candidates on the training data, and keeps the one with the smallest squared error on the
    /// validation data; nothing where there are too many inputs or too few data.
    pub(super) fn fit(train: &[Sequence], valid: &[Sequence]) -> Option<Self> {
        let scaling = Scaling::fit(train);
        let fits = |lags: &usize| lags * scaling.inputs.channels() < MOST_FEATURES;
        let lags: Vec<usize> = LAGS.into_iter().filter(fits).collect();
        let features = Features { scaling: &scaling, lags: *lags.last()? };
        let groups = groups(train, valid, &features);
        let candidates = lags.iter().flat_map(|&lags| PENALTIES.map(|penalty| (lags, penalty)));
        let candidates = candidates
            .filter_map(|(lags, penalty)| Candidate::fit(lags, penalty, features.width(lags), &groups));
        let best = candidates.min_by(|a, b| a.error.total_cmp(&b.error))?;
        Some(Self::assemble(best, &groups, scaling))
    }

    fn assemble(best: Candidate, groups: &[Group], scaling: Scaling) -> Self {
        let outputs = scaling.targets.channels();
        let mut weights = DMatrix::zeros(best.weights.first().map_or(1, DMatrix::nrows), outputs);
        let mut variance = vec![0.0; outputs];
        for (group, of_group) in groups.iter().zip(&best.weights) {
            let errors = group.train.squared_errors(of_group);
            for (column, &output) in group.outputs.iter().enumerate() {
                weights.set_column(output, &of_group.column(column));
                variance[output] = errors[column] / group.train.n as f64;
            }
        }
        Ridge { scaling, lags: best.lags, penalty: best.penalty, weights, variance }
    }

    /// Name of the baseline.
    pub(super) fn name(&self, data: &Dataset) -> &'static str {
        let autoregressive = data.target.is_next() || !Memory { look_ahead: &data.look_ahead }.sees_targets();
        if autoregressive { "ridge AR" } else { "ridge regression" }
    }

    pub(super) fn detail(&self) -> String {
        format!(
            "linear in the last {} input rows, penalty {}, both chosen on validation; variance of its training residuals",
            self.lags, self.penalty
        )
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let targets = &self.scaling.targets;
        let mut prediction = SequencePrediction::zeros(sequence.len(), targets.channels());
        for step in 0..sequence.len() {
            for (output, mean) in self.means(sequence, step).into_iter().enumerate() {
                let variance = targets.unstandardise_variance(output, self.variance[output] as f32);
                prediction.set(step, output, mean, 0.0, variance);
            }
        }
        prediction
    }

    /// Fills gaps by predictions, each made from the rows before it, filled or observed.
    pub(super) fn fill(&self, rows: &Rows) -> Rows {
        let mut filled = rows.clone();
        for step in 0..rows.len() {
            if rows.row(step).iter().all(|value| !value.is_nan()) {
                continue;
            }
            let means = self.means(&Sequence::next(filled.clone()), step);
            let places = filled.values[step * rows.channels..].iter_mut();
            places.zip(means).filter(|(value, _)| value.is_nan()).for_each(|(value, mean)| *value = mean);
        }
        filled
    }

    /// The prediction of one step, in raw units.
    fn means(&self, sequence: &Sequence, step: usize) -> Vec<f32> {
        let features = Features { scaling: &self.scaling, lags: self.lags };
        let means = self.weights.tr_mul(&DVector::from_vec(features.at(sequence, step)));
        let raw = |(output, mean): (usize, &f64)| self.scaling.targets.unstandardise(output, *mean as f32);
        means.iter().enumerate().map(raw).collect()
    }
}

impl Candidate {
    fn fit(lags: usize, penalty: f64, width: usize, groups: &[Group]) -> Option<Self> {
        let weights: Option<Vec<_>> = groups.iter().map(|group| group.train.ridge(width, penalty)).collect();
        let weights = weights?;
        // Without validation targets, an output is scored on the training data.
        let mean_error = |(group, weights): (&Group, &DMatrix<f64>)| {
            let score = if group.valid.n > 0 { &group.valid } else { &group.train };
            score.squared_errors(weights).iter().sum::<f64>() / score.n.max(1) as f64
        };
        let error = groups.iter().zip(&weights).map(mean_error).sum();
        Some(Candidate { lags, penalty, weights, error })
    }
}

fn groups(train: &[Sequence], valid: &[Sequence], features: &Features<'_>) -> Vec<Group> {
    let together = observed_together(train.iter().chain(valid), features.scaling.targets.channels());
    let group = |outputs: Vec<usize>| Group {
        train: NormalEquations::gather(train, features, &outputs),
        valid: NormalEquations::gather(valid, features, &outputs),
        outputs,
    };
    together.into_iter().map(group).collect()
}
