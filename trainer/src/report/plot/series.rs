//! Curves and bands over time.

use super::band::{ShadedRange, draw_shades, with_headroom};
use super::chart::{Axis, Chart};
use super::figure::{Drawing, Figure};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::Size;
use super::trace;

/// The data of [`series`], areas below curves, each in the given order. Values that are not finite leave
/// gaps.
pub struct Series<'a> {
    /// Description for accessibility.
    pub name: &'a str,
    /// Positions on the horizontal axis, ascending.
    pub x: &'a [f32],
    /// Bands, wider ones first.
    pub areas: &'a [Area<'a>],
    /// Curves.
    pub curves: &'a [Curve<'a>],
    /// Highlighted ranges.
    pub shaded: &'a [ShadedRange],
    /// Quantity and unit of the horizontal axis.
    pub x_label: &'a str,
    /// Quantity and unit of the vertical axis.
    pub y_label: &'a str,
}

/// A band, as long as `x`.
pub struct Area<'a> {
    /// Its label in the legend.
    pub label: &'a str,
    /// Lower edge.
    pub lower: &'a [f32],
    /// Upper edge.
    pub upper: &'a [f32],
}

/// A curve, as long as `x`.
pub struct Curve<'a> {
    /// Its label in the legend; empty for none, as for all but the first of several alike.
    pub label: &'a str,
    /// Its values.
    pub values: &'a [f32],
    /// Its style.
    pub style: CurveStyle,
}

/// The role of a curve, which determines its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveStyle {
    /// The truth, or observed values.
    Truth,
    /// An estimate by a model.
    Estimate,
    /// Noisy values, or one of many.
    Background,
}

impl CurveStyle {
    fn colour(self) -> &'static str {
        match self {
            CurveStyle::Truth => "ink",
            CurveStyle::Estimate => "blue",
            CurveStyle::Background => "muted faint",
        }
    }
}

/// Curves and bands, as wide as the page.
pub fn series(data: &Series) -> Figure {
    Figure::full(|size| draw(data, size))
}

fn draw(data: &Series, size: Size) -> Drawing {
    let edges = data.areas.iter().flat_map(|area| [area.lower, area.upper]);
    let all = data.curves.iter().map(|curve| curve.values).chain(edges).flatten();
    let x_range = Range::of(data.x.iter().map(|x| f64::from(*x)));
    let y_range = Range::of(all.map(|value| f64::from(*value)));
    let (unit, shown) = (Range::new(0.0, 1.0), x_range.is_some() && y_range.is_some());
    let y = with_headroom(y_range.unwrap_or(unit).padded(0.04), data.shaded.is_empty());
    let x = Axis::new(data.x_label, x_range.unwrap_or(unit));
    let chart = Chart::new(size, x, Axis::new(data.y_label, y), legend(data));
    let place = |x: f32, y: f32| chart.place(f64::from(x), f64::from(y));
    chart.draw(data.name, shown, |svg| {
        draw_shades(svg, &chart, data.shaded);
        for area in data.areas {
            let edges = data.x.iter().zip(area.lower).zip(area.upper);
            let points =
                edges.map(|((x, low), high)| [place(*x, *low).0, place(*x, *low).1, place(*x, *high).1]);
            svg.path("area blue", &trace::area(points));
        }
        for curve in data.curves {
            let points = data.x.iter().zip(curve.values).map(|(x, y)| place(*x, *y));
            svg.path(&format!("line {}", curve.style.colour()), &trace::curve(points));
        }
    })
}

fn legend(data: &Series) -> Vec<Entry> {
    let curves = data.curves.iter().filter(|curve| !curve.label.is_empty());
    let curves = curves.map(|curve| Entry::new(Mark::Line(curve.style.colour()), curve.label));
    let areas = (1..).zip(data.areas).map(|(deep, area)| Entry::new(Mark::Area("blue", deep), area.label));
    curves.chain(areas).collect()
}
