//! A confusion matrix as shaded cells.

use super::figure::{Drawing, Figure, HALF};
use super::svg::{Rect, Size, Svg, text_width};

/// The data of [`confusion`].
pub struct Confusion<'a> {
    /// Names of the classes.
    pub classes: &'a [String],
    /// Numbers of samples: a row per true class, a column per predicted class.
    pub counts: &'a [Vec<usize>],
}

/// Shades of a cell.
const LEVELS: f64 = 10.0;

/// Above this many classes, cells are too small for numbers.
const MOST_NUMBERED: usize = 10;

const TOP: f64 = 34.0;
const BOTTOM: f64 = 14.0;

/// Cells shaded by the share of the true class, right ones in blue and wrong ones in vermillion, with the
/// number of samples in each.
pub fn confusion(data: &Confusion) -> Figure {
    let n = data.classes.len();
    let mut svg = Svg::default();
    let widest = data.classes.iter().map(|name| text_width(name)).fold(0.0, f64::max).min(150.0);
    let left = 34.0 + widest;
    let side = ((HALF.width - left - 8.0) / n.max(1) as f64).min(52.0);
    // Names below are upright where they fit, otherwise they read upwards.
    let is_turned = data.classes.iter().any(|name| text_width(name) > side);
    let height = TOP + side * n as f64 + if is_turned { widest + 30.0 } else { 44.0 } + BOTTOM;
    let size = Size { height: height.max(HALF.height), ..HALF };
    if data.counts.iter().flatten().all(|count| *count == 0) {
        svg.text("middle", (HALF.width / 2.0, HALF.height / 2.0), "no data");
    }
    for (row, counts) in data.counts.iter().enumerate() {
        let place = |column: usize| Rect {
            x: left + side * column as f64,
            y: TOP + side * row as f64,
            width: side,
            height: side,
        };
        let y = TOP + side * (row as f64 + 0.5) + 4.5;
        svg.text("end", (left - 7.0, y), data.classes.get(row).map_or("", String::as_str));
        draw_row(&mut svg, row, counts, n <= MOST_NUMBERED, place);
    }
    let bottom = TOP + side * n as f64;
    for (column, name) in data.classes.iter().enumerate() {
        let x = left + side * (column as f64 + 0.5);
        if is_turned {
            svg.upward_text("end", (x + 4.5, bottom + 8.0), name);
        } else {
            svg.text("middle", (x, bottom + 18.0), name);
        }
    }
    let centre = left + side * n as f64 / 2.0;
    svg.text("middle label", (centre, TOP - 14.0), "predicted (columns), true (rows): number of samples");
    Figure::Half(Drawing::new(size, "Confusion matrix", svg))
}

fn draw_row(svg: &mut Svg, row: usize, counts: &[usize], numbered: bool, place: impl Fn(usize) -> Rect) {
    let total = counts.iter().sum::<usize>().max(1) as f64;
    for (column, &count) in counts.iter().enumerate() {
        let cell = place(column);
        svg.rect("track", cell);
        let share = count as f64 / total;
        let level = (share * LEVELS).ceil().min(LEVELS) as usize;
        if level > 0 {
            let colour = if row == column { "blue" } else { "vermillion" };
            svg.rect(&format!("solid shade{level} {colour}"), cell);
        }
        if numbered && count > 0 {
            let class = if level > 5 { "middle paper" } else { "middle strong" };
            let (x, y) = (cell.x + cell.width / 2.0, cell.y + cell.height / 2.0 + 4.5);
            svg.text(class, (x, y), &count.to_string());
        }
    }
}
