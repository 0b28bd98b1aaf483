//! Horizontal bars of sizes: flash, memory, time.

use super::figure::{Drawing, Figure, HALF};
use super::groups::Groups;
use super::legend;
use super::scale::short_number;
use super::svg::{Rect, Size, Svg};

/// The data of [`bars`].
pub struct Bars<'a> {
    /// From top to bottom.
    pub bars: &'a [Bar],
    /// Unit of every value.
    pub unit: &'a str,
}

/// One horizontal bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What is measured.
    pub label: String,
    /// Its value, from 0.
    pub value: f32,
    /// Its group, such as "flash" or "RAM": bars of one group share a colour.
    pub group: String,
    /// A note after the number, such as "2 % of 1 MiB"; may be empty.
    pub note: String,
}

/// Minimum and maximum height of a bar with its label.
const PITCH: [f64; 2] = [44.0, 62.0];

const BAR_HEIGHT: f64 = 14.0;
const MARGIN: f64 = 4.0;

/// Labelled horizontal bars on one scale that starts at 0.
pub fn bars(data: &Bars) -> Figure {
    let groups = Groups::new(data.bars.iter().map(|bar| bar.group.as_str()));
    let entries: Vec<_> = if groups.len() > 1 { groups.entries().collect() } else { Vec::new() };
    let top = legend::TOP + legend::height(&entries, HALF.width) + 8.0;
    let pitch = ((HALF.height - top - 8.0) / data.bars.len().max(1) as f64).clamp(PITCH[0], PITCH[1]);
    let height = (top + pitch * data.bars.len() as f64).max(HALF.height);
    let mut svg = Svg::default();
    legend::draw(&mut svg, &entries, legend::TOP, HALF.width);
    if data.bars.is_empty() {
        svg.text("middle", (HALF.width / 2.0, HALF.height / 2.0), "no data");
    }
    let longest = data.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f32::max);
    for (row, bar) in data.bars.iter().enumerate() {
        let share = (bar.value / longest).clamp(0.0, 1.0);
        let place =
            Rect { x: MARGIN, y: top + pitch * row as f64, width: HALF.width - 2.0 * MARGIN, height: pitch };
        draw_bar(&mut svg, bar, data.unit, groups.colour(&bar.group), f64::from(share), place);
    }
    Figure::Half(Drawing::new(Size { height, ..HALF }, "Sizes of the parts", svg))
}

/// One bar: name and number above, the bar on a track below. `share` is NaN if the value is.
fn draw_bar(svg: &mut Svg, bar: &Bar, unit: &str, colour: &str, share: f64, place: Rect) {
    let baseline = place.y + 16.0;
    let note = if bar.note.is_empty() { String::new() } else { format!(" · {}", bar.note) };
    let amount = format!("{} {unit}{note}", short_number(f64::from(bar.value)));
    svg.text("start strong", (place.x, baseline), &bar.label);
    svg.text("end", (place.right(), baseline), &amount);
    let track = Rect { y: baseline + 7.0, height: BAR_HEIGHT, ..place };
    svg.rect("track", track);
    let width = if share > 0.0 { (share * track.width).max(1.5) } else { 0.0 };
    svg.rect(&format!("bar {colour}"), Rect { width, ..track });
}
