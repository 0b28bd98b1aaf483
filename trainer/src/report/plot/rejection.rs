//! Error against the share of samples that are rejected.

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::trace;

/// The data of [`rejection`].
pub struct Rejection<'a> {
    /// One curve per model; the first four have different colours.
    pub curves: &'a [RejectionCurve<'a>],
}

/// The error among accepted samples of one model, both in 0…1.
pub struct RejectionCurve<'a> {
    /// Name of the model.
    pub label: &'a str,
    /// Shares rejected, ascending.
    pub rejected: &'a [f32],
    /// Error among the others.
    pub error: &'a [f32],
}

const COLOURS: [&str; 4] = ["blue", "vermillion", "green", "purple"];

/// Error against the share rejected, in per cent.
pub fn rejection(data: &Rejection) -> Figure {
    let coloured = || data.curves.iter().zip(COLOURS.iter().copied().cycle());
    let points = |curve: &RejectionCurve| -> Vec<(f64, f64)> {
        let pairs = curve.rejected.iter().zip(curve.error).map(|(&x, &y)| (f64::from(x), f64::from(y)));
        pairs.filter(|(x, y)| x.is_finite() && y.is_finite()).map(|(x, y)| (100.0 * x, 100.0 * y)).collect()
    };
    let errors = data.curves.iter().flat_map(|curve| points(curve).into_iter().map(|(_, error)| error));
    let range = Range::of(errors.chain([0.0]));
    let has_data = data.curves.iter().any(|curve| !points(curve).is_empty());
    let y = Range::new(0.0, range.map_or(1.0, |range| range.high.max(1e-3)));
    let legend = coloured().map(|(curve, colour)| Entry::new(Mark::Line(colour), curve.label)).collect();
    let x = Axis::new("least confident rejected (%)", Range::new(0.0, 100.0));
    let chart = Chart::new(HALF, x, Axis::new("error of the others (%)", y.padded(0.02)), legend);
    Figure::Half(chart.draw("Error against the share rejected", has_data, |svg| {
        for (curve, colour) in coloured() {
            let places: Vec<_> = points(curve).into_iter().map(|(x, y)| chart.place(x, y)).collect();
            svg.path(&format!("line {colour}"), &trace::curve(places.iter().copied()));
            svg.path(&format!("beads {colour}"), &trace::dots(places));
        }
    }))
}
