//! Horizontal bars of coverage, with the nominal coverage marked.

use super::figure::{Drawing, Figure, HALF};
use super::groups::Groups;
use super::legend::{self, Entry, Mark};
use super::svg::{Rect, Size, Svg};

/// The data of [`coverage_bars`].
pub struct CoverageBars<'a> {
    /// From top to bottom.
    pub bars: &'a [CoverageBar],
    /// The coverage that was promised, in 0…1.
    pub nominal: f32,
}

/// One coverage.
#[derive(Clone, Debug)]
pub struct CoverageBar {
    /// What was covered.
    pub label: String,
    /// Proportion of values inside the interval, in 0…1.
    pub coverage: f32,
    /// Its standard error.
    pub std_error: f32,
    /// Its group, such as the model: bars of one group share a colour.
    pub group: String,
}

/// Height of a bar with its label.
const PITCH: f64 = 40.0;

const BAR_HEIGHT: f64 = 13.0;
const MARGIN: f64 = 4.0;

/// Labelled horizontal bars from 0 to 100 %, with a dashed line at the nominal coverage.
pub fn coverage_bars(data: &CoverageBars) -> Figure {
    let groups = Groups::new(data.bars.iter().map(|bar| bar.group.as_str()));
    let promised = format!("{:.0} % promised", 100.0 * data.nominal);
    let mut entries = vec![Entry::new(Mark::Dashed("ink"), promised)];
    entries.extend(groups.entries());
    let top = legend::TOP + legend::height(&entries, HALF.width) + 8.0;
    let height = top + PITCH * data.bars.len().max(1) as f64 + 8.0;
    let mut svg = Svg::default();
    legend::draw(&mut svg, &entries, legend::TOP, HALF.width);
    if data.bars.is_empty() {
        svg.text("middle", (HALF.width / 2.0, top + PITCH / 2.0), "no data");
    }
    let width = HALF.width - 2.0 * MARGIN;
    for (row, bar) in data.bars.iter().enumerate() {
        let place = Rect { x: MARGIN, y: top + PITCH * row as f64, width, height: PITCH };
        draw_bar(&mut svg, bar, groups.colour(&bar.group), place);
        let x = place.x + f64::from(data.nominal.clamp(0.0, 1.0)) * width;
        let track = track(place);
        svg.line("line dashed ink", (x, track.y - 3.0), (x, track.bottom() + 3.0));
    }
    Figure::Half(Drawing::new(Size { height, ..HALF }, "Coverage compared with what was promised", svg))
}

/// The place of a bar of 100 %, below its label.
fn track(place: Rect) -> Rect {
    Rect { y: place.y + 20.0, height: BAR_HEIGHT, ..place }
}

/// Label and number above, the bar below, and a line over one standard error to either side of its end.
fn draw_bar(svg: &mut Svg, bar: &CoverageBar, colour: &str, place: Rect) {
    let baseline = place.y + 15.0;
    let per_cent = format!("{:.1} ± {:.1} %", 100.0 * bar.coverage, 100.0 * bar.std_error);
    svg.text("start strong", (place.x, baseline), &bar.label);
    svg.text("end", (place.right(), baseline), &per_cent);
    let track = track(place);
    svg.rect("track", track);
    let reach = |share: f32| track.x + f64::from(share.clamp(0.0, 1.0)) * track.width;
    if bar.coverage.is_finite() {
        svg.rect(&format!("bar {colour}"), Rect { width: reach(bar.coverage) - track.x, ..track });
        let middle = track.y + track.height / 2.0;
        let [low, high] = [bar.coverage - bar.std_error, bar.coverage + bar.std_error].map(reach);
        svg.line("line ink", (low, middle), (high, middle));
    }
}
