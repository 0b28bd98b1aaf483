//! Loss of trials against one of their settings.

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::{Range, Tick, short_number};
use super::svg::{Svg, text_width};
use super::trace;

/// The data of [`trials`]. Values, losses and marks are parallel; the shortest determines the length.
pub struct Trials<'a> {
    /// The setting of each trial.
    pub values: Values<'a>,
    /// The loss of each trial.
    pub losses: &'a [f32],
    /// The status of each trial.
    pub marks: &'a [TrialMark],
    /// Name of the setting.
    pub x_label: &'a str,
    /// Quantity and unit of the losses.
    pub y_label: &'a str,
}

/// The settings of all trials.
pub enum Values<'a> {
    /// Numbers, on a logarithmic axis where they span more than a factor of twenty.
    Numbers(&'a [f32]),
    /// Names, next to each other.
    Words(&'a [String]),
}

/// The status of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialMark {
    /// It was stopped early.
    Stopped,
    /// It was trained to the end.
    Finished,
    /// The best one.
    Best,
}

/// Marks in the order in which they are drawn: the best on top.
const MARKS: [(TrialMark, &str, &str); 3] = [
    (TrialMark::Stopped, "muted", "stopped early"),
    (TrialMark::Finished, "blue", "trained to the end"),
    (TrialMark::Best, "vermillion", "best in the end"),
];

/// Loss against setting, one dot per trial.
///
/// Trials far worse than most are drawn at the upper edge, so that the good ones can be distinguished.
pub fn trials(data: &Trials) -> Figure {
    let setting = Setting::of(&data.values);
    let points = setting.places.iter().zip(data.losses).zip(data.marks);
    let points = points.map(|((&x, &y), &mark)| (x, f64::from(y), mark));
    let points: Vec<(f64, f64, TrialMark)> =
        points.filter(|(x, y, _)| x.is_finite() && y.is_finite()).collect();
    let shown = worth_showing(points.iter().map(|(_, y, _)| *y).collect());
    let x = Axis::new(data.x_label, setting.range);
    let y = Axis::new(data.y_label, shown.unwrap_or(Range::new(0.0, 1.0)).padded(0.05));
    let mut chart = Chart::new(HALF, x, y, legend());
    if let Some(ticks) = setting.ticks {
        chart.set_x_ticks(thinned(ticks, &chart));
    }
    Figure::Half(chart.draw("Loss of trials against a setting", shown.is_some(), |svg| {
        for (mark, colour, _) in MARKS {
            let of_mark = points.iter().filter(|point| point.2 == mark);
            draw_dots(svg, &chart, colour, of_mark.map(|(x, y, _)| (*x, *y)));
        }
    }))
}

fn legend() -> Vec<Entry> {
    MARKS.iter().map(|(_, colour, text)| Entry::new(Mark::Dot(colour), *text)).collect()
}

fn draw_dots(svg: &mut Svg, chart: &Chart, colour: &str, points: impl Iterator<Item = (f64, f64)>) {
    let top = chart.area.y + 3.0;
    let dots = points.map(|(x, y)| chart.place(x, y)).map(|(x, y)| (x, y.max(top)));
    svg.path(&format!("beads {colour}"), &trace::dots(dots));
}

/// From the best loss to three times the distance of the median, or to the worst.
fn worth_showing(mut losses: Vec<f64>) -> Option<Range> {
    losses.sort_by(f64::total_cmp);
    let (best, worst) = (*losses.first()?, *losses.last()?);
    let middle = losses[losses.len() / 2];
    Range::of([best, worst.min(best + 3.0 * (middle - best)).max(middle)])
}

/// Positions of the settings on the axis.
struct Setting {
    places: Vec<f64>,
    range: Range,
    /// Ticks, unless the axis is linear.
    ticks: Option<Vec<Tick>>,
}

/// From this ratio of largest to smallest on, an axis is logarithmic.
const WIDE: f64 = 20.0;

/// From this ratio on, only powers of ten have ticks.
const MANY_DECADES: f64 = 300.0;

impl Setting {
    fn of(values: &Values) -> Self {
        match values {
            Values::Numbers(numbers) => {
                Self::numbers(numbers.iter().map(|&number| f64::from(number)).collect())
            }
            Values::Words(words) => Self::words(words),
        }
    }

    fn numbers(places: Vec<f64>) -> Self {
        let range = Range::of(places.iter().copied()).unwrap_or(Range::new(0.0, 1.0));
        if !(range.low > 0.0 && range.high >= WIDE * range.low) {
            return Setting { places, range: range.padded(0.04), ticks: None };
        }
        let factors: &[f64] = if range.high >= MANY_DECADES * range.low { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = range.low.log10().floor() as i32..=range.high.log10().floor() as i32;
        let round = decades.flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)));
        let within = round.filter(|value| (range.low..=range.high).contains(value));
        let ticks = within.map(|value| Tick { value: value.log10(), label: short_number(value) }).collect();
        let range = Range::new(range.low.log10(), range.high.log10()).padded(0.04);
        Setting { places: places.iter().map(|place| place.log10()).collect(), range, ticks: Some(ticks) }
    }

    fn words(words: &[String]) -> Self {
        let mut names: Vec<&String> = words.iter().collect();
        names.sort();
        names.dedup();
        let place = |word: &String| names.iter().position(|name| *name == word).unwrap_or(0) as f64;
        let places = words.iter().map(place).collect();
        let tick = |(index, name): (usize, &&String)| Tick { value: index as f64, label: name.to_string() };
        let ticks = names.iter().enumerate().map(tick).collect();
        Setting { places, range: Range::new(-0.5, names.len().max(1) as f64 - 0.5), ticks: Some(ticks) }
    }
}

/// Ticks whose labels do not overlap.
fn thinned(ticks: Vec<Tick>, chart: &Chart) -> Vec<Tick> {
    let mut end = f64::NEG_INFINITY;
    let fits = |tick: &Tick| {
        let (centre, half) = (chart.place(tick.value, 0.0).0, text_width(&tick.label) / 2.0);
        let free = centre - half > end + 6.0;
        if free {
            end = centre + half;
        }
        free
    };
    ticks.into_iter().filter(fits).collect()
}
