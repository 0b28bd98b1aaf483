//! Ridge regression on the last input rows, with its penalty chosen on validation data.

use nalgebra::DMatrix;

use super::normal_equations::{Features, NormalEquations, observed_together};
use super::rows::Sequence;
use super::scaler::Scaling;

/// Candidate numbers of rows.
const LAGS: [usize; 8] = [1, 2, 3, 5, 8, 12, 20, 32];

/// With more features than this, fitting takes longer than a baseline should.
const MOST_FEATURES: usize = 512;

/// Candidate penalties.
const PENALTIES: [f64; 7] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0];

/// Numbers of rows that ridge regression is tried with, for this many inputs; none if there are too many.
pub fn ridge_rows(inputs: usize) -> Vec<usize> {
    LAGS.into_iter().filter(|lags| lags * inputs < MOST_FEATURES).collect()
}

/// A linear prediction in standardised units, with constant variance.
#[derive(Clone, Debug)]
pub(crate) struct RidgeFit {
    /// Input rows that it reads.
    pub(crate) lags: usize,
    /// Penalty on the squares of its weights.
    pub(crate) penalty: f64,
    /// One column per output, in the order of [`Features`].
    pub(crate) weights: DMatrix<f64>,
    /// Variances of the training residuals.
    pub(crate) variance: Vec<f64>,
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

impl RidgeFit {
    /// Fits these numbers of lags, in ascending order, with every penalty on the training data, and keeps the
    /// fit with the smallest squared error on the validation data; nothing where targets do not determine it.
    pub(crate) fn fit(
        train: &[Sequence],
        valid: &[Sequence],
        scaling: &Scaling,
        lags: &[usize],
    ) -> Option<Self> {
        let features = Features { scaling, lags: *lags.last()? };
        let groups = groups(train, valid, &features);
        let candidates = lags.iter().flat_map(|&lags| PENALTIES.map(|penalty| (lags, penalty)));
        let candidates = candidates
            .filter_map(|(lags, penalty)| Candidate::fit(lags, penalty, features.width(lags), &groups));
        let best = candidates.min_by(|a, b| a.error.total_cmp(&b.error))?;
        Some(Self::assemble(best, &groups, scaling.targets.channels()))
    }

    fn assemble(best: Candidate, groups: &[Group], outputs: usize) -> Self {
        let mut weights = DMatrix::zeros(best.weights.first().map_or(1, DMatrix::nrows), outputs);
        let mut variance = vec![0.0; outputs];
        for (group, of_group) in groups.iter().zip(&best.weights) {
            let errors = group.train.squared_errors(of_group);
            for (column, &output) in group.outputs.iter().enumerate() {
                weights.set_column(output, &of_group.column(column));
                variance[output] = errors[column] / group.train.n as f64;
            }
        }
        RidgeFit { lags: best.lags, penalty: best.penalty, weights, variance }
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
