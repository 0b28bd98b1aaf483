//! Dynamic time warping within a Sakoe–Chiba band, and a lower bound of it.

use crate::data::Rows;

/// Two rows of the table of costs, kept from call to call.
#[derive(Default)]
pub(super) struct Scratch {
    previous: Vec<f32>,
    current: Vec<f32>,
}

/// The least sum of squared distances over all monotonic alignments of two sequences of equal length in
/// which rows are at most `window` steps apart (Sakoe and Chiba 1978, with steps of weight 1). Gives up, and
/// returns infinity, as soon as the result must exceed `limit`; `rest[i]` is a lower bound of what rows from
/// `i` on cost, and may be empty (Rakthanmanon et al. 2012, section 4.2.3).
pub(super) fn dtw(a: &Rows, b: &Rows, window: usize, limit: f32, rest: &[f32], scratch: &mut Scratch) -> f32 {
    let n = a.len();
    let Scratch { previous, current } = scratch;
    for costs in [&mut *previous, &mut *current] {
        costs.clear();
        costs.resize(n + 1, f32::INFINITY);
    }
    previous[0] = 0.0;
    for i in 0..n {
        let (first, last) = (i.saturating_sub(window), (i + window).min(n - 1));
        // What the row before the last left here is outside of the band.
        current[first] = f32::INFINITY;
        let mut least = f32::INFINITY;
        for j in first..=last {
            let cost =
                squared_distance(a.row(i), b.row(j)) + previous[j].min(previous[j + 1]).min(current[j]);
            current[j + 1] = cost;
            least = least.min(cost);
        }
        if last + 2 <= n {
            current[last + 2] = f32::INFINITY;
        }
        if least + rest.get(i + window + 1).unwrap_or(&0.0) > limit {
            return f32::INFINITY;
        }
        core::mem::swap(previous, current);
    }
    previous[n]
}

/// The sum of squared differences of two rows.
pub(super) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The least and the largest value of every channel within `window` steps of every row.
pub(super) struct Envelope {
    low: Vec<f32>,
    high: Vec<f32>,
    channels: usize,
}

impl Envelope {
    pub(super) fn new(rows: &Rows, window: usize) -> Self {
        let channels = rows.channels;
        let (mut low, mut high) = (rows.values.clone(), rows.values.clone());
        for channel in 0..channels {
            let column: Vec<f32> = rows.iter().map(|row| row[channel]).collect();
            let (least, most) =
                (sliding(&column, window, |a, b| a <= b), sliding(&column, window, |a, b| a >= b));
            for step in 0..column.len() {
                low[step * channels + channel] = least[step];
                high[step * channels + channel] = most[step];
            }
        }
        Self { low, high, channels }
    }

    /// Keogh's lower bound of the warped distance to the enclosed sequence (Keogh and Ratanamahatana 2005,
    /// proposition 1; summed over channels), as sums over the rows from each on: the first of them is the
    /// bound.
    pub(super) fn lower_bounds(&self, rows: &Rows, bounds: &mut Vec<f32>) {
        bounds.clear();
        bounds.resize(rows.len(), 0.0);
        let mut sum = 0.0;
        for step in (0..rows.len()).rev() {
            let place = step * self.channels;
            let limits = self.low[place..].iter().zip(&self.high[place..]);
            let outside = |(value, (low, high)): (&f32, (&f32, &f32))| {
                let distance = (value - high).max(low - value).max(0.0);
                distance * distance
            };
            sum += rows.row(step).iter().zip(limits).map(outside).sum::<f32>();
            bounds[step] = sum;
        }
    }
}

/// The best value within `window` steps of each, with a queue of candidates (Lemire 2009).
fn sliding(values: &[f32], window: usize, at_least_as_good: impl Fn(f32, f32) -> bool) -> Vec<f32> {
    let mut queue = std::collections::VecDeque::new();
    let mut best = Vec::with_capacity(values.len());
    for step in 0..values.len() + window {
        if let Some(&value) = values.get(step) {
            while queue.back().is_some_and(|&last| at_least_as_good(value, values[last])) {
                queue.pop_back();
            }
            queue.push_back(step);
        }
        let Some(centre) = step.checked_sub(window) else { continue };
        if queue.front().is_some_and(|&first| first + window < centre) {
            queue.pop_front();
        }
        best.push(queue.front().map_or(f32::NAN, |&first| values[first]));
    }
    best
}
