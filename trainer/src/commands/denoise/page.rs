//! Noisy and denoised rows, as a page.

use super::log::{DenoisingLog, SnrComparison};
use crate::commands::plot_limits::{MOST_CHANNELS, MOST_ROWS, Z_90, left_out};
use crate::data::Rows;
use crate::report::plot::{self, Area, Curve, CurveStyle, Series};
use crate::report::{KeyFigure, Report, Section};

pub(super) fn page(
    title: &str,
    names: &[String],
    log: &DenoisingLog,
    truth: Option<&[Rows]>,
    comparison: Option<&SnrComparison>,
) -> Report {
    let rows = log.noisy[0].len().min(MOST_ROWS);
    let truth = truth.map(|sequences| &sequences[0]);
    let sections = names.iter().enumerate().take(MOST_CHANNELS);
    Report {
        title: title.into(),
        subtitle: format!(
            "Rows 1 to {rows} of the first sequence, denoised causally. The band contains 90 % of the rows under the model: \
             noisy ones, unless it was trained on clean rows.{}",
            left_out(names.len())
        ),
        key_figures: comparison.map(key_figures).unwrap_or_default(),
        sections: sections.map(|(channel, name)| section(channel, name, rows, log, truth)).collect(),
    }
}

fn key_figures(comparison: &SnrComparison) -> Vec<KeyFigure> {
    let decibels = |value: f64| format!("{value:.1} dB");
    let (before, after) = (comparison.before.snr_db, comparison.after.snr_db);
    vec![
        KeyFigure::new("Before", decibels(before), "signal-to-noise ratio, mean over channels"),
        KeyFigure::new("After", decibels(after), "the same for the denoised rows"),
        KeyFigure::new("Gain", decibels(after - before), "6 dB is half the error"),
    ]
}

fn section(channel: usize, name: &str, rows: usize, log: &DenoisingLog, truth: Option<&Rows>) -> Section {
    let column = |of: &Rows| -> Vec<f32> { (0..rows).map(|row| of.row(row)[channel]).collect() };
    let (noisy, mean) = (column(&log.noisy[0]), column(&log.mean[0]));
    let std_dev = column(&log.std_dev[0]);
    let edge = |sign: f32| -> Vec<f32> {
        mean.iter().zip(&std_dev).map(|(mean, std_dev)| mean + sign * Z_90 * std_dev).collect()
    };
    let truth = truth.map(column);
    let mut curves = vec![Curve { label: "noisy", values: &noisy, style: CurveStyle::Background }];
    if let Some(values) = &truth {
        curves.push(Curve { label: "truth", values, style: CurveStyle::Truth });
    }
    curves.push(Curve { label: "denoised", values: &mean, style: CurveStyle::Estimate });
    let figure = plot::series(&Series {
        name: "Noisy and denoised rows",
        x: &(1..=rows).map(|row| row as f32).collect::<Vec<_>>(),
        areas: &[Area { label: "90 % band", lower: &edge(-1.0), upper: &edge(1.0) }],
        curves: &curves,
        shaded: &[],
        x_label: "row",
        y_label: name,
    });
    Section::plot(name, figure)
}
