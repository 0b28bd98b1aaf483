//! Denoising scores of a model and of classical filters, on the same rows.

use serde::Serialize;

use super::baselines::linear_estimate;
use super::filters::{ConstantVelocity, Exponential, FilterBank, OneEuro, Tunable};
use super::snr::{DenoisedSequence, SignalToNoise, signal_to_noise};
use crate::data::{Dataset, Rows, Sequence};

/// Estimates of clean rows by one method, and their scores.
#[derive(Clone, Debug, Serialize)]
pub struct Denoising {
    /// The method.
    pub name: String,
    /// How it works, and what it was fitted on.
    pub detail: String,
    /// Its scores.
    #[serde(flatten)]
    pub scores: SignalToNoise,
}

/// Scores of the noisy rows, of a model's estimates and, `with_filters`, of filters tuned on the training
/// data; empty if the clean rows are not known. The filters are causal.
pub fn denoising(
    data: &Dataset,
    sequences: &[Sequence],
    estimates: &[Rows],
    with_filters: bool,
) -> Vec<Denoising> {
    let score = |name: &str, detail: &str, estimates: &[Rows]| {
        let compared = |(sequence, estimate)| compared(sequence, estimate);
        let compared: Option<Vec<DenoisedSequence<'_>>> =
            sequences.iter().zip(estimates).map(compared).collect();
        let scores = signal_to_noise(&data.input_names, &compared?)?;
        Some(Denoising { name: name.into(), detail: detail.into(), scores })
    };
    let noisy: Vec<Rows> = sequences.iter().map(|sequence| Rows::clone(&sequence.inputs)).collect();
    let own = [
        score("noisy rows", "as they are", &noisy),
        score("this model", "past and present rows of all channels", estimates),
    ];
    if !with_filters {
        return own.into_iter().flatten().collect();
    }
    let linear = linear_estimate(data, sequences);
    let linear = linear.map(|(detail, estimates)| score("linear, all channels", &detail, &estimates));
    let filters = [
        filtered::<Exponential, 1>(data, sequences, score),
        filtered::<OneEuro, 3>(data, sequences, score),
        filtered::<ConstantVelocity, 1>(data, sequences, score),
        linear.flatten(),
    ];
    own.into_iter().chain(filters).flatten().collect()
}

fn compared<'a>(sequence: &'a Sequence, estimate: &'a Rows) -> Option<DenoisedSequence<'a>> {
    sequence.truth.as_deref().map(|truth| DenoisedSequence { truth, noisy: &sequence.inputs, estimate })
}

/// The score of a filter that is tuned on the training data, channel by channel.
fn filtered<F: Tunable<N>, const N: usize>(
    data: &Dataset,
    sequences: &[Sequence],
    score: impl Fn(&str, &str, &[Rows]) -> Option<Denoising>,
) -> Option<Denoising> {
    let bank: FilterBank<F> = FilterBank::tune(&data.train)?;
    let estimates: Vec<Rows> = sequences.iter().map(|sequence| bank.estimate(&sequence.inputs)).collect();
    score(
        F::NAME,
        &format!("{}; tuned for each channel on the training data and their truth", F::DETAIL),
        &estimates,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AddedNoiseConfig;
    fn wave(steps: usize, phase: f32) -> Sequence {
        let value = |t: usize| {
            let angle = t as f32 * 0.15 + phase;
            [angle.sin(), 3.0 * angle.sin() + 7.0]
        };
        Sequence::next(Rows { channels: 2, values: (0..steps).flat_map(value).collect() })
    }

    #[test]
    fn filters_gain_and_channels_that_know_each_other_gain_more() {
        let (mut train, mut valid, mut test) =
            (vec![wave(1500, 0.0)], vec![wave(500, 1.0)], vec![wave(500, 2.0)]);
        AddedNoiseConfig { snr_db: Some(3.0), on: None, seed: 2, fresh: None }
            .add([&mut train, &mut valid, &mut test]);
        let data = Dataset::of([train, valid, test.clone()], &["a", "b"]);
        let perfect: Vec<Rows> = test.iter().map(|s| Rows::clone(s.truth.as_ref().unwrap())).collect();
        let found = denoising(&data, &test, &perfect, true);
        let names: Vec<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
        let expected =
            ["noisy rows", "this model", "exponential average", "one-euro", "Kalman", "linear, all channels"];
        assert_eq!(names, expected);
        let snr: Vec<f64> = found.iter().map(|entry| entry.scores.snr_db).collect();
        assert!((snr[0] - 3.0).abs() < 0.6, "what was put on: {}", snr[0]);
        assert_eq!(snr[1], f64::INFINITY, "the truth itself has no noise");
        let best = snr[2..5].iter().copied().fold(f64::MIN, f64::max);
        assert!(snr[2..5].iter().all(|snr_db| *snr_db > snr[0] + 4.0), "smoothing helps: {snr:?}");
        assert!(snr[5] > best + 2.0, "a sine in two channels is linear in few rows: {snr:?}");
        let unknown = [Sequence { truth: None, ..test[0].clone() }];
        assert!(denoising(&data, &unknown, &perfect, true).is_empty());
        let own = denoising(&data, &test, &perfect, false);
        assert_eq!(own.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), expected[..2]);
    }
}
