//! Legends of plots.

use super::svg::{Point, Rect, Svg, text_width};

/// The mark of an entry; the string is a colour class.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Line(&'static str),
    Dashed(&'static str),
    /// With the colour depth of this number of overlapping areas.
    Area(&'static str, usize),
    Bar(&'static str),
    Dot(&'static str),
}

/// One entry of a legend.
pub(super) struct Entry {
    pub(super) mark: Mark,
    pub(super) text: String,
}

impl Entry {
    pub(super) fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, text: text.into() }
    }

    fn width(&self) -> f64 {
        MARK_WIDTH + 8.0 + text_width(&self.text)
    }
}

const MARK_WIDTH: f64 = 22.0;
const GAP: f64 = 18.0;

/// Space around the legend.
const LEFT: f64 = 4.0;
pub(super) const TOP: f64 = 8.0;

/// Height of one row of entries.
const ROW_HEIGHT: f64 = 22.0;

/// Positions of the entries, from left to right, on as many rows as needed.
fn places(entries: &[Entry], width: f64) -> Vec<Point> {
    let (mut x, mut y) = (0.0, 0.0);
    let place = |entry: &Entry| {
        if x > 0.0 && LEFT + x + entry.width() > width {
            (x, y) = (0.0, y + ROW_HEIGHT);
        }
        let place = (x, y);
        x += entry.width() + GAP;
        place
    };
    entries.iter().map(place).collect()
}

/// Height of all rows.
pub(super) fn height(entries: &[Entry], width: f64) -> f64 {
    places(entries, width).last().map_or(0.0, |(_, y)| y + ROW_HEIGHT)
}

/// Draws the entries below `top`.
pub(super) fn draw(svg: &mut Svg, entries: &[Entry], top: f64, width: f64) {
    for (entry, (dx, dy)) in entries.iter().zip(places(entries, width)) {
        let (left, middle) = (LEFT + dx, top + dy + ROW_HEIGHT / 2.0);
        draw_mark(svg, entry.mark, left, middle);
        svg.text("start", (left + MARK_WIDTH + 7.0, middle + 4.5), &entry.text);
    }
}

fn draw_mark(svg: &mut Svg, mark: Mark, left: f64, middle: f64) {
    let ends = ((left, middle), (left + MARK_WIDTH, middle));
    let swatch = Rect { x: left, y: middle - 6.0, width: MARK_WIDTH, height: 12.0 };
    match mark {
        Mark::Line(colour) => svg.line(&format!("line {colour}"), ends.0, ends.1),
        Mark::Dashed(colour) => svg.line(&format!("line dashed {colour}"), ends.0, ends.1),
        Mark::Dot(colour) => svg.circle(&format!("solid {colour}"), (left + MARK_WIDTH / 2.0, middle), 4.0),
        Mark::Area(colour, deep) => (0..deep).for_each(|_| svg.rect(&format!("area {colour}"), swatch)),
        Mark::Bar(colour) => svg.rect(&format!("bar {colour}"), swatch),
    }
}
