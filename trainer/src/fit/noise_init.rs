//! Initial noise variance of a residual network.

use quaver::checkpoint::{Likelihood, ModelSpec, Target};

use crate::data::{Scaling, Sequence};
use crate::nn::Parameters;

/// Range of the initial variance in standardised units: a channel that is constant in training may still
/// change later.
const LEAST: f64 = 1e-4;
const MOST: f64 = 1.0;

/// Sets the initial noise variance of a residual network to the variance of the residuals in training, which
/// is the error of its initial predictions. Otherwise it would start at 1, the variance of the targets, and
/// spend its first epochs on reducing it.
pub(crate) fn init_noise(
    spec: &ModelSpec,
    train: &[Sequence],
    scaling: &Scaling,
    parameters: &mut Parameters,
) {
    if !spec.target.is_residual() {
        return;
    }
    let logs = log_variances(spec.target, train, scaling);
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
        init_noise(&spec, &train, &scaling, &mut parameters);
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
}
