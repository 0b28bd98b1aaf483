//! The frame of most plots: legend, axes with ticks and units, and an area for the data.

use super::figure::Drawing;
use super::legend::{self, Entry, TOP as LEGEND_TOP};
use super::scale::{Range, Tick, ticks};
use super::svg::{Point, Rect, Size, Svg, text_width};

/// One axis: its label with unit, and its range.
pub(super) struct Axis<'a> {
    pub(super) label: &'a str,
    pub(super) range: Range,
    /// Minimum distance of ticks, in data units: 1 for counts.
    pub(super) least_step: f64,
}

impl<'a> Axis<'a> {
    pub(super) fn new(label: &'a str, range: Range) -> Self {
        Self { label, range, least_step: 0.0 }
    }
}

/// Readable distance of ticks, in user units.
const X_TICK_SPACING: f64 = 72.0;
const Y_TICK_SPACING: f64 = 34.0;

/// Space for tick labels and the axis label below the data.
const BOTTOM: f64 = 50.0;

/// Legend, axes and the area for the data.
pub(super) struct Chart<'a> {
    size: Size,
    x: Axis<'a>,
    y: Axis<'a>,
    legend: Vec<Entry>,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    /// The area for the data.
    pub(super) area: Rect,
}

impl<'a> Chart<'a> {
    pub(super) fn new(size: Size, x: Axis<'a>, y: Axis<'a>, legend: Vec<Entry>) -> Self {
        let top = LEGEND_TOP + legend::height(&legend, size.width) + 10.0;
        let height = size.height - top - BOTTOM;
        let y_ticks = ticks(y.range, height / Y_TICK_SPACING, y.least_step);
        let widest = y_ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let left = 32.0 + widest;
        let area = Rect { x: left, y: top, width: size.width - left - 14.0, height };
        let x_ticks = ticks(x.range, area.width / X_TICK_SPACING, x.least_step);
        Self { size, x, y, legend, x_ticks, y_ticks, area }
    }

    /// Replaces the round numbers along the horizontal axis.
    pub(super) fn set_x_ticks(&mut self, ticks: Vec<Tick>) {
        self.x_ticks = ticks;
    }

    /// Position of a data point. Points far outside are clamped to numbers that SVG can hold.
    pub(super) fn place(&self, x: f64, y: f64) -> Point {
        let share = |value: f64, range: Range| ((value - range.low) / range.length()).clamp(-9.0, 9.0);
        let right = self.area.x + share(x, self.x.range) * self.area.width;
        let up = self.area.bottom() - share(y, self.y.range) * self.area.height;
        (right, up)
    }

    /// The finished drawing: frame, then data clipped to the area, or a note if there are none.
    pub(super) fn draw(&self, name: &str, has_data: bool, data: impl FnOnce(&mut Svg)) -> Drawing {
        let mut svg = Svg::default();
        legend::draw(&mut svg, &self.legend, LEGEND_TOP, self.size.width);
        self.draw_axes(&mut svg);
        if has_data {
            svg.clipped(self.area, data);
        } else {
            svg.text("middle", self.centre(), "no data");
        }
        Drawing::new(self.size, name, svg)
    }

    fn centre(&self) -> Point {
        (self.area.x + self.area.width / 2.0, self.area.y + self.area.height / 2.0)
    }

    fn draw_axes(&self, svg: &mut Svg) {
        let Rect { x: left, y: top, .. } = self.area;
        let (right, bottom) = (self.area.right(), self.area.bottom());
        for tick in &self.x_ticks {
            let (x, _) = self.place(tick.value, self.y.range.low);
            svg.line("grid", (x, top), (x, bottom));
            svg.text("middle", (x, bottom + 18.0), &tick.label);
        }
        for tick in &self.y_ticks {
            let (_, y) = self.place(self.x.range.low, tick.value);
            svg.line("grid", (left, y), (right, y));
            svg.text("end", (left - 7.0, y + 4.5), &tick.label);
        }
        svg.line("axis", (left, bottom), (right, bottom));
        svg.text("middle label", (self.centre().0, self.size.height - 10.0), self.x.label);
        svg.upward_text("middle label", (15.0, self.centre().1), self.y.label);
    }
}
