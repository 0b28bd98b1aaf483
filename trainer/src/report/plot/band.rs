//! A prediction with its band and the truth over time.

use super::chart::{Axis, Chart};
use super::figure::{Drawing, Figure};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::{Rect, Size, Svg, text_width};
use super::trace;

/// The data of [`band`]. All slices are parallel; the shortest determines the length.
pub struct Band<'a> {
    /// Positions on the horizontal axis, ascending.
    pub x: &'a [f32],
    /// Measured values.
    pub truth: &'a [f32],
    /// Predicted means.
    pub mean: &'a [f32],
    /// Lower edge of the band.
    pub lower: &'a [f32],
    /// Upper edge of the band.
    pub upper: &'a [f32],
    /// Label of the band, such as "90 % band".
    pub band_label: &'a str,
    /// Highlighted ranges.
    pub shaded: &'a [ShadedRange],
    /// Quantity and unit of the horizontal axis.
    pub x_label: &'a str,
    /// Quantity and unit of the vertical axis.
    pub y_label: &'a str,
}

/// A highlighted range of the horizontal axis.
#[derive(Clone, Debug)]
pub struct ShadedRange {
    /// Its start.
    pub from: f32,
    /// Its end.
    pub to: f32,
    /// Its label, such as "channel 3 missing".
    pub label: String,
}

/// A prediction with its band and the truth, as wide as the page.
pub fn band(data: &Band) -> Figure {
    Figure::full(|size| draw(data, size))
}

/// One point in time.
struct Row {
    x: f64,
    truth: f64,
    mean: f64,
    lower: f64,
    upper: f64,
}

fn rows(data: &Band) -> Vec<Row> {
    let Band { x, truth, mean, lower, upper, .. } = data;
    let count = [x, truth, mean, lower, upper].map(|values| values.len()).into_iter().min().unwrap_or(0);
    let row = |at: usize| Row {
        x: x[at].into(),
        truth: truth[at].into(),
        mean: mean[at].into(),
        lower: lower[at].into(),
        upper: upper[at].into(),
    };
    (0..count).map(row).collect()
}

fn draw(data: &Band, size: Size) -> Drawing {
    let rows = rows(data);
    let x_range = Range::of(rows.iter().map(|row| row.x));
    let y_range = Range::of(rows.iter().flat_map(|row| [row.truth, row.mean, row.lower, row.upper]));
    let x = Axis::new(data.x_label, x_range.unwrap_or(UNIT));
    let y =
        Axis::new(data.y_label, with_headroom(y_range.unwrap_or(UNIT).padded(0.04), data.shaded.is_empty()));
    let chart = Chart::new(size, x, y, legend(data.band_label));
    let line = |value: fn(&Row) -> f64| trace::curve(rows.iter().map(|row| chart.place(row.x, value(row))));
    chart.draw("Prediction with band against truth", x_range.is_some() && y_range.is_some(), |svg| {
        draw_shades(svg, &chart, data.shaded);
        let edge = |row: &Row, value: f64| chart.place(row.x, value).1;
        let edges =
            rows.iter().map(|row| [chart.place(row.x, 0.0).0, edge(row, row.lower), edge(row, row.upper)]);
        svg.path("area blue", &trace::area(edges));
        svg.path("line ink", &line(|row| row.truth));
        svg.path("line blue", &line(|row| row.mean));
    })
}

/// Axes of a plot without data.
const UNIT: Range = Range::new(0.0, 1.0);

fn legend(band_label: &str) -> Vec<Entry> {
    vec![
        Entry::new(Mark::Line("ink"), "truth"),
        Entry::new(Mark::Line("blue"), "prediction"),
        Entry::new(Mark::Area("blue", 1), band_label),
    ]
}

/// Adds space above the data for the labels of shaded ranges.
pub(super) fn with_headroom(range: Range, unneeded: bool) -> Range {
    let headroom = if unneeded { 0.0 } else { 0.12 * range.length() };
    Range::new(range.low, range.high + headroom)
}

/// Draws shaded ranges and their labels, each label on the first line where it does not overlap another.
pub(super) fn draw_shades(svg: &mut Svg, chart: &Chart, shades: &[ShadedRange]) {
    let area = chart.area;
    let mut row_ends: Vec<f64> = Vec::new();
    for shade in shades.iter().filter(|shade| shade.from.is_finite() && shade.to.is_finite()) {
        let (from, _) = chart.place(f64::from(shade.from), 0.0);
        let (to, _) = chart.place(f64::from(shade.to), 0.0);
        if to < area.x || from > area.right() {
            continue;
        }
        svg.rect(
            "shade orange",
            Rect { x: from, y: area.y, width: (to - from).max(2.0), height: area.height },
        );
        let half = text_width(&shade.label) / 2.0;
        // `max` last: a label wider than the plot starts at its left edge.
        let centre = ((from + to) / 2.0).min(area.right() - half).max(area.x + half);
        let row = free_row(&mut row_ends, centre - half, centre + half);
        svg.text("middle strong", (centre, area.y + 15.0 + 16.0 * row as f64), &shade.label);
    }
}

/// Reserves the interval from `left` to `right` on the first line that is free there.
fn free_row(row_ends: &mut Vec<f64>, left: f64, right: f64) -> usize {
    let row = row_ends.iter().position(|&end| end < left).unwrap_or(row_ends.len());
    if row == row_ends.len() {
        row_ends.push(right);
    } else {
        row_ends[row] = right;
    }
    row
}
