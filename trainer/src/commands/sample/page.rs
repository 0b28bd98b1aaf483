//! A prefix and its sampled continuations, as a page.

use super::Futures;
use super::statistics::FutureStatistics;
use crate::commands::plot_limits::{MOST_CHANNELS, MOST_ROWS, left_out};
use crate::data::Rows;
use crate::report::plot::{self, Area, Curve, CurveStyle, Series};
use crate::report::{Report, Section};

/// Number of samples that are drawn individually.
const SHOWN_FUTURES: usize = 5;

pub(super) fn page(title: &str, futures: &Futures, summary: &FutureStatistics) -> Report {
    let sections = futures.names.iter().enumerate().take(MOST_CHANNELS);
    Report {
        title: title.into(),
        subtitle: format!(
            "Step 0 is the last row of the prefix. Bands contain the central 50 % and 90 % of all samples at each step; {} of \
             them are drawn.{}",
            futures.draws.len().min(SHOWN_FUTURES),
            left_out(futures.names.len())
        ),
        key_figures: Vec::new(),
        sections: sections.map(|(channel, name)| section(channel, name, futures, summary)).collect(),
    }
}

fn section(channel: usize, name: &str, futures: &Futures, summary: &FutureStatistics) -> Section {
    let steps = summary.mean.len().min(MOST_ROWS);
    let past = futures.prefix.len().min(MOST_ROWS / 2);
    let first = futures.prefix.len() - past;
    let seen: Vec<f32> = (first..futures.prefix.len()).map(|row| futures.prefix.row(row)[channel]).collect();
    let nothing = |count: usize| std::iter::repeat_n(f32::NAN, count);
    let ahead = |rows: &Rows| -> Vec<f32> {
        nothing(past).chain((0..steps).map(|step| rows.row(step)[channel])).collect()
    };
    let prefix: Vec<f32> = seen.into_iter().chain(nothing(steps)).collect();
    let quantiles = summary.quantiles.each_ref().map(ahead);
    let single: Vec<Vec<f32>> = futures.draws.iter().take(SHOWN_FUTURES).map(ahead).collect();
    let mean = ahead(&summary.mean);
    let came = futures.truth.as_ref().map(|truth| -> Vec<f32> {
        let known = truth.iter().take(steps).map(|row| row[channel]);
        nothing(past).chain(known).chain(nothing(steps)).take(past + steps).collect()
    });
    let label = |index: usize| if index == 0 { "single futures" } else { "" };
    let mut curves: Vec<Curve<'_>> = single
        .iter()
        .enumerate()
        .map(|(index, values)| Curve { label: label(index), values, style: CurveStyle::Background })
        .collect();
    curves.push(Curve { label: "prefix", values: &prefix, style: CurveStyle::Truth });
    if let Some(values) = &came {
        curves.push(Curve { label: "truth", values, style: CurveStyle::Truth });
    }
    curves.push(Curve { label: "mean of all futures", values: &mean, style: CurveStyle::Estimate });
    let figure = plot::series(&Series {
        name: "A prefix and its futures",
        x: &(0..past + steps).map(|at| at as f32 - past as f32 + 1.0).collect::<Vec<_>>(),
        areas: &[
            Area { label: "90 % of futures", lower: &quantiles[0], upper: &quantiles[4] },
            Area { label: "50 %", lower: &quantiles[1], upper: &quantiles[3] },
        ],
        curves: &curves,
        shaded: &[],
        x_label: "step",
        y_label: name,
    });
    Section::plot(name, figure)
}
