//! Scatter plot of two versions of the same numbers.

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::{Range, short_number};
use super::trace;

/// The data of [`scatter`]. The slices are parallel; the shorter determines the length.
pub struct Scatter<'a> {
    /// One version.
    pub x: &'a [f32],
    /// The other.
    pub y: &'a [f32],
    /// What a dot represents, such as "predicted mean".
    pub label: &'a str,
    /// Quantity and unit of the horizontal axis.
    pub x_label: &'a str,
    /// Quantity and unit of the vertical axis.
    pub y_label: &'a str,
}

/// Maximum number of dots; more would only overlap.
const MOST_DOTS: usize = 1500;

/// One version against the other on equal axes, with the line of equality.
pub fn scatter(data: &Scatter) -> Figure {
    let pairs = data.x.iter().zip(data.y).map(|(&x, &y)| (f64::from(x), f64::from(y)));
    let pairs: Vec<(f64, f64)> = pairs.filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let range = Range::of(pairs.iter().flat_map(|&(x, y)| [x, y]));
    let shown = range.unwrap_or(Range::new(0.0, 1.0)).padded(0.04);
    let (x, y) = (Axis::new(data.x_label, shown), Axis::new(data.y_label, shown));
    let chart = Chart::new(HALF, x, y, legend(data.label, &pairs));
    let every = pairs.len().div_ceil(MOST_DOTS).max(1);
    Figure::Half(chart.draw("One version against the other", range.is_some(), |svg| {
        svg.line("line dashed muted", chart.place(shown.low, shown.low), chart.place(shown.high, shown.high));
        let dots = pairs.iter().step_by(every).map(|&(x, y)| chart.place(x, y));
        svg.path("dots blue", &trace::dots(dots));
    }))
}

fn legend(label: &str, pairs: &[(f64, f64)]) -> Vec<Entry> {
    let largest = pairs.iter().map(|(x, y)| (x - y).abs()).reduce(f64::max);
    let difference = largest.map(|largest| format!(", largest difference {}", short_number(largest)));
    vec![
        Entry::new(Mark::Dashed("muted"), "equal"),
        Entry::new(Mark::Dot("blue"), format!("{label}{}", difference.unwrap_or_default())),
    ]
}
