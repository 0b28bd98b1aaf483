//! What sensors do when they fail.

use std::ops::Range;

use rand_core::Rng;
use serde::Serialize;

use crate::data::{Rows, Scaler};
use crate::random::{normal, uniform};

/// A fault of one channel. Strengths are in training standard deviations of the channel (σ) or in rows;
/// missing readings stay missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Repeats its last reading before the fault.
    StuckAtLast,
    /// Reads its training mean.
    StuckAtMean,
    /// Reads its training mean with independent normal noise of so many σ: disconnected, but not silent.
    Dead(f32),
    /// One reading in [`SPIKE_EVERY`], on average, is off by ± so many σ.
    Spikes(f32),
    /// Reads the next channel, and the next channel this one.
    Swapped,
    /// The same with the channel half the channels away.
    SwappedFar,
    /// Readings are clipped to the training mean ± so many σ.
    Saturation(f32),
    /// The distance from the training mean is multiplied by a factor that goes from 1 to this one in the
    /// course of the fault.
    GainDrift(f32),
    /// Readings are off by so many σ, upwards in one stretch and downwards in the next.
    Offset(f32),
    /// Readings come so many rows late.
    Delay(usize),
    /// Independent normal noise of so many σ is added to every reading.
    Noise(f32),
}

/// Rows per spike, on average.
pub const SPIKE_EVERY: usize = 20;

/// The faults of an evaluation, each at its strengths.
pub const FAULTS: [Fault; 19] = [
    Fault::StuckAtLast,
    Fault::StuckAtMean,
    Fault::Dead(0.05),
    Fault::Spikes(3.0),
    Fault::Spikes(10.0),
    Fault::Swapped,
    Fault::SwappedFar,
    Fault::Saturation(1.0),
    Fault::Saturation(0.5),
    Fault::GainDrift(0.5),
    Fault::GainDrift(2.0),
    Fault::Offset(0.5),
    Fault::Offset(1.0),
    Fault::Offset(2.0),
    Fault::Delay(5),
    Fault::Delay(20),
    Fault::Noise(0.5),
    Fault::Noise(1.0),
    Fault::Noise(2.0),
];

impl Fault {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Fault::StuckAtLast | Fault::StuckAtMean => "stuck",
            Fault::Dead(_) => "dead",
            Fault::Spikes(_) => "spikes",
            Fault::Swapped | Fault::SwappedFar => "swapped",
            Fault::Saturation(_) => "saturation",
            Fault::GainDrift(_) => "gain drift",
            Fault::Offset(_) => "offset",
            Fault::Delay(_) => "delay",
            Fault::Noise(_) => "noise",
        }
    }

    /// Its strength with its unit.
    pub fn strength(self) -> String {
        match self {
            Fault::StuckAtLast => "at the last value".into(),
            Fault::StuckAtMean => "at the mean".into(),
            Fault::Spikes(size) | Fault::Offset(size) => format!("±{size} σ"),
            Fault::Swapped => "with the next".into(),
            Fault::SwappedFar => "half way round".into(),
            Fault::Saturation(limit) => format!("at ±{limit} σ"),
            Fault::GainDrift(factor) => format!("to × {factor}"),
            Fault::Delay(rows) => format!("{rows} rows"),
            Fault::Noise(size) | Fault::Dead(size) => format!("{size} σ"),
        }
    }

    /// Whether recordings of this many channels can have it. Of three channels, the one half way round is the
    /// next.
    pub(super) fn is_possible(self, channels: usize) -> bool {
        match self {
            Fault::Swapped => channels >= 2,
            Fault::SwappedFar => channels >= 4,
            _ => true,
        }
    }

    /// The channels whose readings it changes, given one of them.
    pub(super) fn channels(self, channel: usize, channels: usize) -> Vec<usize> {
        match self {
            Fault::Swapped => vec![channel, (channel + 1) % channels],
            Fault::SwappedFar => vec![channel, (channel + channels / 2) % channels],
            _ => vec![channel],
        }
    }

    /// The recording with this fault in stretches of a channel.
    pub(super) fn apply(
        self,
        rows: &Rows,
        channel: usize,
        stretches: &[Range<usize>],
        scaler: &Scaler,
        rng: &mut impl Rng,
    ) -> Rows {
        let mut faulty = rows.clone();
        let mut sign = 1.0;
        for stretch in stretches {
            let context = StretchContext { rows, channel, stretch, sign, scaler };
            for row in stretch.clone() {
                for affected in self.channels(channel, rows.channels) {
                    if !rows.row(row)[affected].is_nan() {
                        faulty.values[row * rows.channels + affected] =
                            self.reading(&context, row, affected, rng);
                    }
                }
            }
            sign = -sign;
        }
        faulty
    }

    /// The faulty reading of one row.
    fn reading(self, at: &StretchContext<'_>, row: usize, affected: usize, rng: &mut impl Rng) -> f32 {
        let value = at.rows.row(row)[affected];
        let (mean, std_dev) = (at.scaler.mean[affected], at.scaler.std_dev[affected]);
        match self {
            Fault::StuckAtLast => at.last_before(at.stretch.start).unwrap_or(mean),
            Fault::StuckAtMean => mean,
            Fault::Dead(size) => mean + size * std_dev * normal(rng) as f32,
            Fault::Spikes(size) => {
                let (spike, sign) = (uniform(rng) < 1.0 / SPIKE_EVERY as f64, uniform(rng) < 0.5);
                let size = if sign { size } else { -size };
                if spike { value + size * std_dev } else { value }
            }
            Fault::Swapped | Fault::SwappedFar => {
                let other = at.rows.row(row);
                let partner = self.channels(at.channel, other.len()).into_iter().find(|c| *c != affected);
                partner.map(|partner| other[partner]).filter(|read| !read.is_nan()).unwrap_or(value)
            }
            Fault::Saturation(limit) => value.clamp(mean - limit * std_dev, mean + limit * std_dev),
            Fault::GainDrift(factor) => {
                let progress = (row + 1 - at.stretch.start) as f32 / at.stretch.len() as f32;
                mean + (value - mean) * (1.0 + (factor - 1.0) * progress)
            }
            Fault::Offset(size) => value + at.sign * size * std_dev,
            Fault::Delay(late) => at.last_before((row + 1).saturating_sub(late)).unwrap_or(mean),
            Fault::Noise(size) => value + size * std_dev * normal(rng) as f32,
        }
    }
}

/// A stretch with a fault.
struct StretchContext<'a> {
    rows: &'a Rows,
    channel: usize,
    stretch: &'a Range<usize>,
    /// Direction of an offset.
    sign: f32,
    scaler: &'a Scaler,
}

impl StretchContext<'_> {
    /// The last reading of the channel before a row.
    fn last_before(&self, row: usize) -> Option<f32> {
        let readings = (0..row).rev().map(|row| self.rows.row(row)[self.channel]);
        readings.take(MOST_LOOKBACK).find(|reading| !reading.is_nan())
    }
}

/// How far back the last reading of a channel is looked for, in rows.
const MOST_LOOKBACK: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    const NAN: f32 = f32::NAN;

    /// Channel a is 0, 1, 2, …, channel b ten times that.
    fn ramps(steps: u16) -> Rows {
        Rows {
            channels: 2,
            values: (0..steps).flat_map(|step| [f32::from(step), 10.0 * f32::from(step)]).collect(),
        }
    }

    fn scaler() -> Scaler {
        Scaler { mean: vec![4.0, 40.0], std_dev: vec![2.0, 20.0] }
    }

    fn applied(fault: Fault, rows: &Rows, stretches: &[Range<usize>]) -> Rows {
        fault.apply(rows, 0, stretches, &scaler(), &mut stream(1, Purpose::Initialisation))
    }

    fn channel(fault: Fault) -> Vec<f32> {
        let (rows, stretches) = (ramps(8), [2..5, 6..8]);
        let faulty = applied(fault, &rows, &stretches);
        for row in [0, 1, 5] {
            assert_eq!(faulty.row(row), rows.row(row), "{fault:?}: outside the stretches nothing changes");
        }
        if fault != Fault::Swapped {
            assert_eq!(faulty.columns(&[1]), rows.columns(&[1]), "{fault:?}: the other channel stays");
        }
        faulty.columns(&[0]).values
    }

    #[test]
    fn every_fault_does_what_it_says() {
        assert_eq!(channel(Fault::StuckAtLast), [0.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0]);
        assert_eq!(channel(Fault::StuckAtMean), [0.0, 1.0, 4.0, 4.0, 4.0, 5.0, 4.0, 4.0]);
        assert_eq!(channel(Fault::Swapped), [0.0, 1.0, 20.0, 30.0, 40.0, 5.0, 60.0, 70.0]);
        assert_eq!(channel(Fault::Saturation(0.5)), [0.0, 1.0, 3.0, 3.0, 4.0, 5.0, 5.0, 5.0]);
        assert_eq!(channel(Fault::Offset(1.0)), [0.0, 1.0, 4.0, 5.0, 6.0, 5.0, 4.0, 5.0]);
        assert_eq!(channel(Fault::Delay(2)), [0.0, 1.0, 0.0, 1.0, 2.0, 5.0, 4.0, 5.0]);
        // −2, −1, 0 times 4/3, 5/3, 2 and then 2, 3 times 1.5, 2.
        let drift = channel(Fault::GainDrift(2.0));
        let expected = [0.0, 1.0, 4.0 - 8.0 / 3.0, 4.0 - 5.0 / 3.0, 4.0, 5.0, 7.0, 10.0];
        assert!(
            drift.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5),
            "{drift:?}"
        );
    }

    #[test]
    fn the_partner_of_a_swap_reads_the_other() {
        let rows = ramps(4);
        let faulty = applied(Fault::Swapped, &rows, std::slice::from_ref(&(1..3)));
        assert_eq!(faulty.columns(&[1]).values, [0.0, 1.0, 2.0, 30.0]);
    }

    #[test]
    fn a_channel_half_way_round_is_swapped_where_it_is_not_the_next() {
        let rows = Rows { channels: 4, values: (0..16_u16).map(f32::from).collect() };
        let scaler = Scaler { mean: vec![0.0; 4], std_dev: vec![1.0; 4] };
        let mut rng = stream(1, Purpose::Initialisation);
        let faulty = Fault::SwappedFar.apply(&rows, 3, std::slice::from_ref(&(1..2)), &scaler, &mut rng);
        assert_eq!(faulty.row(1), [4.0, 7.0, 6.0, 5.0]);
        assert_eq!((faulty.row(0), faulty.row(2)), (rows.row(0), rows.row(2)));
        assert_eq!([3, 4].map(|channels| Fault::SwappedFar.is_possible(channels)), [false, true]);
        assert!(!Fault::Swapped.is_possible(1) && Fault::Noise(1.0).is_possible(1));
    }

    #[test]
    fn random_faults_have_their_rate_and_size() {
        let rows = ramps(20_000);
        let difference = |fault: Fault| -> Vec<f32> {
            let faulty = applied(fault, &rows, std::slice::from_ref(&(0..20_000)));
            faulty.values.iter().zip(&rows.values).step_by(2).map(|(faulty, value)| faulty - value).collect()
        };
        let spikes: Vec<f32> =
            difference(Fault::Spikes(3.0)).into_iter().filter(|size| *size != 0.0).collect();
        assert!(spikes.iter().all(|size| (size.abs() - 6.0).abs() < 0.01), "three times 2, of both signs");
        // 1000 expected, 4 √1000 apart at most.
        assert!((spikes.len() as f64 - 1000.0).abs() < 130.0, "{}", spikes.len());
        assert!(spikes.iter().any(|size| *size > 0.0) && spikes.iter().any(|size| *size < 0.0));
        let noise = difference(Fault::Noise(0.5));
        let variance = noise.iter().map(|value| value * value).sum::<f32>() / 20_000.0;
        assert!((variance - 1.0).abs() < 0.05, "half of 2, squared: {variance}");
        let dead = applied(Fault::Dead(0.5), &rows, std::slice::from_ref(&(0..20_000))).columns(&[0]).values;
        let variance = dead.iter().map(|value| (value - 4.0).powi(2)).sum::<f32>() / 20_000.0;
        assert!((variance - 1.0).abs() < 0.05, "around the mean: {variance}");
    }

    #[test]
    fn missing_readings_stay_missing_and_are_not_repeated() {
        let mut rows = ramps(6);
        for row in [1, 3] {
            rows.values[2 * row] = NAN;
        }
        let stuck = applied(Fault::StuckAtLast, &rows, std::slice::from_ref(&(2..5))).columns(&[0]).values;
        assert_eq!((stuck[2], stuck[4]), (0.0, 0.0), "row 1 had no reading");
        assert!(stuck[3].is_nan());
        let from_the_start =
            applied(Fault::StuckAtLast, &rows, std::slice::from_ref(&(0..2))).columns(&[0]).values;
        assert_eq!(from_the_start[0], 4.0, "nothing precedes: the training mean");
    }
}
