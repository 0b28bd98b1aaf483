//! The width of the Sakoe–Chiba band, chosen on training data.

use super::nearest::{NearestNeighbour, Stored};

/// Candidate widths, in per cent of the length and rounded up, as the UCR archive does.
const WIDEST_PERCENT: usize = 20;

/// A chosen width.
pub(super) struct WarpingWindow {
    pub(super) rows: usize,
    error: f64,
}

impl WarpingWindow {
    pub(super) fn detail(&self) -> String {
        format!(
            "dynamic time warping by at most {} rows (of 0 to {WIDEST_PERCENT} % of the length, the least error of leaving \
             one out of the training data: {:.4})",
            self.rows, self.error
        )
    }
}

/// The width with the least error of leaving each training sequence out, the narrowest of equal ones.
pub(super) fn choose(stored: &Stored) -> WarpingWindow {
    let length = stored.sequences.first().map_or(0, crate::data::Rows::len);
    let mut widths: Vec<usize> =
        (0..=WIDEST_PERCENT).map(|percent| (percent * length).div_ceil(100)).collect();
    widths.dedup();
    let mut best: Option<WarpingWindow> = None;
    for rows in widths {
        let error = NearestNeighbour::new(stored, rows).leave_one_out_error();
        if best.as_ref().is_none_or(|best| error < best.error) {
            best = Some(WarpingWindow { rows, error });
        }
    }
    best.unwrap_or(WarpingWindow { rows: 0, error: f64::NAN })
}
