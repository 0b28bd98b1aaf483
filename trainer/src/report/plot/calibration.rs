//! Observed against nominal coverage, and accuracy against confidence.

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::Svg;
use super::trace;

/// The data of [`calibration`].
pub struct Calibration<'a> {
    /// One curve per model or output; the first four have different colours.
    pub curves: &'a [CalibrationCurve<'a>],
}

/// Nominal and observed coverage of one model, both in 0…1.
pub struct CalibrationCurve<'a> {
    /// Name of the model.
    pub label: &'a str,
    /// Nominal coverage, ascending.
    pub nominal: &'a [f32],
    /// Fraction of the observed values inside the interval.
    pub observed: &'a [f32],
}

const COLOURS: [&str; 4] = ["blue", "vermillion", "green", "purple"];

/// The whole range, in per cent.
const PER_CENT: Range = Range::new(0.0, 100.0);

/// Observed against nominal coverage.
pub fn calibration(data: &Calibration) -> Figure {
    draw(data, "Observed against promised coverage", ["promised coverage (%)", "observed coverage (%)"])
}

/// Accuracy of a classifier against its confidence.
pub fn reliability(data: &Calibration) -> Figure {
    draw(data, "Accuracy against confidence", ["confidence (%)", "right predictions (%)"])
}

fn draw(data: &Calibration, name: &str, [x_label, y_label]: [&str; 2]) -> Figure {
    let coloured = || data.curves.iter().zip(COLOURS.iter().copied().cycle());
    let mut legend = vec![Entry::new(Mark::Dashed("muted"), "as promised")];
    legend.extend(coloured().map(|(curve, colour)| Entry::new(Mark::Line(colour), curve.label)));
    let chart = Chart::new(HALF, Axis::new(x_label, PER_CENT), Axis::new(y_label, PER_CENT), legend);
    let has_data = data.curves.iter().any(|curve| !finite(curve).is_empty());
    Figure::Half(chart.draw(name, has_data, |svg| {
        svg.line("line dashed muted", chart.place(0.0, 0.0), chart.place(100.0, 100.0));
        svg.text("middle hint", chart.place(25.0, 88.0), "too cautious");
        svg.text("middle hint", chart.place(75.0, 10.0), "too sure");
        for (curve, colour) in coloured() {
            draw_curve(svg, &chart, curve, colour);
        }
    }))
}

fn draw_curve(svg: &mut Svg, chart: &Chart, curve: &CalibrationCurve, colour: &str) {
    let points: Vec<_> = finite(curve).into_iter().map(|(x, y)| chart.place(100.0 * x, 100.0 * y)).collect();
    svg.path(&format!("line {colour}"), &trace::curve(points.iter().copied()));
    svg.path(&format!("beads {colour}"), &trace::dots(points));
}

fn finite(curve: &CalibrationCurve) -> Vec<(f64, f64)> {
    let pairs = curve.nominal.iter().zip(curve.observed).map(|(&x, &y)| (f64::from(x), f64::from(y)));
    pairs.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}
