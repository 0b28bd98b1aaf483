//! Initial noise variance.

use quaver::checkpoint::{Likelihood, ModelSpec, Target};

use crate::config::InitialNoise;
use crate::data::normal_equations::{Features, NormalEquations, observed_together};
use crate::data::{LinearPart, Scaling, Sequence};
use crate::nn::Parameters;

/// Range of the initial variance in standardised units: a channel that is constant in training may still
/// change later.
const LEAST: f64 = 1e-4;
const MOST: f64 = 1.0;

/// Smallest initial variance of a network that is not residual. Its first predictions are the means of the
/// targets, with errors of variance 1: a much smaller noise would make its first gradients all but endless.
const LEAST_LINEAR: f64 = 0.01;

/// Input rows, and penalty on their weights, of the regression that stands for the trained network.
const LAGS: usize = 2;
const PENALTY: f64 = 1.0;

/// Steps that the regression is fitted to: enough for a variance.
const MOST_STEPS: usize = 50_000;

/// Sets the initial noise variance. Otherwise it would start at 1, the variance of the targets, and spend its
/// first epochs on reducing it.
///
/// For a residual network it is the variance of the residuals in training, which is the error of its initial
/// predictions. For others it is `start`.
pub(crate) fn init_noise(
    spec: &ModelSpec,
    train: &[Sequence],
    scaling: &Scaling,
    start: InitialNoise,
    parameters: &mut Parameters,
) {
    let logs = match (spec.target.is_residual(), start) {
        (true, _) => log_variances(spec.target, train, scaling),
        (false, InitialNoise::Linear) if spec.likelihood.is_normal() => linear_errors(train, scaling),
        _ => return,
    };
    set_noise(spec, logs, parameters);
}

/// Begins with the linear part alone: the network adds nothing to its predictions, and the noise is that of
/// its training residuals.
pub(crate) fn begin_with(linear: &LinearPart, spec: &ModelSpec, parameters: &mut Parameters) {
    for name in ["output.weight", "output.bias"] {
        if let Some(list) = parameters.get_mut(name) {
            list.values.fill(0.0);
        }
    }
    set_noise(spec, linear.noise_var.iter().map(|var| libm::logf(*var)).collect(), parameters);
    parameters.clamp_to_limits();
}

/// Sets the noise variance of each output to these logarithms.
fn set_noise(spec: &ModelSpec, logs: Vec<f32>, parameters: &mut Parameters) {
    let (name, places) = match spec.likelihood {
        Likelihood::Heteroscedastic => ("output.bias", 1..),
        Likelihood::Gaussian | Likelihood::Bernoulli | Likelihood::Categorical => ("output.log_noise", 0..),
    };
    // A network with implicit variance has no noise parameter.
    if let Some(noise) = parameters.get_mut(name) {
        let places = places.step_by(spec.likelihood.rows());
        places.zip(logs).for_each(|(place, log)| noise.values[place] = log);
    }
}

/// Logarithms of the mean squared error of a linear regression of each target on the last input rows, in
/// standardised units.
fn linear_errors(train: &[Sequence], scaling: &Scaling) -> Vec<f32> {
    let mut left = MOST_STEPS;
    let part: Vec<Sequence> = train
        .iter()
        .map_while(|sequence| {
            let steps = sequence.len().min(left);
            left -= steps;
            (steps > 0 || sequence.is_empty()).then(|| sequence.slice(0..steps))
        })
        .collect();
    let features = Features { scaling, lags: LAGS };
    let outputs = scaling.targets.channels();
    let mut logs = vec![0.0; outputs];
    for group in observed_together(part.iter(), outputs) {
        let sums = NormalEquations::gather(&part, &features, &group);
        let Some(weights) = sums.ridge(features.width(LAGS), PENALTY).filter(|_| sums.n > 0) else {
            continue;
        };
        for (&output, error) in group.iter().zip(sums.squared_errors(&weights)) {
            logs[output] = libm::log((error / sums.n as f64).clamp(LEAST_LINEAR, MOST)) as f32;
        }
    }
    logs
}

/// Logarithms of the mean squared residual of each channel, relative to the previous row or to the noisy row,
/// in standardised units.
fn log_variances(target: Target, train: &[Sequence], scaling: &Scaling) -> Vec<f32> {
    let variance = |(channel, std_dev): (usize, &f32)| {
        let changes = train.iter().flat_map(|sequence| {
            let (inputs, late) = (sequence.inputs.iter(), usize::from(target == Target::ResidualNext));
            let pairs = sequence.targets.iter().skip(late).zip(inputs);
            pairs.map(move |(row, from)| f64::from(row[channel]) - f64::from(from[channel]))
        });
        let (mut count, mut sum) = (0.0, 0.0);
        for change in changes.filter(|change| !change.is_nan()) {
            (count, sum) = (count + 1.0, sum + change * change);
        }
        let variance = if count > 0.0 { sum / count / f64::from(*std_dev).powi(2) } else { MOST };
        libm::log(variance.clamp(LEAST, MOST)) as f32
    };
    scaling.targets.std_dev.iter().enumerate().map(variance).collect()
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Activation, CellKind};

    use super::*;
    use crate::data::Rows;
    use crate::nn::{TrainingMethod, test_spec};

    /// Channel 0 changes by 3 and −1 around a gap of 2 rows, channel 1 never.
    fn train() -> Vec<Sequence> {
        let values = vec![0.0, 5.0, 3.0, 5.0, f32::NAN, 5.0, 8.0, 5.0, 7.0, 5.0];
        vec![Sequence::next(Rows { channels: 2, values })]
    }

    fn begun(likelihood: Likelihood, target: Target) -> Parameters {
        let mut spec = test_spec(2, 2, &[(CellKind::Elman(Activation::Tanh), 3)]);
        (spec.likelihood, spec.target) = (likelihood, target);
        let mut parameters = Parameters::zeros_for(&spec, TrainingMethod::default());
        let train = train();
        let mut scaling = Scaling::fit(&train);
        scaling.targets.std_dev = vec![10.0, 1.0];
        init_noise(&spec, &train, &scaling, InitialNoise::One, &mut parameters);
        parameters
    }

    #[test]
    fn noise_begins_at_the_mean_squared_change() {
        // (3² + 1²)/2 in units of 10², and the least for what does not change.
        let expected = [0.05_f32.ln(), (LEAST as f32).ln()];
        let close = |found: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
        let gaussian = begun(Likelihood::Gaussian, Target::ResidualNext);
        assert!(close(&gaussian.get("output.log_noise").unwrap().values), "{gaussian:?}");
        let predicted = begun(Likelihood::Heteroscedastic, Target::ResidualNext);
        let [mean0, log0, mean1, log1] = predicted.get("output.bias").unwrap().values[..] else { panic!() };
        assert!(close(&[log0, log1]) && (mean0, mean1) == (0.0, 0.0), "{predicted:?}");
        // The inputs of these sequences are their targets: nothing to correct.
        let clean = begun(Likelihood::Gaussian, Target::ResidualSame);
        assert_eq!(clean.get("output.log_noise").unwrap().values, [(LEAST as f32).ln(); 2]);
        let next = begun(Likelihood::Gaussian, Target::Next);
        assert_eq!(next.get("output.log_noise").unwrap().values, [0.0, 0.0]);
    }

    #[test]
    fn noise_begins_at_the_error_of_a_line() {
        use crate::random::{Purpose, normal, stream};
        // y = 3 x + 0.5 noise in units of √9.25, a target that nothing explains, and one without noise.
        let mut rng = stream(1, Purpose::Initialisation);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for step in 0..4000 {
            let input = normal(&mut rng);
            x.push(input as f32);
            let noisy = if step == 7 { f32::NAN } else { (3.0 * input + 0.5 * normal(&mut rng)) as f32 };
            y.extend([noisy, normal(&mut rng) as f32, input as f32]);
        }
        let train = [Sequence::columns(Rows { channels: 1, values: x }, Rows { channels: 3, values: y })];
        let scaling = Scaling::fit(&train);
        let spec = test_spec(1, 3, &[(CellKind::Elman(Activation::Tanh), 3)]);
        let mut parameters = Parameters::zeros_for(&spec, TrainingMethod::default());
        init_noise(&spec, &train, &scaling, InitialNoise::Linear, &mut parameters);
        let noise = &parameters.get("output.log_noise").unwrap().values;
        // Variances of 4000 draws: 2.2 % standard error; the penalty of 1 is 1/4000 of the sums.
        for (found, expected) in noise.iter().zip([0.25 / 9.25, 1.0, LEAST_LINEAR]) {
            let ratio = f64::from(*found).exp() / expected;
            assert!((ratio - 1.0).abs() < 0.1, "{noise:?}: {ratio}");
        }
        let mut untouched = Parameters::zeros_for(&spec, TrainingMethod::default());
        init_noise(&spec, &train, &scaling, InitialNoise::One, &mut untouched);
        assert_eq!(untouched.get("output.log_noise").unwrap().values, [0.0; 3]);
    }
}
