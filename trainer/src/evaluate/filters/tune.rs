//! Minimisation of a function of few parameters: a grid search, then golden-section search along each axis.

use crate::golden_section;

/// Range of one parameter, on a logarithmic scale; both ends above 0.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The smallest value.
    pub from: f64,
    /// The largest value.
    pub to: f64,
    /// Number of values, at least 2.
    pub points: usize,
}

impl Grid {
    /// Distance of neighbours, in natural logarithms.
    fn step(&self) -> f64 {
        (self.to / self.from).ln() / (self.points - 1) as f64
    }

    fn logs(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.points).map(|index| self.from.ln() + self.step() * index as f64)
    }
}

/// Rounds over all axes after the grid search, and golden-section steps along an axis in each: to within
/// 0.618¹⁰ of a grid step, less than 1 %.
const ROUNDS: usize = 2;
const SECTIONS: usize = 10;

/// The parameters with the smallest `error` found.
pub(super) fn minimise<const N: usize>(grids: &[Grid; N], error: impl Fn([f64; N]) -> f64) -> [f64; N] {
    let error_of_logs = |logs: [f64; N]| error(logs.map(f64::exp));
    let mut best = on_grid(grids, &error_of_logs);
    for axis in (0..N).cycle().take(ROUNDS * N) {
        let along = |log: f64| {
            let mut logs = best;
            logs[axis] = log;
            error_of_logs(logs)
        };
        let (low, high) = (grids[axis].from.ln(), grids[axis].to.ln());
        let (centre, step) = (best[axis], grids[axis].step());
        let found =
            golden_section::minimise([(centre - step).max(low), (centre + step).min(high)], SECTIONS, along);
        if along(found) < along(centre) {
            best[axis] = found;
        }
    }
    best.map(f64::exp)
}

/// The best point of the grid.
fn on_grid<const N: usize>(grids: &[Grid; N], error: &impl Fn([f64; N]) -> f64) -> [f64; N] {
    let mut points = vec![[0.0; N]];
    for (axis, grid) in grids.iter().enumerate() {
        let extended = |point: [f64; N]| {
            grid.logs().map(move |log| {
                let mut point = point;
                point[axis] = log;
                point
            })
        };
        points = points.into_iter().flat_map(extended).collect();
    }
    let scored = points.into_iter().map(|point| (error(point), point));
    scored.min_by(|(a, _), (b, _)| a.total_cmp(b)).expect("a grid has points").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bowl_between_grid_points_is_found() {
        let grids = [Grid { from: 1e-3, to: 1e3, points: 7 }, Grid { from: 0.1, to: 10.0, points: 3 }];
        let bowl = |[a, b]: [f64; 2]| (a.ln() - 1.7).powi(2) + (b.ln() + 0.6).powi(2);
        let [a, b] = minimise(&grids, bowl);
        assert!((a.ln() - 1.7).abs() < 0.03 && (b.ln() + 0.6).abs() < 0.03, "{a}, {b}");
    }

    #[test]
    fn the_end_of_a_grid_is_not_passed() {
        let [a] = minimise(&[Grid { from: 0.5, to: 1.0, points: 4 }], |[a]| -a);
        assert!(a <= 1.0 && a > 0.99, "{a}");
    }
}
