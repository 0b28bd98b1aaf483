//! Noise added to clean recordings, so that denoising can be scored against the clean signal.

use rand_core::Rng;

use super::rows::{Rows, Sequence};
use super::scaler::Scaler;
use crate::config::AddedNoiseConfig;
use crate::random::{Purpose, normal, stream, uniform};

impl AddedNoiseConfig {
    /// Adds noise to the inputs of all splits, the first of which is the training split, and returns the
    /// noise for later epochs. Every sequence has its own random stream, independent of the other sequences.
    pub(crate) fn add(&self, splits: [&mut Vec<Sequence>; 3]) -> FreshNoise {
        let channels = splits[0].first().map_or(0, |first| first.inputs.channels);
        let train = splits[0].iter().map(|sequence| sequence.inputs.as_ref());
        let std_devs = Scaler::fit(channels, train).std_dev;
        for (split, sequences) in splits.into_iter().enumerate() {
            for (index, sequence) in sequences.iter_mut().enumerate() {
                let purpose = Purpose::AddedNoise { split: split as u64, sequence: index as u64 };
                let noisy = self.on(&sequence.inputs, &std_devs, &mut stream(self.seed, purpose));
                *sequence = sequence.with_noisy_inputs(noisy);
            }
        }
        FreshNoise { noise: *self, std_devs }
    }

    /// Rows with noise. A missing value stays missing.
    fn on(&self, rows: &Rows, std_devs: &[f32], rng: &mut impl Rng) -> Rows {
        // A ratio of powers is a ratio of squares: half as many decibels for standard deviations.
        let scale = self.snr_db.map(|db| 10_f64.powf(-db / 20.0));
        let mut noisy = |(place, value): (usize, &f32)| match (scale, self.on) {
            (Some(scale), _) => value + (scale * normal(rng)) as f32 * std_devs[place % std_devs.len()],
            (None, Some(p)) if uniform(rng) < p && !value.is_nan() => 1.0,
            _ => *value,
        };
        let values = rows.values.iter().enumerate().map(&mut noisy).collect();
        Rows { channels: rows.channels, values }
    }
}

/// Noise that training rows get in every epoch, so that a network cannot memorise it.
#[derive(Clone, Debug, PartialEq)]
pub struct FreshNoise {
    noise: AddedNoiseConfig,
    /// Standard deviation of every channel over the clean training split.
    std_devs: Vec<f32>,
}

impl FreshNoise {
    /// The training sequences of an epoch, counted from 1. The noise depends only on its seed and the epoch,
    /// so that a resumed run gets the same noise.
    pub fn on_epoch(&self, train: &[Sequence], epoch: u64) -> Vec<Sequence> {
        let renewed = |(index, sequence): (u64, &Sequence)| {
            let clean = sequence.truth.as_ref().unwrap_or(&sequence.inputs);
            let mut rng = stream(self.noise.seed, Purpose::FreshNoise { epoch, sequence: index });
            sequence.with_noisy_inputs(self.noise.on(clean, &self.std_devs, &mut rng))
        };
        (0..).zip(train).map(renewed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quaver::checkpoint::Target;

    const STEPS: usize = 20_000;

    fn waves() -> Vec<Sequence> {
        let value = |t: usize| [(t as f32 * 0.1).sin(), 50.0 + 8.0 * (t as f32 * 0.07).cos()];
        vec![Sequence::next(Rows { channels: 2, values: (0..STEPS).flat_map(value).collect() })]
    }

    #[test]
    fn every_channel_has_the_ratio_asked_for() {
        let (mut train, mut test) = (waves(), waves());
        AddedNoiseConfig { snr_db: Some(5.0), on: None, seed: 1, fresh: None }.add([
            &mut train,
            &mut Vec::new(),
            &mut test,
        ]);
        for sequence in [&train[0], &test[0]] {
            let clean = sequence.truth.as_ref().unwrap();
            assert_eq!(**clean, *waves()[0].inputs);
            assert_eq!((sequence.target, &sequence.inputs), (Target::Next, &sequence.targets));
            for (channel, power) in [(0, 0.5), (1, 32.0)] {
                let squares: f32 = sequence
                    .inputs
                    .iter()
                    .zip(clean.iter())
                    .map(|(n, c)| (n[channel] - c[channel]).powi(2))
                    .sum();
                let db = 10.0 * (power / (squares / STEPS as f32)).log10();
                // The variance of 20 000 normal numbers is within 4 %, which is 0.17 dB, four times in a
                // thousand.
                assert!((db - 5.0).abs() < 0.2, "{db}");
            }
        }
        assert_ne!(train[0].inputs, test[0].inputs, "splits have noise of their own");
    }

    #[test]
    fn notes_are_switched_on_and_never_off() {
        let values = (0..STEPS).map(|t| if t % 7 == 3 { f32::NAN } else { (t % 2) as f32 }).collect();
        let mut train = vec![Sequence::next(Rows { channels: 2, values })];
        AddedNoiseConfig { snr_db: None, on: Some(0.05), seed: 1, fresh: None }.add([
            &mut train,
            &mut Vec::new(),
            &mut Vec::new(),
        ]);
        let clean = train[0].truth.as_ref().unwrap();
        let pairs = || clean.values.iter().zip(&train[0].inputs.values);
        assert!(pairs().all(|(c, n)| c.is_nan() == n.is_nan() && !(*c == 1.0 && *n != 1.0)));
        let (off, on) = pairs()
            .filter(|(c, _)| **c == 0.0)
            .fold((0, 0), |(all, on), (_, n)| (all + 1, on + i32::from(*n == 1.0)));
        assert!((f64::from(on) / f64::from(off) - 0.05).abs() < 0.01, "{on} of {off}");
    }

    #[test]
    fn every_epoch_has_noise_of_its_own_on_the_same_truth() {
        let mut train = waves();
        let noise = AddedNoiseConfig { snr_db: Some(5.0), on: None, seed: 1, fresh: None };
        let fresh = noise.add([&mut train, &mut Vec::new(), &mut Vec::new()]);
        let [first, second] = [1, 2].map(|epoch| fresh.on_epoch(&train, epoch));
        assert_eq!(first, fresh.on_epoch(&train, 1));
        // An epoch that follows another has the noise of its own number, not one on top of the other's.
        assert_eq!(second, fresh.on_epoch(&first, 2));
        for pair in [[&train, &first], [&first, &second]] {
            let [one, other] = pair.map(|sequences| &sequences[0]);
            assert_eq!((&one.truth, one.target), (&other.truth, other.target));
            assert_eq!(one.inputs, one.targets, "a sequence that predicts itself predicts what it is fed");
            let apart = one.inputs.values.iter().zip(&other.inputs.values).filter(|(a, b)| a != b).count();
            assert!(apart > 2 * STEPS - 10, "{apart}");
        }
    }
}
