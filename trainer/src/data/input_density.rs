//! Normal density of the input rows, fitted on the training split.
//!
//! [`quaver::density`] imputes missing channels with it, in training as on a device.

use nalgebra::DMatrix;
use quaver::density::triangle;
use serde::{Deserialize, Serialize};

use super::density_shrinkage::shrunk_for;
use super::rows::Sequence;
use super::scaler::Scaler;

/// Smallest eigenvalue of the covariance. No combination of channels is then known to better than 3 % of a
/// standard deviation from the others, and the precision has no element above 1000, which f32 can solve with.
const SMALLEST_EIGENVALUE: f64 = 1e-3;

/// With more channels than this, the n (n + 1)/2 numbers of the precision are more than the weights of most
/// models.
const MOST_CHANNELS: usize = 256;

/// Deviation of a channel's training mean from 0 and variance from 1, in standardised units, up to which the
/// channel counts as standardised. Rounding of the scaler is far below it.
const TOLERANCE: f64 = 0.01;

/// Mean 0, covariance Σ = Λ⁻¹ with a unit diagonal, in standardised units, and the range of every channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputDensity {
    /// Lower triangle of the precision Λ, row by row.
    pub precision: Vec<f32>,
    /// Smallest value of each channel in the training rows, in raw units.
    pub low: Vec<f32>,
    /// Largest value of each channel in the training rows, in raw units.
    pub high: Vec<f32>,
}

impl InputDensity {
    /// Fits the density on the inputs of training sequences, which `scaler` standardises.
    ///
    /// Covariances are those of the rows in which both channels are present, shrunk towards the identity. The
    /// weight of the identity is the estimate of Schäfer and Strimmer (2005, *A shrinkage approach to
    /// large-scale covariance matrix estimation*, target D for correlations), or larger where the smallest
    /// eigenvalue would otherwise be below 0.001. Covariances that do not carry over to the validation rows
    /// are shrunk further, so that a conditional is not surer than it may be. A channel that is constant,
    /// never present, or left unscaled because it is binary has no covariance with others: if missing, it has
    /// mean 0 and variance 1.
    ///
    /// Nothing if every input is binary, where a normal density describes nothing, or if there are more than
    /// 256 inputs.
    pub fn fit(train: &[Sequence], valid: &[Sequence], scaler: &Scaler) -> Option<Self> {
        let channels = scaler.channels();
        let values = || train.iter().flat_map(|sequence| &sequence.inputs.values);
        let binary = values().all(|value| value.is_nan() || *value == 0.0 || *value == 1.0);
        if binary || channels > MOST_CHANNELS {
            return None;
        }
        let (low, high) = (0..channels).map(|channel| range(train, channel, scaler.mean[channel])).unzip();
        let covariance = shrunk_for(PairSums::gather(train, scaler).covariance(), valid, scaler);
        let precision = covariance.cholesky()?.inverse();
        let packed = (0..channels).flat_map(|row| (0..=row).map(move |column| (row, column)));
        Some(InputDensity { precision: packed.map(|at| precision[at] as f32).collect(), low, high })
    }

    /// Whether this is a density of rows of this many channels.
    pub(crate) fn fits(&self, channels: usize) -> bool {
        let lengths = (self.precision.len(), self.low.len(), self.high.len());
        let finite = self.precision.iter().chain(&self.low).chain(&self.high).all(|value| value.is_finite());
        lengths == (triangle(channels), channels, channels) && finite
    }
}

/// Smallest and largest value of a channel; `absent` for both where it has none.
fn range(train: &[Sequence], channel: usize, absent: f32) -> (f32, f32) {
    let rows = train.iter().flat_map(|sequence| sequence.inputs.iter());
    let values = rows.map(|row| row[channel]).filter(|value| value.is_finite());
    let ends = |ends: Option<(f32, f32)>, value: f32| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    };
    values.fold(None, ends).unwrap_or((absent, absent))
}

/// Sums over the rows in which both channels of a pair are present, for pairs in the order of a lower
/// triangle.
struct PairSums {
    channels: usize,
    /// Number of rows.
    count: Vec<f64>,
    /// Σ x_i x_j.
    product: Vec<f64>,
    /// Σ (x_i x_j)².
    square: Vec<f64>,
    /// Σ x_i, per channel.
    sum: Vec<f64>,
}

impl PairSums {
    fn gather(train: &[Sequence], scaler: &Scaler) -> Self {
        let channels = scaler.channels();
        let zeros = || vec![0.0; triangle(channels)];
        let (count, product, square) = (zeros(), zeros(), zeros());
        let mut sums = PairSums { channels, count, product, square, sum: vec![0.0; channels] };
        let mut row = vec![0.0; channels];
        for raw in train.iter().flat_map(|sequence| sequence.inputs.iter()) {
            for (channel, (value, &raw)) in row.iter_mut().zip(raw).enumerate() {
                *value = f64::from(scaler.standardise(channel, raw));
            }
            sums.add(&row);
        }
        sums
    }

    fn add(&mut self, row: &[f64]) {
        for (i, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            self.sum[i] += x;
            for (j, y) in row[..=i].iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                let (place, product) = (triangle(i) + j, x * y);
                self.count[place] += 1.0;
                self.product[place] += product;
                self.square[place] += product * product;
            }
        }
    }

    /// Whether the channel has mean 0 and variance 1, as standardised channels have.
    fn is_standardised(&self, channel: usize) -> bool {
        let place = triangle(channel) + channel;
        let (mean, var) = (self.sum[channel] / self.count[place], self.product[place] / self.count[place]);
        mean.abs() < TOLERANCE && (var - 1.0).abs() < TOLERANCE
    }

    /// Correlation of two channels and the variance of that estimate, n/(n − 1)³ Σ (w − w̄)² with w = x_i x_j
    /// (Schäfer and Strimmer 2005, appendix A).
    fn correlation(&self, i: usize, j: usize) -> (f64, f64) {
        let place = triangle(i) + j;
        let n = self.count[place];
        if n < 2.0 || !self.is_standardised(i) || !self.is_standardised(j) {
            return (0.0, 0.0);
        }
        let mean = self.product[place] / n;
        let spread = (self.square[place] - n * mean * mean).max(0.0);
        // Over the rows of one pair, standardised channels need not have variance 1.
        (mean.clamp(-1.0, 1.0), n / (n - 1.0).powi(3) * spread)
    }

    /// The shrunk covariance: positive definite, with a unit diagonal.
    fn covariance(&self) -> DMatrix<f64> {
        let mut covariance = DMatrix::identity(self.channels, self.channels);
        let (mut squares, mut variances) = (0.0, 0.0);
        for (i, j) in (0..self.channels).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let (correlation, variance) = self.correlation(i, j);
            (covariance[(i, j)], covariance[(j, i)]) = (correlation, correlation);
            squares += correlation * correlation;
            variances += variance;
        }
        let estimated = if squares > 0.0 { (variances / squares).min(1.0) } else { 0.0 };
        // Eigenvalues e become (1 − λ) e + λ. The smallest is at most the mean, 1.
        let smallest = covariance.clone().symmetric_eigenvalues().min();
        let needed = (SMALLEST_EIGENVALUE - smallest) / (1.0 - smallest).max(f64::EPSILON);
        let weight = estimated.max(needed);
        covariance * (1.0 - weight) + DMatrix::identity(self.channels, self.channels) * weight
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use quaver::density::{MISSING, impute, scratch_words};

    use super::*;
    use crate::data::{Rows, Scaling};
    use crate::random::{Purpose, normal, stream, uniform};

    /// Rows of four channels: a, b = 0.8 a + 0.6 noise, c = (a + b)/2 + noise, d = −a, in units of their own.
    fn rows(steps: usize, missing: f64) -> Vec<Sequence> {
        let mut rng = stream(1, Purpose::Initialisation);
        let mut values = Vec::new();
        for _ in 0..steps {
            let a = normal(&mut rng);
            let b = 0.8 * a + 0.6 * normal(&mut rng);
            let c = 0.5 * (a + b) + normal(&mut rng);
            let row = [a, 5.0 + 10.0 * b, 0.01 * c, -a];
            values.extend(row.map(|value| if uniform(&mut rng) < missing { f32::NAN } else { value as f32 }));
        }
        vec![Sequence::next(Rows { channels: 4, values })]
    }

    fn fit(train: &[Sequence]) -> (InputDensity, Scaler) {
        let scaler = Scaling::fit(train).inputs;
        (InputDensity::fit(train, &[], &scaler).unwrap(), scaler)
    }

    /// The covariance in full, by inverting the stored precision.
    fn covariance(density: &InputDensity, channels: usize) -> DMatrix<f64> {
        let at = |i: usize, j: usize| f64::from(density.precision[triangle(i.max(j)) + i.min(j)]);
        DMatrix::from_fn(channels, channels, at).try_inverse().unwrap()
    }

    #[test]
    fn covariances_are_those_that_made_the_rows() {
        // corr(a, c) = 0.9 / √1.9, corr(b, c) the same; the standard error of 40 000 rows is 0.005, with a
        // tenth of the values missing 0.006.
        let ac = 0.9 / 1.9_f64.sqrt();
        let expected =
            [[1.0, 0.8, ac, -1.0], [0.8, 1.0, ac, -0.8], [ac, ac, 1.0, -ac], [-1.0, -0.8, -ac, 1.0]];
        for missing in [0.0, 0.1] {
            let (density, _) = fit(&rows(40_000, missing));
            assert!(density.fits(4) && !density.fits(3));
            let found = covariance(&density, 4);
            for (i, j) in (0..16).map(|place| (place / 4, place % 4)) {
                assert!((found[(i, j)] - expected[i][j]).abs() < 0.02, "{i}, {j}: {found}");
            }
            // Channels a and d are the same: without shrinkage the smallest eigenvalue would be 0. The
            // precision in f32 is inverted to 1e-5.
            let smallest = found.symmetric_eigenvalues().min();
            assert!(smallest > 0.99 * SMALLEST_EIGENVALUE, "{smallest}");
        }
    }

    #[test]
    fn the_runtime_imputes_by_the_regression_of_the_training_rows() {
        // Independent of precisions: the least-squares regression of c on a and b over the rows themselves.
        let train = rows(40_000, 0.0);
        let (density, scaler) = fit(&train);
        let standard = |row: &[f32], c: usize| f64::from(scaler.standardise(c, row[c]));
        let data = &train[0].inputs;
        let x = DMatrix::from_fn(data.len(), 2, |t, c| standard(data.row(t), c));
        let y = DVector::from_fn(data.len(), |t, _| standard(data.row(t), 2));
        let weights = (x.transpose() * &x).lu().solve(&(x.transpose() * &y)).unwrap();
        let residual = (&y - &x * &weights).norm_squared() / data.len() as f64;
        let (a, b) = (1.2_f32, -0.7_f32);
        let (mut mean, mut var) = ([a, b, 0.0, 0.0], [0.0, 0.0, MISSING, MISSING]);
        impute(|k| density.precision[k], &mut mean, &mut var, &mut vec![0.0; scratch_words(4)]);
        let expected = weights[0] * f64::from(a) + weights[1] * f64::from(b);
        // Shrinkage changes correlations by a thousandth.
        assert!((f64::from(mean[2]) - expected).abs() < 5e-3, "{mean:?} against {expected}");
        assert!((f64::from(var[2]) - residual).abs() < 5e-3, "{var:?} against {residual}");
        assert!((mean[3] + a).abs() < 5e-3 && var[3] < 5e-3, "d is −a: {mean:?} {var:?}");
    }

    #[test]
    fn few_rows_say_little() {
        let [few, many] = [6, 4000].map(|steps| {
            let (density, _) = fit(&rows(steps, 0.0));
            covariance(&density, 4)[(3, 0)].abs()
        });
        assert!(few < 0.97 && many > 0.99, "{few} {many}");
    }

    #[test]
    fn channels_without_a_spread_stand_alone() {
        let nan = f32::NAN;
        let mut values = Vec::new();
        // Real, constant, never present, binary (left unscaled where rows predict themselves), real.
        for (t, row) in rows(400, 0.0)[0].inputs.iter().enumerate() {
            values.extend([row[0], 7.0, nan, f32::from(t % 2 == 0 || row[0] > 0.0), row[1]]);
        }
        let train = [Sequence::next(Rows { channels: 5, values })];
        let (density, scaler) = fit(&train);
        assert_eq!((scaler.mean[3], scaler.std_dev[3]), (0.0, 1.0));
        let found = covariance(&density, 5);
        for alone in [1, 2, 3] {
            let others = (0..5).filter(|other| *other != alone);
            assert!(others.clone().all(|other| found[(alone, other)] == 0.0), "{alone}: {found}");
            assert!((found[(alone, alone)] - 1.0).abs() < 1e-6);
        }
        assert!((found[(0, 4)] - 0.8).abs() < 0.1);
        assert_eq!((density.low[1], density.high[1]), (7.0, 7.0));
        assert_eq!((density.low[2], density.high[2]), (0.0, 0.0));
        let least = train[0].inputs.iter().map(|row| row[0]).fold(f32::INFINITY, f32::min);
        assert_eq!(density.low[0], least);
    }

    #[test]
    fn binary_inputs_have_no_density() {
        let values = (0..40).map(|t| if t == 7 { f32::NAN } else { (t % 3 == 0) as u8 as f32 }).collect();
        let train = [Sequence::next(Rows { channels: 2, values })];
        assert_eq!(InputDensity::fit(&train, &[], &Scaling::fit(&train).inputs), None);
    }
}
