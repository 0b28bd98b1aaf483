//! Gaps and their imputations, as a page.

use super::FilledSequences;
use crate::commands::plot_limits::{MOST_CHANNELS, MOST_ROWS, Z_90, left_out};
use crate::data::Rows;
use crate::report::plot::{self, Area, Curve, CurveStyle, Series, ShadedRange};
use crate::report::{Report, Section};

pub(super) fn page(title: &str, filled: &FilledSequences, truth: Option<&[Rows]>) -> Report {
    // The first sequence with a gap.
    let has_gap = |rows: &Rows| rows.values.iter().any(|value| value.is_nan());
    let shown = filled.gappy.iter().position(has_gap).unwrap_or(0);
    let rows = filled.gappy[shown].len().min(MOST_ROWS);
    let names = filled.names.iter().enumerate().take(MOST_CHANNELS);
    let truth = truth.map(|sequences| &sequences[shown]);
    Report {
        title: title.into(),
        subtitle: format!(
            "Rows 1 to {rows} of sequence {}; gaps are shaded; the band is the 90 % interval of the imputed values.{}",
            shown + 1,
            left_out(filled.names.len())
        ),
        key_figures: Vec::new(),
        sections: names.map(|(channel, name)| section(channel, name, shown, rows, filled, truth)).collect(),
    }
}

fn section(
    channel: usize,
    name: &str,
    shown: usize,
    rows: usize,
    filled: &FilledSequences,
    truth: Option<&Rows>,
) -> Section {
    let column = |of: &Rows| -> Vec<f32> { (0..rows).map(|row| of.row(row)[channel]).collect() };
    let imputation = &filled.imputations[shown];
    let observed = column(&filled.gappy[shown]);
    let truth = truth.map(column);
    // Drawn from the last value before a gap to the first one after it, so that the curves meet.
    let near_gap = |row: usize| {
        let around = row.saturating_sub(1)..(row + 2).min(rows);
        observed[around].iter().any(|value| value.is_nan())
    };
    let inside = |value: &dyn Fn(usize) -> f32| -> Vec<f32> {
        (0..rows).map(|row| if near_gap(row) { value(row) } else { f32::NAN }).collect()
    };
    let mean = |row: usize| imputation.filled.row(row)[channel];
    let spread = |row: usize| {
        if observed[row].is_nan() { Z_90 * imputation.prediction.variance(row, channel).sqrt() } else { 0.0 }
    };
    let (fill, lower) = (inside(&mean), inside(&|row| mean(row) - spread(row)));
    let upper = inside(&|row| mean(row) + spread(row));
    let mut curves = Vec::new();
    if let Some(values) = &truth {
        curves.push(Curve { label: "truth", values, style: CurveStyle::Background });
    }
    curves.push(Curve { label: "observed", values: &observed, style: CurveStyle::Truth });
    curves.push(Curve { label: "imputed", values: &fill, style: CurveStyle::Estimate });
    let figure = plot::series(&Series {
        name: "Imputed gaps",
        x: &(1..=rows).map(|row| row as f32).collect::<Vec<_>>(),
        areas: &[Area { label: "90 % band", lower: &lower, upper: &upper }],
        curves: &curves,
        shaded: &gaps(&observed),
        x_label: "row",
        y_label: name,
    });
    Section::plot(name, figure)
}

/// The gaps of a column, rows counted from 1.
fn gaps(observed: &[f32]) -> Vec<ShadedRange> {
    let mut gaps: Vec<ShadedRange> = Vec::new();
    for row in (1..=observed.len()).filter(|row| observed[row - 1].is_nan()) {
        let row = row as f32;
        match gaps.last_mut() {
            Some(gap) if gap.to + 0.5 == row => gap.to = row + 0.5,
            _ => gaps.push(ShadedRange { from: row - 0.5, to: row + 0.5, label: String::new() }),
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_gaps_are_one() {
        let found = gaps(&[f32::NAN, 1.0, f32::NAN, f32::NAN]);
        let ends: Vec<(f32, f32)> = found.iter().map(|gap| (gap.from, gap.to)).collect();
        assert_eq!(ends, [(0.5, 1.5), (2.5, 4.5)]);
    }
}
