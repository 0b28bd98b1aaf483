//! Signal-to-noise ratio of an estimate whose clean signal is known.

use serde::Serialize;

use crate::data::Rows;

/// Signal-to-noise ratio of an estimate.
///
/// Of a channel: 10 log₁₀ Σ_t (x_t − x̄)² / Σ_t (x̂_t − x_t)² in decibels, with the clean signal x, its mean
/// x̄ over the same rows (an offset is no signal) and the estimate x̂. A value counts if both its clean and
/// its noisy version were observed, so that all estimates of the same rows are scored on the same values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SignalToNoise {
    /// Mean over the channels, in decibels.
    pub snr_db: f64,
    /// Root mean squared error over all values, in raw units.
    pub rmse: f64,
    /// Number of values.
    pub n: usize,
    /// Every channel with a signal, which a constant channel does not have.
    pub per_channel: Vec<ChannelSnr>,
}

/// Signal-to-noise ratio of one channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelSnr {
    /// Name of the channel.
    pub name: String,
    /// In decibels.
    pub snr_db: f64,
    /// Root mean squared error, in raw units.
    pub rmse: f64,
    /// Number of values.
    pub n: usize,
}

/// One sequence: clean, noisy and denoised.
#[derive(Clone, Copy, Debug)]
pub struct DenoisedSequence<'a> {
    /// The clean signal.
    pub truth: &'a Rows,
    /// The noisy signal.
    pub noisy: &'a Rows,
    /// The estimate to score.
    pub estimate: &'a Rows,
}

/// Scores estimates of sequences; nothing if no channel has a signal.
pub fn signal_to_noise(names: &[String], sequences: &[DenoisedSequence<'_>]) -> Option<SignalToNoise> {
    let sums: Vec<Sums> = (0..names.len()).map(|channel| Sums::of(channel, sequences)).collect();
    let scored = names.iter().zip(&sums).filter(|(_, sums)| sums.signal > 0.0);
    let per_channel: Vec<ChannelSnr> = scored
        .map(|(name, sums)| ChannelSnr {
            name: name.clone(),
            snr_db: 10.0 * (sums.signal / sums.noise).log10(),
            rmse: (sums.noise / sums.n as f64).sqrt(),
            n: sums.n,
        })
        .collect();
    let n: usize = sums.iter().map(|sums| sums.n).sum();
    let noise: f64 = sums.iter().map(|sums| sums.noise).sum();
    (!per_channel.is_empty()).then(|| SignalToNoise {
        snr_db: per_channel.iter().map(|channel| channel.snr_db).sum::<f64>() / per_channel.len() as f64,
        rmse: (noise / n as f64).sqrt(),
        n,
        per_channel,
    })
}

/// Sums of squares over one channel.
struct Sums {
    signal: f64,
    noise: f64,
    n: usize,
}

impl Sums {
    fn of(channel: usize, sequences: &[DenoisedSequence<'_>]) -> Self {
        let values = || {
            let of_sequence = |sequence: &DenoisedSequence<'_>| {
                let DenoisedSequence { truth, noisy, estimate } = *sequence;
                let rows = truth.iter().zip(noisy.iter()).zip(estimate.iter());
                let observed = rows.filter(move |((t, n), _)| !t[channel].is_nan() && !n[channel].is_nan());
                observed
                    .map(move |((t, _), e)| (f64::from(t[channel]), f64::from(e[channel])))
                    .collect::<Vec<_>>()
            };
            sequences.iter().flat_map(of_sequence)
        };
        let (n, sum) = values().fold((0, 0.0), |(n, sum), (truth, _)| (n + 1, sum + truth));
        let mean = sum / n.max(1) as f64;
        let squares = |(signal, noise): (f64, f64), (truth, estimate): (f64, f64)| {
            (signal + (truth - mean).powi(2), noise + (estimate - truth).powi(2))
        };
        let (signal, noise) = values().fold((0.0, 0.0), squares);
        Sums { signal, noise, n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f32]) -> Rows {
        Rows { channels: 2, values: values.to_vec() }
    }

    #[test]
    fn the_definition_by_hand() {
        // Signal of the first channel: 1 + 0 + 1 about its mean 11; the third row of it was not observed.
        let truth = rows(&[10.0, 5.0, 12.0, 5.0, 99.0, 5.0]);
        let noisy = rows(&[10.2, 5.0, 11.8, 5.0, f32::NAN, 5.0]);
        let estimate = rows(&[10.1, 5.0, 11.9, 5.0, 0.0, 5.0]);
        let names = ["a".to_string(), "still".to_string()];
        let score = |estimate: &Rows| {
            signal_to_noise(&names, &[DenoisedSequence { truth: &truth, noisy: &noisy, estimate }]).unwrap()
        };
        let (before, after) = (score(&noisy), score(&estimate));
        assert_eq!(before.per_channel.len(), 1, "a constant channel has no signal");
        assert_eq!((after.per_channel[0].n, after.n), (2, 5));
        assert!((before.snr_db - 10.0 * (2.0_f64 / 0.08).log10()).abs() < 1e-4);
        assert!((after.snr_db - before.snr_db - 20.0 * 2.0_f64.log10()).abs() < 1e-4, "half the error: 6 dB");
        assert!((after.per_channel[0].rmse - 0.1).abs() < 1e-6);
        let still = rows(&[1.0; 4]);
        assert!(
            signal_to_noise(&names, &[DenoisedSequence { truth: &still, noisy: &still, estimate: &still }])
                .is_none()
        );
    }
}
