//! Segments of sequences, and their speed.

use rand_core::Rng;

use crate::data::rows::Rows;
use crate::random::uniform;

/// A segment of a sequence, resampled at its own pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    /// First row.
    start: usize,
    /// Rows after resampling.
    len: usize,
    /// Rows of the sequence per resampled row.
    pace: f64,
}

impl Segment {
    /// `len` rows from a random place in a sequence of `rows` rows; nothing if it is too short.
    pub(super) fn anywhere(rows: usize, len: usize, speed: f64, rng: &mut impl Rng) -> Option<Self> {
        let pace = random_pace(speed, rng);
        let room = rows.checked_sub(span(len, pace))?;
        let start = (uniform(rng) * (room + 1) as f64) as usize;
        Some(Segment { start, len, pace })
    }

    /// The rows of the segment by linear interpolation. Next to a missing value, interpolated values are
    /// missing.
    pub(super) fn resample(&self, rows: &Rows) -> Rows {
        if self.pace == 1.0 {
            return rows.slice(self.start..self.start + self.len);
        }
        let mut values = Vec::with_capacity(self.len * rows.channels);
        for step in 0..self.len {
            let place = self.start as f64 + step as f64 * self.pace;
            let (before, share) = (place as usize, place.fract() as f32);
            let after = (before + 1).min(rows.len() - 1);
            let pairs = rows.row(before).iter().zip(rows.row(after));
            values.extend(
                pairs.map(|(one, other)| if share == 0.0 { *one } else { one + share * (other - one) }),
            );
        }
        Rows { channels: rows.channels, values }
    }
}

/// Rows of a sequence that `len` resampled rows extend over.
fn span(len: usize, pace: f64) -> usize {
    match len.checked_sub(1) {
        Some(steps) => (steps as f64 * pace).ceil() as usize + 1,
        None => 0,
    }
}

/// Maximum number of resampled rows within `rows` rows, of which there is at least one.
fn fitting(rows: usize, pace: f64) -> usize {
    ((rows - 1) as f64 / pace) as usize + 1
}

fn random_pace(speed: f64, rng: &mut impl Rng) -> f64 {
    if speed == 0.0 { 1.0 } else { libm::exp(speed * (2.0 * uniform(rng) - 1.0)) }
}

/// Splits a sequence of `rows` rows into segments of `len` rows (0 for a single one), each at its own pace.
/// The first one has a random length up to `len`, so that the boundaries differ between epochs; the last one
/// takes the remaining rows. A single one leaves out the rows after its last step, fewer than a step.
pub(super) fn cut(rows: usize, len: usize, speed: f64, rng: &mut impl Rng) -> Vec<Segment> {
    if len == 0 {
        let pace = random_pace(speed, rng);
        return if rows == 0 {
            Vec::new()
        } else {
            vec![Segment { start: 0, len: fitting(rows, pace), pace }]
        };
    }
    let mut segments = Vec::new();
    let mut start = 0;
    let mut next = 1 + (uniform(rng) * len as f64) as usize;
    while start < rows {
        let pace = random_pace(speed, rng);
        let segment = Segment { start, len: next.min(fitting(rows - start, pace)), pace };
        start += span(segment.len, pace);
        segments.push(segment);
        next = len;
    }
    segments
}
