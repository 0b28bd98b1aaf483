//! An evaluation as a page with plots.

use super::perturbed::PerturbedEvaluation;
use super::{Evaluation, classes, perturbed_page, text};
use crate::evaluate::{CalibrationPoint, ClassificationScores};
use crate::report::plot::{self, Calibration, CalibrationCurve, Histogram};
use crate::report::{Body, KeyFigure, Report, ReportTable, Section};

/// The page, which begins with `traces`; `residuals` are in predicted standard deviations.
pub(super) fn page(
    title: &str,
    found: &Evaluation,
    perturbed: Option<&PerturbedEvaluation>,
    residuals: &[f32],
    traces: Vec<Section>,
) -> Report {
    let mut sections = traces;
    if let Some(scores) = &found.classification {
        sections.push(classes::confusion(scores));
        let compared = text::class_comparison_rows(scores, &found.baselines);
        sections.push(section("Classes, compared with baselines", "", compared));
        sections.push(section("Every class", "", classes::class_rows(scores)));
        sections.push(classes::reliability_of(&[("this model", scores)]));
    } else {
        sections.push(calibration(found));
    }
    // Residuals of binary outcomes are never normal.
    if !found.scores.uncertainty.coverage.is_empty() {
        sections.push(histogram(residuals));
    }
    if !found.baselines.is_empty() {
        sections.push(section(
            "Compared with baselines",
            &comparison_text(found),
            text::comparison_rows(found),
        ));
    }
    sections.extend(perturbed.into_iter().flat_map(perturbed_page::sections));
    sections.push(section("Every output", "", text::score_rows(&found.scores)));
    Report {
        title: title.into(),
        subtitle: format!("{}. {}", found.kind, found.convention),
        key_figures: key_figures(found),
        sections,
    }
}

fn key_figures(found: &Evaluation) -> Vec<KeyFigure> {
    let scores = &found.scores;
    if let Some(classification) = &found.classification {
        return class_figures(scores.nll, classification);
    }
    let mut figures = vec![
        KeyFigure::new("NLL", format!("{:.4}", scores.nll), "nats per time step"),
        KeyFigure::new("R²", format!("{:.4}", scores.r2), "mean over outputs"),
        KeyFigure::new("CRPS", format!("{:.4}", scores.crps), "mean over values"),
    ];
    let (coverage, std_error) =
        (scores.uncertainty.coverage.get("90"), scores.uncertainty.coverage_std_error.get("90"));
    if coverage.is_some() {
        let value = text::covered(coverage.copied(), std_error.copied());
        figures.push(KeyFigure::new("90 % interval covers", value, "90 % would be perfect"));
    }
    figures
}

fn class_figures(nll: f64, scores: &ClassificationScores) -> Vec<KeyFigure> {
    vec![
        KeyFigure::new("Accuracy", format!("{:.4}", scores.accuracy), format!("of {} rows", scores.n)),
        KeyFigure::new("Balanced accuracy", format!("{:.4}", scores.balanced_accuracy), "mean over classes"),
        KeyFigure::new("Macro F1", format!("{:.4}", scores.macro_f1), "mean over classes"),
        KeyFigure::new("NLL", format!("{nll:.4}"), "nats per time step"),
    ]
}

fn calibration(found: &Evaluation) -> Section {
    let pairs = |curve: &[CalibrationPoint]| -> (Vec<f32>, Vec<f32>) {
        curve.iter().map(|point| (point.promised as f32, point.observed as f32)).unzip()
    };
    let named = std::iter::once(("this model", &found.scores))
        .chain(found.baselines.iter().map(|baseline| (baseline.name.as_str(), &baseline.scores)));
    let named: Vec<_> = named.map(|(name, scores)| (name, pairs(&scores.uncertainty.calibration))).collect();
    let curves: Vec<CalibrationCurve<'_>> = named
        .iter()
        .map(|(label, (nominal, observed))| CalibrationCurve { label, nominal, observed })
        .collect();
    Section {
        heading: "Calibration".into(),
        text: "Events with predicted probability p should have frequency p: values inside central intervals, or ones among binary \
               outputs. Below the diagonal a model is overconfident, above it underconfident."
            .into(),
        body: Body::Svg(plot::calibration(&Calibration { curves: &curves })),
    }
}

fn histogram(residuals: &[f32]) -> Section {
    Section {
        heading: "Residuals".into(),
        text: "Errors in predicted standard deviations, with the normal density that they should follow."
            .into(),
        body: Body::Svg(plot::histogram(&Histogram { residuals })),
    }
}

fn comparison_text(found: &Evaluation) -> String {
    let details: Vec<String> =
        found.baselines.iter().map(|baseline| format!("{}: {}.", baseline.name, baseline.detail)).collect();
    format!("{}\n\n{}", text::comparison(found), details.join(" "))
}

/// A table under a heading; the first row names the columns.
pub(super) fn section(heading: &str, text: &str, mut rows: Vec<Vec<String>>) -> Section {
    let columns = rows.remove(0);
    Section { heading: heading.into(), text: text.into(), body: Body::Table(ReportTable { columns, rows }) }
}
