//! Before and after adaptation, as a page.

use super::replay::Replay;
use super::rows::LabelledRows;
use super::text;
use crate::commands::plot_limits::{MOST_CHANNELS, Z_90, left_out};
use crate::data::Rows;
use crate::prediction::SequencePrediction;
use crate::report::plot::{self, Area, Curve, CurveStyle, Series, ShadedRange};
use crate::report::{Body, KeyFigure, Report, ReportTable, Section};

/// Points of a curve; of longer sequences every few rows are drawn.
const MOST_POINTS: usize = 1500;

pub(super) fn page(title: &str, hz: Option<f64>, rows: &LabelledRows, replayed: &Replay) -> Report {
    let (names, amounts) = (&rows.output_names, &replayed.scores.amounts);
    let shown = names.iter().enumerate().take(MOST_CHANNELS);
    let mut sections: Vec<Section> =
        shown.map(|(output, name)| section(output, name, hz, rows, replayed)).collect();
    let mut cells = text::table(&replayed.scores);
    let columns = cells.remove(0);
    sections.push(Section {
        heading: "By number of labelled rows".into(),
        text: "Exported → adapted, scored on the rows after the labelled ones, in raw units.".into(),
        body: Body::Table(ReportTable { columns, rows: cells }),
    });
    let last = amounts.last();
    let figure = |label: &str, value: &dyn Fn(&crate::evaluate::Scores) -> String| {
        last.map(|amount| {
            let note = format!("{} as exported", value(&amount.exported));
            KeyFigure::new(label, value(&amount.adapted), note)
        })
    };
    let covers = |scores: &crate::evaluate::Scores| {
        format!("{:.1} %", 100.0 * scores.uncertainty.coverage.get("90").unwrap_or(&f64::NAN))
    };
    let figures =
        [figure("R²", &|scores| format!("{:.3}", scores.r2)), figure("90 % interval covers", &covers)];
    Report {
        title: title.into(),
        subtitle: format!(
            "The first sequence, exported and adapted with the labels of its first {} rows (shaded); the band is the 90 % interval \
             of the adapted model.{}",
            last.map_or(0, |amount| amount.rows),
            left_out(names.len())
        ),
        key_figures: figures.into_iter().flatten().collect(),
        sections,
    }
}

fn section(output: usize, name: &str, hz: Option<f64>, rows: &LabelledRows, replayed: &Replay) -> Section {
    let (truth, exported) = (&rows.sequences[0].targets, &replayed.exported[0]);
    let adapted = &replayed.adapted[0];
    let steps: Vec<usize> = (0..truth.len()).step_by(truth.len().div_ceil(MOST_POINTS).max(1)).collect();
    let unit = |step: usize| hz.map_or(step as f64 + 1.0, |hz| step as f64 / hz) as f32;
    let column = |rows: &Rows| -> Vec<f32> { steps.iter().map(|step| rows.row(*step)[output]).collect() };
    let edge = |sign: f32| -> Vec<f32> {
        let spread = |prediction: &SequencePrediction, step| Z_90 * prediction.variance(step, output).sqrt();
        steps.iter().map(|step| adapted.mean.row(*step)[output] + sign * spread(adapted, *step)).collect()
    };
    let labelled = replayed.scores.amounts.last().map_or(0, |amount| amount.rows.min(truth.len()));
    let shaded =
        (labelled > 0).then(|| ShadedRange { from: unit(0), to: unit(labelled), label: "labelled".into() });
    Section {
        heading: name.into(),
        text: String::new(),
        body: Body::Svg(plot::series(&Series {
            name: "Adapted prediction against truth",
            x: &steps.iter().map(|step| unit(*step)).collect::<Vec<_>>(),
            areas: &[Area { label: "90 % band", lower: &edge(-1.0), upper: &edge(1.0) }],
            curves: &[
                Curve { label: "exported", values: &column(&exported.mean), style: CurveStyle::Background },
                Curve { label: "truth", values: &column(truth), style: CurveStyle::Truth },
                Curve { label: "adapted", values: &column(&adapted.mean), style: CurveStyle::Estimate },
            ],
            shaded: shaded.as_slice(),
            x_label: if hz.is_some() { "time (s)" } else { "row" },
            y_label: name,
        })),
    }
}
