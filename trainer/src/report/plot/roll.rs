//! Piano rolls below each other, such as played, observed and denoised notes.

use super::chart::{Axis, Chart};
use super::figure::{Drawing, Figure};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::{Rect, Size, Svg};
use crate::data::Rows;

/// The data of [`rolls`].
pub struct Rolls<'a> {
    /// From top to bottom.
    pub rolls: &'a [Roll<'a>],
    /// Number of the first key on the vertical axis.
    pub first_key: usize,
    /// Quantity of the horizontal axis.
    pub x_label: &'a str,
    /// Quantity of the vertical axis.
    pub y_label: &'a str,
}

/// One roll: probabilities of notes, a row per step and a column per key.
pub struct Roll<'a> {
    /// Its label.
    pub label: &'a str,
    /// The probabilities; 0 and 1 for known notes.
    pub notes: &'a Rows,
    /// A colour class of the style sheet.
    pub colour: &'static str,
}

/// Number of shades of a note.
const LEVELS: usize = 10;

/// Height of one roll.
const HEIGHT: f64 = 250.0;

/// Rolls on the same axes, as wide as the page.
pub fn rolls(data: &Rolls) -> Figure {
    let keys = used_keys(data.rolls);
    Figure::full(|size| {
        let size = Size { height: HEIGHT, ..size };
        let drawings = data.rolls.iter().map(|roll| draw(data, roll, keys, size)).collect();
        Drawing::stacked("Notes over time", drawings)
    })
}

/// The lowest key, and the one after the highest, with a visible note in any roll.
fn used_keys(rolls: &[Roll]) -> Option<[usize; 2]> {
    let notes = rolls.iter().flat_map(|roll| roll.notes.values.iter().enumerate().map(move |at| (roll, at)));
    let keys =
        notes.filter(|(_, (_, p))| level(**p) > 0).map(|(roll, (place, _))| place % roll.notes.channels);
    keys.fold(None, |range, key| {
        let [low, high] = range.unwrap_or([key, key + 1]);
        Some([low.min(key), high.max(key + 1)])
    })
}

/// The shade of a probability, 0 for none.
fn level(probability: f32) -> usize {
    (probability * LEVELS as f32).round().clamp(0.0, LEVELS as f32) as usize
}

fn draw(data: &Rolls, roll: &Roll, keys: Option<[usize; 2]>, size: Size) -> Drawing {
    let [low, high] = keys.unwrap_or([0, 1]);
    let key_of = |index: usize| (data.first_key + index) as f64;
    let steps = data.rolls.iter().map(|roll| roll.notes.len()).max().unwrap_or(0).max(1);
    let x = Axis { label: data.x_label, range: Range::new(0.5, steps as f64 + 0.5), least_step: 1.0 };
    let y = Axis {
        label: data.y_label,
        range: Range::new(key_of(low) - 0.5, key_of(high) - 0.5),
        least_step: 1.0,
    };
    let chart = Chart::new(size, x, y, vec![Entry::new(Mark::Bar(roll.colour), roll.label)]);
    chart.draw(roll.label, keys.is_some() && !roll.notes.is_empty(), |svg| {
        for shade in 1..=LEVELS {
            draw_shade(svg, &chart, roll, shade, key_of);
        }
    })
}

/// All notes of one shade.
fn draw_shade(svg: &mut Svg, chart: &Chart, roll: &Roll, shade: usize, key_of: impl Fn(usize) -> f64) {
    let places = roll.notes.values.iter().enumerate().filter(|(_, p)| level(**p) == shade);
    for (place, _) in places {
        let (step, key) = (place / roll.notes.channels, key_of(place % roll.notes.channels));
        let (left, top) = chart.place(step as f64 + 0.5, key + 0.5);
        let (right, bottom) = chart.place(step as f64 + 1.5, key - 0.5);
        let cell = Rect { x: left, y: top, width: right - left, height: bottom - top };
        svg.rect(&format!("solid shade{shade} {}", roll.colour), cell);
    }
}
