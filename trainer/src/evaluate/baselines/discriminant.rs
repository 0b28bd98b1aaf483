//! Linear discriminant analysis of the last input rows, for classes of rows.

use nalgebra::{Cholesky, DMatrix, DVector};

use crate::data::normal_equations::{Features, NormalEquations};
use crate::data::{Scaling, Sequence};
use crate::evaluate::PROBABILITY_FLOOR;
use crate::prediction::SequencePrediction;

/// Candidate numbers of rows.
const LAGS: [usize; 5] = [1, 2, 5, 10, 20];

/// With more features than this, fitting takes longer than a baseline should.
const MOST_FEATURES: usize = 256;

/// Weight of the identity in the covariance of standardised features: only as much as makes it invertible
/// where features depend on each other.
const SHRINKAGE: f64 = 1e-6;

/// Normal classes with one covariance (Fisher 1936; Hastie et al. 2009, eq. 4.10), with priors as frequent as
/// the classes are in training: logits are linear in the features.
#[derive(Clone, Debug)]
pub(super) struct Discriminant {
    scaling: Scaling,
    lags: usize,
    /// One column per class; the first row is the constant.
    weights: DMatrix<f64>,
}

impl Discriminant {
    /// Fits one for each number of rows, and keeps the one with the least NLL on the validation data; nothing
    /// where there are too many inputs.
    pub(super) fn fit(train: &[Sequence], valid: &[Sequence]) -> Option<Self> {
        let scaling = Scaling::fit(train);
        let channels = scaling.inputs.channels();
        let lags: Vec<usize> = LAGS.into_iter().filter(|lags| lags * channels < MOST_FEATURES).collect();
        let features = Features { scaling: &scaling, lags: *lags.last()? };
        let classes: Vec<usize> = (0..scaling.targets.channels()).collect();
        let sums = NormalEquations::gather(train, &features, &classes);
        let fitted = lags.iter().filter_map(|&lags| {
            let weights = logits(&sums, features.width(lags))?;
            let found = Discriminant { scaling: scaling.clone(), lags, weights };
            let nll = found.nll(valid);
            Some((found, nll))
        });
        fitted.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(found, _)| found)
    }

    pub(super) fn detail(&self) -> String {
        format!(
            "linear discriminant analysis of the last {} input rows, a number chosen on validation: normal classes with one \
             covariance",
            self.lags
        )
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let mut prediction = SequencePrediction::zeros(sequence.len(), self.weights.ncols());
        for step in 0..sequence.len() {
            for (class, p) in self.probabilities(sequence, step).into_iter().enumerate() {
                prediction.set(step, class, p as f32, 0.0, (p * (1.0 - p)) as f32);
            }
        }
        prediction
    }

    fn probabilities(&self, sequence: &Sequence, step: usize) -> Vec<f64> {
        let features = Features { scaling: &self.scaling, lags: self.lags };
        let logits = self.weights.tr_mul(&DVector::from_vec(features.at(sequence, step)));
        let exponentials = logits.add_scalar(-logits.max()).map(f64::exp);
        let probability = |exponential: &f64| (exponential / exponentials.sum()).max(PROBABILITY_FLOOR);
        exponentials.iter().map(probability).collect()
    }

    /// Sum over the rows with a label.
    fn nll(&self, sequences: &[Sequence]) -> f64 {
        let of_row = |sequence: &Sequence, step: usize| {
            let label = sequence.targets.row(step).iter().position(|target| *target == 1.0)?;
            Some(-self.probabilities(sequence, step)[label].ln())
        };
        let of =
            |sequence: &Sequence| (0..sequence.len()).filter_map(|step| of_row(sequence, step)).sum::<f64>();
        sequences.iter().map(of).sum()
    }
}

/// Weights of the logits on the first `width` features: x ↦ μᵀ Σ⁻¹ x − ½ μᵀ Σ⁻¹ μ + ln π of every class.
///
/// Targets are 0 and 1, so that Σ x yᵀ has the sum of the features of each class, and, as the first feature
/// is 1, the size of the class.
fn logits(sums: &NormalEquations, width: usize) -> Option<DMatrix<f64>> {
    let (n, classes) = (sums.n as f64, sums.cross.ncols());
    let counts: Vec<f64> = (0..classes).map(|class| sums.cross[(0, class)]).collect();
    let inner = width - 1;
    let mut scatter = sums.gram.view((1, 1), (inner, inner)).into_owned();
    let mut means = DMatrix::zeros(inner, classes);
    for (class, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let mean = sums.cross.view((1, class), (inner, 1)) / *count;
        scatter.ger(-count, &mean.column(0), &mean.column(0), 1.0);
        means.set_column(class, &mean.column(0));
    }
    let covariance = scatter * ((1.0 - SHRINKAGE) / n) + DMatrix::identity(inner, inner) * SHRINKAGE;
    let slopes = Cholesky::new(covariance)?.solve(&means);
    let mut weights = DMatrix::zeros(width, classes);
    weights.view_mut((1, 0), (inner, classes)).copy_from(&slopes);
    for (class, count) in counts.iter().enumerate() {
        weights[(0, class)] = (count / n).ln() - 0.5 * means.column(class).dot(&slopes.column(class));
    }
    Some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::evaluate::classifiers::lda_probabilities;
    use crate::random::{Purpose, normals, stream};

    /// Two classes that alternate every five rows, in two channels.
    fn sequence(seed: u64) -> Sequence {
        let noise = normals(&mut stream(seed, Purpose::Initialisation), 200);
        let class = |t: usize| t / 5 % 2;
        let inputs = (0..200).map(|i| noise[i] + [0.0, 1.5, 1.0, -0.5][2 * class(i / 2) + i % 2]).collect();
        let targets = (0..100)
            .flat_map(|t| [0.0, 1.0].map(|c: f32| f32::from(u8::from(c as usize == class(t)))))
            .collect();
        Sequence::columns(Rows { channels: 2, values: inputs }, Rows { channels: 2, values: targets })
    }

    #[test]
    fn probabilities_are_those_of_normal_classes_by_distance() {
        let (train, test) = ([sequence(1)], sequence(2));
        let found = Discriminant::fit(&train, &[sequence(3)]).unwrap();
        let features = Features { scaling: &found.scaling, lags: found.lags };
        let all = |sequence: &Sequence| -> Vec<Vec<f64>> {
            (0..sequence.len()).map(|step| features.at(sequence, step)[1..].to_vec()).collect()
        };
        let labels: Vec<usize> = train[0].targets.iter().map(|row| usize::from(row[1] == 1.0)).collect();
        let expected = lda_probabilities(2, &all(&train[0]), &labels, &all(&test)).unwrap();
        let prediction = found.prediction(&test);
        for (p, expected) in prediction.mean.values.iter().zip(&expected.values) {
            // The two shrink in slightly different units.
            assert!((p - expected).abs() < 1e-3, "{p} against {expected}");
        }
    }
}
