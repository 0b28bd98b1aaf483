//! The SVG elements of plots. Their style is set by class, in `plot.css`.

use core::fmt::Write;

use crate::report::html::escape;

/// Width and height in user units, which are pixels at the natural size of a plot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A rectangle: top left corner and extent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A point in user units.
pub(super) type Point = (f64, f64);

/// A growing list of elements. Coordinates are rounded to tenths, which is invisible.
#[derive(Default)]
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn into_elements(self) -> String {
        self.0
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): Point, (x2, y2): Point) {
        self.push(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    pub(super) fn rect(&mut self, class: &str, Rect { x, y, width, height }: Rect) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): Point, radius: f64) {
        self.push(format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"));
    }

    /// A path; nothing if `data` is empty.
    pub(super) fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
        }
    }

    /// Text whose anchor (`start`, `middle` or `end`) is part of its class.
    pub(super) fn text(&mut self, class: &str, (x, y): Point, text: &str) {
        let text = escape(text);
        self.push(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"));
    }

    /// Text that reads upwards.
    pub(super) fn upward_text(&mut self, class: &str, (x, y): Point, text: &str) {
        let text = escape(text);
        self.push(format_args!(
            "<text class=\"{class}\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\">{text}</text>"
        ));
    }

    /// Draws clipped to `area`.
    ///
    /// An inner `svg` clips by itself, whereas a `clipPath` would need an identifier that is unique on the
    /// page.
    pub(super) fn clipped(&mut self, Rect { x, y, width, height }: Rect, draw: impl FnOnce(&mut Self)) {
        self.push(format_args!(
            "<svg x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             viewBox=\"{x:.1} {y:.1} {width:.1} {height:.1}\">"
        ));
        draw(self);
        self.push(format_args!("</svg>"));
    }

    fn push(&mut self, element: core::fmt::Arguments<'_>) {
        writeln!(self.0, "{element}").expect("a String takes any text");
    }
}

/// Approximate width of a text at the size of axis labels; system fonts differ, this is on the wide side.
pub(super) fn text_width(text: &str) -> f64 {
    7.3 * text.chars().count() as f64
}
