//! From readings of an ADC to envelopes of EMG.
//!
//! The amplifier is biased to the middle of the ADC's range. The slow part of each channel is removed, the
//! remainder is rectified and averaged over a window: the mean absolute value, which `grip_force.qvr` was
//! trained on. A channel with a reading near either rail is missing for that window: an electrode that has
//! come off lets its amplifier drift there.

/// Readings per second and channel.
pub const SAMPLE_RATE_HZ: u32 = 1000;
/// Readings per row: rows at 50 Hz.
pub const WINDOW: usize = SAMPLE_RATE_HZ as usize / crate::models::GRIP_RATE_HZ as usize;
/// Units of the model: the converter that it was trained with has ±128 counts.
const MODEL_COUNTS: f32 = 128.0;
/// Part of the range on either side in which an amplifier saturates.
const RAIL: f32 = 0.01;
/// Weight of a reading in the running mean of a channel: a time constant of a quarter of a second.
const BASELINE_WEIGHT: f32 = 1.0 / 256.0;

/// Envelopes of `N` channels.
#[derive(Clone, Debug)]
pub struct Envelopes<const N: usize> {
    full_scale: f32,
    baseline: [Option<f32>; N],
    sum: [f32; N],
    count: usize,
}

impl<const N: usize> Envelopes<N> {
    /// For an ADC whose readings are 0 to `full_scale`.
    pub const fn new(full_scale: u16) -> Self {
        Envelopes { full_scale: full_scale as f32, baseline: [None; N], sum: [0.0; N], count: 0 }
    }

    /// Adds one reading of each channel; a row at the end of each window.
    pub fn add(&mut self, readings: &[u16; N]) -> Option<[f32; N]> {
        let rail = RAIL * self.full_scale;
        for ((sum, baseline), reading) in self.sum.iter_mut().zip(&mut self.baseline).zip(readings) {
            let reading = f32::from(*reading);
            if !(rail..=self.full_scale - rail).contains(&reading) {
                // NaN stays until the end of the window. The baseline begins again when the electrode is
                // back.
                *sum = f32::NAN;
                *baseline = None;
                continue;
            }
            let mean = baseline.get_or_insert(reading);
            *mean += BASELINE_WEIGHT * (reading - *mean);
            *sum += (reading - *mean).abs();
        }
        self.count += 1;
        (self.count == WINDOW).then(|| self.end_window())
    }

    fn end_window(&mut self) -> [f32; N] {
        let scale = MODEL_COUNTS / (self.full_scale / 2.0) / WINDOW as f32;
        let row = self.sum.map(|sum| sum * scale);
        self.sum = [0.0; N];
        self.count = 0;
        row
    }
}

/// A row for a model with `M` inputs from `N` channels: the others are missing.
pub fn widened<const N: usize, const M: usize>(row: &[f32; N]) -> [f32; M] {
    let mut wide = [f32::NAN; M];
    wide.iter_mut().zip(row).for_each(|(wide, value)| *wide = *value);
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of readings that alternate around the middle by so many counts.
    fn windows<const N: usize>(
        envelopes: &mut Envelopes<N>,
        count: usize,
        readings: impl Fn(usize) -> [u16; N],
    ) -> [f32; N] {
        let rows = (0..count * WINDOW).filter_map(|index| envelopes.add(&readings(index)));
        rows.last().expect("a whole window")
    }

    /// A square wave of amplitude a has the mean absolute value a, whatever its bias.
    #[test]
    fn a_square_wave_has_its_amplitude() {
        let wave = |index: usize, bias: u16, half: u16| {
            if index.is_multiple_of(2) { bias + half } else { bias - half }
        };
        let mut envelopes = Envelopes::new(4095);
        let row = windows(&mut envelopes, 100, |index| [wave(index, 2048, 160), wave(index, 1500, 320)]);
        // 160 of 2047.5 counts are 10.0 of 128; the running mean follows each reading by 1/256 of its
        // distance.
        let expected = [10.0, 20.0].map(|value: f32| value * (160.0 * 128.0 / 2047.5 / 10.0));
        for (value, expected) in row.iter().zip(expected) {
            assert!((value - expected).abs() < 0.01 * expected, "{value} {expected}");
        }
    }

    #[test]
    fn an_electrode_that_is_off_is_missing_until_it_is_back() {
        let mut envelopes = Envelopes::new(4095);
        let row = windows(&mut envelopes, 1, |index| [2048, if index == 3 { 4095 } else { 2048 }, 2048]);
        assert!(!row[0].is_nan() && row[1].is_nan() && !row[2].is_nan());
        assert!(windows(&mut envelopes, 1, |_| [2048, 5, 2048])[1].is_nan());
        assert_eq!(windows(&mut envelopes, 1, |_| [2048, 1000, 2048]), [0.0; 3]);
    }

    #[test]
    fn channels_that_a_board_does_not_have_are_missing() {
        let row: [f32; 3] = widened(&[1.0, 2.0]);
        assert!(row[..2] == [1.0, 2.0] && row[2].is_nan());
    }
}
