//! Histogram of standardised residuals, which are standard normal if every predicted variance is right.

use core::f64::consts::TAU;

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::{Range, short_number};
use super::svg::{Rect, Svg};
use super::trace;

/// The data of [`histogram`].
pub struct Histogram<'a> {
    /// (truth − mean) / standard deviation, one per prediction.
    pub residuals: &'a [f32],
}

/// Residuals beyond this are counted in the legend instead of drawn.
const REACH: f64 = 4.0;

const BIN: f64 = 0.25;

/// Density of N(0, 1) at its mean, which is always in the plot.
const NORMAL_PEAK: f64 = 0.399;

/// Density of standardised residuals with the standard normal density.
pub fn histogram(data: &Histogram) -> Figure {
    let finite: Vec<f64> = data.residuals.iter().map(|&r| f64::from(r)).filter(|r| r.is_finite()).collect();
    let density = densities(&finite);
    let peak = density.iter().copied().fold(NORMAL_PEAK, f64::max);
    let x = Axis::new("(truth − prediction) / standard deviation", Range::new(-REACH, REACH));
    let y = Axis::new("density", Range::new(0.0, 1.08 * peak));
    let chart = Chart::new(HALF, x, y, legend(&finite));
    Figure::Half(chart.draw("Histogram of standardised residuals", !finite.is_empty(), |svg| {
        draw_bins(svg, &chart, &density);
        let normal = (-80..=80).map(|step| f64::from(step) * REACH / 80.0);
        svg.path("line ink", &trace::curve(normal.map(|x| chart.place(x, normal_density(x)))));
    }))
}

fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / TAU.sqrt()
}

/// Density of the values in each bin.
fn densities(values: &[f64]) -> Vec<f64> {
    let mut density = vec![0.0; (2.0 * REACH / BIN) as usize];
    for value in values.iter().filter(|value| value.abs() < REACH) {
        density[((value + REACH) / BIN) as usize] += 1.0 / (values.len() as f64 * BIN);
    }
    density
}

fn draw_bins(svg: &mut Svg, chart: &Chart, density: &[f64]) {
    for (bin, &height) in density.iter().enumerate().filter(|(_, height)| **height > 0.0) {
        let left = -REACH + bin as f64 * BIN;
        let (x, y) = chart.place(left, height);
        let (right, bottom) = chart.place(left + BIN, 0.0);
        svg.rect("bar blue", Rect { x: x + 0.5, y, width: right - x - 1.0, height: bottom - y });
    }
}

fn legend(values: &[f64]) -> Vec<Entry> {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let std_dev = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let beyond = values.iter().filter(|value| value.abs() >= REACH).count();
    let outside = if beyond == 0 { String::new() } else { format!(", {beyond} beyond ±{REACH}") };
    let summary =
        format!("residuals: mean {}, std dev {}{outside}", short_number(mean), short_number(std_dev));
    vec![Entry::new(Mark::Line("ink"), "N(0, 1)"), Entry::new(Mark::Bar("blue"), summary)]
}
