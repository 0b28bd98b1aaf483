//! Points of several classes in a plane.

use super::chart::{Axis, Chart};
use super::figure::{Drawing, Figure};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::{Size, Svg};
use super::trace;

/// The data of [`class_points`].
pub struct ClassPoints<'a> {
    /// Description for accessibility.
    pub name: &'a str,
    /// The classes, in the order of their colours.
    pub classes: &'a [ClassPointSet<'a>],
    /// Quantities of the axes.
    pub x_label: &'a str,
    /// Quantity of the vertical axis.
    pub y_label: &'a str,
}

/// The points of one class.
pub struct ClassPointSet<'a> {
    /// Its name, which is also written in the middle of its points: there may be more classes than colours.
    pub label: &'a str,
    /// Its points.
    pub points: &'a [[f32; 2]],
    /// Whether the class is unknown to the model: drawn as rings in the colour of text.
    pub unknown: bool,
}

/// Classes beyond these begin with the first colour again.
const COLOURS: [&str; 6] = ["blue", "orange", "green", "vermillion", "purple", "muted"];

/// Maximum number of points of one class; more would only overlap.
const MOST_DOTS: usize = 400;

/// Points in the colours of their classes, with the name of each class at the median of its points.
pub fn class_points(data: &ClassPoints) -> Figure {
    Figure::full(|size| draw(data, Size { height: 1.25 * size.height, ..size }))
}

fn draw(data: &ClassPoints, size: Size) -> Drawing {
    let all = || data.classes.iter().flat_map(|class| class.points);
    let range = |axis: usize| Range::of(all().map(|point| f64::from(point[axis])));
    let (x, y) = (range(0), range(1));
    let shown = x.is_some() && y.is_some();
    let padded = |range: Option<Range>| range.unwrap_or(Range::new(0.0, 1.0)).padded(0.06);
    let axes = (Axis::new(data.x_label, padded(x)), Axis::new(data.y_label, padded(y)));
    let coloured = || data.classes.iter().zip(COLOURS.iter().copied().cycle());
    let entry = |(class, colour): (&ClassPointSet<'_>, &'static str)| {
        let mark = if class.unknown { Mark::Dot("ink") } else { Mark::Dot(colour) };
        Entry::new(mark, format!("{} ({})", class.label, class.points.len()))
    };
    let chart = Chart::new(size, axes.0, axes.1, coloured().map(entry).collect());
    chart.draw(data.name, shown, |svg| {
        for (class, colour) in coloured() {
            draw_dots(svg, &chart, class, colour);
        }
        for class in data.classes {
            draw_name(svg, &chart, class);
        }
    })
}

fn draw_dots(svg: &mut Svg, chart: &Chart, class: &ClassPointSet<'_>, colour: &str) {
    let every = class.points.len().div_ceil(MOST_DOTS).max(1);
    let places = class.points.iter().step_by(every).filter(|point| point.iter().all(|x| x.is_finite()));
    let places = places.map(|point| chart.place(f64::from(point[0]), f64::from(point[1])));
    if class.unknown {
        places.for_each(|place| svg.circle("ring ink", place, 3.5));
    } else {
        svg.path(&format!("dots {colour}"), &trace::dots(places));
    }
}

/// The name at the median of each coordinate.
fn draw_name(svg: &mut Svg, chart: &Chart, class: &ClassPointSet<'_>) {
    let median = |axis: usize| {
        let mut values: Vec<f32> =
            class.points.iter().map(|point| point[axis]).filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f32::total_cmp);
        values.get(values.len() / 2).copied().map(f64::from)
    };
    if let (Some(x), Some(y)) = (median(0), median(1)) {
        svg.text("middle strong halo", chart.place(x, y), class.label);
    }
}
