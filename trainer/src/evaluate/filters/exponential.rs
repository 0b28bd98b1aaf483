//! Exponential smoothing.

use super::tune::Grid;
use super::{Filter, Tunable};

/// y_t = y_{t−1} + α (x_t − y_{t−1}).
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    /// Weight of the new value, above 0 and up to 1.
    pub alpha: f64,
}

impl Filter for Exponential {
    type State = f64;

    fn start(&self, first: f64) -> f64 {
        first
    }

    fn step(&self, state: &mut f64, observed: Option<f64>) -> f64 {
        *state += self.alpha * (observed.unwrap_or(*state) - *state);
        *state
    }
}

impl Tunable<1> for Exponential {
    const NAME: &'static str = "exponential average";
    const DETAIL: &'static str = "moves towards each value by the same share of the distance";
    const GRID: [Grid; 1] = [Grid { from: 1e-3, to: 1.0, points: 24 }];

    fn with([alpha]: [f64; 1]) -> Self {
        Exponential { alpha }
    }
}
