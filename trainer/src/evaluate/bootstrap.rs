//! Standard error of a frequency whose trials depend on each other over time.
//!
//! Errors of neighbouring rows are alike, so that n rows say less about coverage than n independent ones, and
//! √(p (1 − p) / n) is too small. The circular block bootstrap (Politis and Romano 1992) resamples whole
//! blocks of rows instead of rows. The variance of its mean has a closed form, the variance of the block
//! sums over every possible start, so that nothing is drawn: the result is that of infinitely many resamples.

use super::block_length::block_length;

/// Trials of an event at every step of one sequence, and how many of them were hits. Steps without trials
/// count as time that passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialSteps {
    /// Hits at each step.
    pub hits: Vec<f64>,
    /// Trials at each step, at least as many as hits.
    pub trials: Vec<f64>,
}

impl TrialSteps {
    /// `steps` steps without trials.
    pub(super) fn zeros(steps: usize) -> Self {
        TrialSteps { hits: vec![0.0; steps], trials: vec![0.0; steps] }
    }

    /// Counts a trial.
    pub(super) fn add(&mut self, step: usize, hit: bool) {
        self.hits[step] += f64::from(u8::from(hit));
        self.trials[step] += 1.0;
    }

    /// Adds the trials of the same steps.
    pub(super) fn merge(&mut self, other: &TrialSteps) {
        let pairs = self.hits.iter_mut().zip(&other.hits);
        pairs.chain(self.trials.iter_mut().zip(&other.trials)).for_each(|(sum, part)| *sum += part);
    }
}

/// Standard error of the frequency Σ hits / Σ trials over all sequences; NaN without trials.
///
/// The ratio is linearised: step t contributes u_t = hits_t − p trials_t. Blocks start at every step with
/// equal probability, stay inside their sequence, and wrap around at its end; a sequence shorter than a block
/// is a block itself, so that many short sequences are resampled as wholes. With k blocks in a resample and
/// block sums S, the variance is k times the mean of S², over (Σ trials)². The block length is that of
/// Politis and White (2004).
pub fn frequency_std_error(sequences: &[TrialSteps]) -> f64 {
    let total = |values: fn(&TrialSteps) -> &Vec<f64>| -> f64 {
        sequences.iter().map(|steps| values(steps).iter().sum::<f64>()).sum()
    };
    let (hits, trials) = (total(|steps| &steps.hits), total(|steps| &steps.trials));
    if trials == 0.0 {
        return f64::NAN;
    }
    let frequency = hits / trials;
    let influence = |steps: &TrialSteps| -> Vec<f64> {
        steps.hits.iter().zip(&steps.trials).map(|(hits, trials)| hits - frequency * trials).collect()
    };
    let influences: Vec<Vec<f64>> = sequences.iter().map(influence).collect();
    block_variance(&influences, block_length(&influences)).sqrt() / trials
}

/// Standard error of the mean of all values, by the same blocks; NaN without values.
pub(super) fn mean_std_error(sequences: &[Vec<f64>]) -> f64 {
    let n: usize = sequences.iter().map(Vec::len).sum();
    let mean = sequences.iter().flatten().sum::<f64>() / n as f64;
    let centred: Vec<Vec<f64>> =
        sequences.iter().map(|values| values.iter().map(|value| value - mean).collect()).collect();
    block_variance(&centred, block_length(&centred)).sqrt() / n as f64
}

/// Variance of the sum over a circular block bootstrap's resample.
fn block_variance(sequences: &[Vec<f64>], block: usize) -> f64 {
    let (mut starts, mut rows, mut squares) = (0.0, 0.0, 0.0);
    for values in sequences.iter().filter(|values| !values.is_empty()) {
        let block = block.min(values.len());
        let mut sum: f64 = values[..block].iter().sum();
        for start in 0..values.len() {
            squares += sum * sum;
            sum += values[(start + block) % values.len()] - values[start];
        }
        starts += values.len() as f64;
        rows += (values.len() * block) as f64;
    }
    // Blocks per resample: steps over the mean length of a block; times the mean square of a block's sum.
    if rows > 0.0 { starts * squares / rows } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream, uniform};

    fn steps(hits: Vec<f64>) -> TrialSteps {
        TrialSteps { trials: vec![1.0; hits.len()], hits }
    }

    #[test]
    fn independent_trials_have_the_binomial_error() {
        let mut rng = stream(3, Purpose::Initialisation);
        let (p, n, repeats) = (0.9, 4000, 40);
        let expected = (p * (1.0 - p) / f64::from(n)).sqrt();
        let draw = |_| f64::from(u8::from(uniform(&mut rng) < p));
        let draws: Vec<f64> = (0..n * repeats).map(draw).collect();
        let found = draws.chunks(n as usize).map(|hits| frequency_std_error(&[steps(hits.to_vec())]));
        let mean = found.sum::<f64>() / f64::from(repeats);
        // The frequency itself varies by 0.5 % of p, a block of few rows adds a few per cent of scatter.
        assert!((mean / expected - 1.0).abs() < 0.04, "{mean} against {expected}");
    }

    /// Covariance of 1[|X| ≤ z] and 1[|Y| ≤ z] for normal X and Y with correlation ρ: ∫ φ(x) P(|Y| ≤ z | x)
    /// dx over |x| ≤ z by the midpoint rule, less the product of both probabilities.
    fn indicator_covariance(z: f64, correlation: f64) -> f64 {
        let below = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let (cells, rest) = (2000, (1.0 - correlation * correlation).sqrt());
        let width = 2.0 * z / f64::from(cells);
        let part = |cell: i32| {
            let x = -z + (f64::from(cell) + 0.5) * width;
            let inside = below((z - correlation * x) / rest) - below((-z - correlation * x) / rest);
            width * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * inside
        };
        (0..cells).map(part).sum::<f64>() - (below(z) - below(-z)).powi(2)
    }

    /// Standard error of the coverage of an AR(1) process over n steps: (γ₀ + 2 Σ (1 − k/n) γ_k) / n.
    fn true_error(z: f64, phi: f64, n: usize) -> f64 {
        let p = libm::erf(z / std::f64::consts::SQRT_2);
        let lags = (1..n.min(400)).map(|lag| {
            let share = 1.0 - lag as f64 / n as f64;
            2.0 * share * indicator_covariance(z, phi.powi(lag as i32))
        });
        ((p * (1.0 - p) + lags.sum::<f64>()) / n as f64).sqrt()
    }

    /// Whether each value of an AR(1) process lies within ±z of its standard deviations.
    fn covered(rng: &mut impl rand_core::Rng, z: f64, phi: f64, n: usize) -> Vec<f64> {
        let mut value = normal(rng);
        let rest = (1.0 - phi * phi).sqrt();
        let mut next = || {
            value = phi * value + rest * normal(rng);
            f64::from(u8::from(value.abs() <= z))
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn dependent_trials_have_the_error_of_their_process() {
        let (z, n, repeats) = (1.644_854, 6000, 60);
        for phi in [0.5, 0.9, 0.98] {
            let mut rng = stream(5, Purpose::Initialisation);
            let expected = true_error(z, phi, n);
            let naive = (0.09_f64 / n as f64).sqrt();
            let found = (0..repeats).map(|_| frequency_std_error(&[steps(covered(&mut rng, z, phi, n))]));
            let mean = found.sum::<f64>() / f64::from(repeats);
            // Blocks of finite length miss covariances beyond them: at a correlation of 0.98, with one
            // independent row in fifty, the estimate is low by an eighth, and √(p (1 − p) / n) by a factor of
            // six.
            assert!((mean / expected - 1.0).abs() < 0.15, "{phi}: {mean} against {expected}");
            assert!(phi < 0.9 || naive < 0.6 * expected, "{phi}: {naive} is not {expected}");
        }
    }

    #[test]
    fn a_mean_has_the_error_of_its_process() {
        // Of an AR(1) process with variance 1: √((1 + φ) / ((1 − φ) n)) for large n.
        let (phi, n, repeats) = (0.8_f64, 6000, 60);
        let mut rng = stream(7, Purpose::Initialisation);
        let mut process = || {
            let mut value = normal(&mut rng);
            let mut next = || {
                value = phi * value + (1.0 - phi * phi).sqrt() * normal(&mut rng);
                value
            };
            (0..n).map(|_| next()).collect::<Vec<f64>>()
        };
        let found = (0..repeats).map(|_| mean_std_error(&[process()])).sum::<f64>() / f64::from(repeats);
        let expected = ((1.0 + phi) / (1.0 - phi) / n as f64).sqrt();
        // Blocks of finite length miss covariances beyond them.
        assert!((found / expected - 1.0).abs() < 0.15, "{found} against {expected}");
    }

    #[test]
    fn short_sequences_are_resampled_as_wholes() {
        // Half of the sequences are always covered, the others never: as many trials as sequences.
        let n = 200_u32;
        let sequences: Vec<TrialSteps> = (0..n).map(|index| steps(vec![f64::from(index % 2); 10])).collect();
        let expected = (0.25 / f64::from(n)).sqrt();
        let found = frequency_std_error(&sequences);
        assert!((found / expected - 1.0).abs() < 0.01, "{found} against {expected}");
    }

    #[test]
    fn steps_without_trials_add_nothing() {
        let mut sparse = TrialSteps::zeros(6);
        assert!(frequency_std_error(std::slice::from_ref(&sparse)).is_nan());
        sparse.add(2, true);
        sparse.add(2, true);
        assert_eq!(frequency_std_error(std::slice::from_ref(&sparse)), 0.0, "a frequency of 1 has no spread");
        let mut both = sparse.clone();
        both.merge(&sparse);
        assert_eq!((both.hits[2], both.trials[2]), (4.0, 4.0));
    }
}
