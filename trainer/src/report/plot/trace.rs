//! Paths of curves and bands through data with gaps, thinned to the resolution of a screen.

use core::fmt::Write;

use super::svg::Point;

/// Path data of a curve, interrupted where a coordinate is not finite. A single point becomes a dot.
pub(super) fn curve(points: impl IntoIterator<Item = Point>) -> String {
    let mut path = String::new();
    for run in runs(points.into_iter().map(|(x, y)| [x, y])) {
        let run = thin(&run, |column| {
            let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
            let extremes = [column.iter().min_by(by_height), column.iter().max_by(by_height)];
            let mut kept: Vec<[f64; 2]> = extremes.into_iter().flatten().copied().collect();
            // In the order of the curve.
            kept.sort_by(|a, b| a[0].total_cmp(&b[0]));
            kept
        });
        push_points(&mut path, 'M', run.iter().map(|&[x, y]| (x, y)));
        if run.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

/// Path data of the area between two curves over the same x: points are (x, lower, upper).
pub(super) fn area(points: impl IntoIterator<Item = [f64; 3]>) -> String {
    let mut path = String::new();
    for run in runs(points) {
        let run = thin(&run, |column| {
            let extreme = |edge: usize, pick: fn(f64, f64) -> f64| {
                column.iter().map(|point| point[edge]).reduce(pick).unwrap_or_default()
            };
            // The lower edge of the data is the larger coordinate: SVG counts downwards.
            vec![[column[0][0], extreme(1, f64::max), extreme(2, f64::min)]]
        });
        push_points(&mut path, 'M', run.iter().map(|&[x, _, upper]| (x, upper)));
        push_points(&mut path, 'L', run.iter().rev().map(|&[x, lower, _]| (x, lower)));
        path.push('Z');
    }
    path
}

/// Path data of dots: strokes of length zero with round ends.
pub(super) fn dots(points: impl IntoIterator<Item = Point>) -> String {
    let mut path = String::new();
    for (x, y) in points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
        push_points(&mut path, 'M', [(x, y)]);
        path.push_str("h0");
    }
    path
}

/// Runs of points with finite coordinates.
fn runs<const N: usize>(points: impl IntoIterator<Item = [f64; N]>) -> Vec<Vec<[f64; N]>> {
    let points: Vec<[f64; N]> = points.into_iter().collect();
    let is_gap = |point: &[f64; N]| !point.iter().all(|coordinate| coordinate.is_finite());
    points.split(is_gap).filter(|run| !run.is_empty()).map(<[_]>::to_vec).collect()
}

/// Reduces the points within each column of one unit, if there are more than two, to those that `summary`
/// keeps.
fn thin<const N: usize>(run: &[[f64; N]], summary: impl Fn(&[[f64; N]]) -> Vec<[f64; N]>) -> Vec<[f64; N]> {
    let same_column = |a: &[f64; N], b: &[f64; N]| a[0].floor() == b[0].floor();
    let columns = run.chunk_by(same_column);
    columns.flat_map(|column| if column.len() > 2 { summary(column) } else { column.to_vec() }).collect()
}

/// Appends a move or a line to the first point and lines to the others.
fn push_points(path: &mut String, first_command: char, points: impl IntoIterator<Item = Point>) {
    for (index, (x, y)) in points.into_iter().enumerate() {
        let command = if index == 0 { first_command } else { 'L' };
        write!(path, "{command}{x:.1} {y:.1}").expect("a String takes any text");
    }
}
