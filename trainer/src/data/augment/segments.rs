//! Where sequences are cut, and how fast time runs in between.

use rand_core::Rng;

use crate::data::rows::Rows;
use crate::random::uniform;

/// A stretch of a sequence, read at its own pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    /// First row.
    start: usize,
    /// Rows to come of it.
    len: usize,
    /// Rows of the sequence per row to come.
    pace: f64,
}

impl Segment {
    /// `len` rows from anywhere in a sequence of `rows`; nothing if it is too short.
    pub(super) fn anywhere(rows: usize, len: usize, speed: f64, rng: &mut impl Rng) -> Option<Self> {
        let pace = random_pace(speed, rng);
        let room = rows.checked_sub(span(len, pace))?;
        let start = (uniform(rng) * (room + 1) as f64) as usize;
        Some(Segment { start, len, pace })
    }

    /// These rows, on straight lines between those that there are. Beside a missing value, what lies in between is missing.
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

/// Rows of a sequence that `len` rows at a pace reach over.
fn span(len: usize, pace: f64) -> usize {
    match len.checked_sub(1) {
        Some(steps) => (steps as f64 * pace).ceil() as usize + 1,
        None => 0,
    }
}

/// Most rows at a pace that reach over no more than `rows`, of which there is at least one.
fn fitting(rows: usize, pace: f64) -> usize {
    ((rows - 1) as f64 / pace) as usize + 1
}

fn random_pace(speed: f64, rng: &mut impl Rng) -> f64 {
    if speed == 0.0 { 1.0 } else { libm::exp(speed * (2.0 * uniform(rng) - 1.0)) }
}

/// A sequence of `rows` rows from end to end in stretches of `len` (0 for one alone), each at a pace of its own. The first ends
/// anywhere within that length, so that no epoch cuts where the one before it did; the last is what is left.
pub(super) fn cut(rows: usize, len: usize, speed: f64, rng: &mut impl Rng) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut next = if len == 0 { usize::MAX } else { 1 + (uniform(rng) * len as f64) as usize };
    while start < rows {
        let pace = random_pace(speed, rng);
        let segment = Segment { start, len: next.min(fitting(rows - start, pace)), pace };
        start += span(segment.len, pace);
        segments.push(segment);
        next = len;
    }
    segments
}
