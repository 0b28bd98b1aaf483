//! The evaluation of a classifier as a page with plots.

mod one_sequence;

use anyhow::Result;

use super::{ClassEvaluation, Evaluated, text};
use crate::commands::eval::page::section;
use crate::data::Rows;
use crate::evaluate::{ClassificationScores, Plane};
use crate::prediction::Reduction;
use crate::report::plot::{
    self, Calibration, CalibrationCurve, ClassPointSet, ClassPoints, Confusion, Rejection, RejectionCurve,
};
use crate::report::{Body, KeyFigure, Report, Section};

/// The page; `sequence` is the one whose neighbours and Jacobian are shown.
pub(super) fn page(
    title: &str,
    found: &ClassEvaluation,
    evaluated: &Evaluated<'_>,
    sequence: usize,
) -> Result<Report> {
    let mut sections = vec![
        points(&evaluated.classes, &evaluated.samples.labels, &evaluated.reduction),
        confusion(&found.scores),
        reliability(found),
        rejection(found),
    ];
    let details = found
        .baselines
        .iter()
        .map(|evaluation| format!("{}: {}.", evaluation.baseline.name, evaluation.baseline.detail));
    let details = format!("{}\n\n{}", text::rejection(found), details.collect::<Vec<_>>().join(" "));
    sections.push(section("Compared with baselines", &details, text::comparison_rows(found)));
    sections.extend(one_sequence::sections(evaluated, sequence)?);
    sections.push(section("Every class", "", text::class_rows(&found.scores)));
    Ok(Report {
        title: title.into(),
        subtitle: found.convention.into(),
        key_figures: key_figures(found),
        sections,
    })
}

fn key_figures(found: &ClassEvaluation) -> Vec<KeyFigure> {
    let scores = &found.scores;
    let mut figures = vec![
        KeyFigure::new("Accuracy", format!("{:.4}", scores.accuracy), format!("of {} sequences", scores.n)),
        KeyFigure::new("Balanced accuracy", format!("{:.4}", scores.balanced_accuracy), "mean over classes"),
    ];
    if let Some(nll) = scores.nll {
        figures.push(KeyFigure::new("NLL", format!("{nll:.4}"), "nats per sequence"));
    }
    if let Some(reliability) = &scores.reliability {
        figures.push(KeyFigure::new(
            "Calibration error",
            format!("{:.4}", reliability.ece),
            "0 would be perfect",
        ));
    }
    if let Some(unknown) = found.known.unknown {
        figures.push(KeyFigure::new(
            "Unknown",
            format!("{:.4}", unknown.auroc),
            "AUROC against known sequences",
        ));
    }
    figures
}

/// Embeddings in the plane of their first two principal components, by class.
pub(in crate::commands) fn points(
    classes: &[String],
    labels: &[Option<usize>],
    reduction: &Reduction,
) -> Section {
    let plane = Plane::fit(&reduction.mean);
    let of = |wanted: Option<usize>| -> Vec<[f32; 2]> {
        let rows = labels.iter().zip(reduction.mean.iter());
        rows.filter(|(label, _)| **label == wanted).map(|(_, row)| plane.project(row)).collect()
    };
    let places: Vec<Vec<[f32; 2]>> = (0..classes.len()).map(|class| of(Some(class))).collect();
    let unknown = of(None);
    let mut sets: Vec<ClassPointSet<'_>> = classes
        .iter()
        .zip(&places)
        .map(|(label, points)| ClassPointSet { label, points, unknown: false })
        .collect();
    if !unknown.is_empty() {
        sets.push(ClassPointSet { label: "unknown", points: &unknown, unknown: true });
    }
    let [first, second] = plane.explained.map(|share| format!("{:.0} % of the variance", 100.0 * share));
    Section {
        heading: "Embeddings".into(),
        text: "Every sequence is a point: its embedding, in the plane of the two directions with the largest variance (principal \
               components). Names are at the median of each class; rings are sequences of classes that the model was not \
               trained on."
            .into(),
        body: Body::Svg(plot::class_points(&ClassPoints {
            name: "Embeddings by class",
            classes: &sets,
            x_label: &format!("first component ({first})"),
            y_label: &format!("second component ({second})"),
        })),
    }
}

/// What was taken for what.
pub(in crate::commands) fn confusion(scores: &ClassificationScores) -> Section {
    let matrix = &scores.confusion;
    Section {
        heading: "Confusion matrix".into(),
        text: "Shaded by the share of the true class.".into(),
        body: Body::Svg(plot::confusion(&Confusion { classes: &matrix.classes, counts: &matrix.counts })),
    }
}

/// The model and the baselines that have probabilities and do not ignore the sequence.
fn with_probabilities(found: &ClassEvaluation) -> Vec<(&str, &ClassificationScores)> {
    let baselines = found.baselines.iter().map(|evaluation| &evaluation.baseline);
    let named = baselines.map(|baseline| (baseline.name.as_str(), &baseline.scores));
    std::iter::once(("this model", &found.scores))
        .chain(named.filter(|(_, scores)| scores.rejection.len() > 1))
        .collect()
}

fn reliability(found: &ClassEvaluation) -> Section {
    reliability_of(&with_probabilities(found))
}

/// Accuracy against confidence.
pub(in crate::commands) fn reliability_of(named: &[(&str, &ClassificationScores)]) -> Section {
    let points = |scores: &ClassificationScores| -> (Vec<f32>, Vec<f32>) {
        let bins = scores.reliability.iter().flat_map(|reliability| &reliability.bins);
        bins.map(|bin| (bin.confidence as f32, bin.accuracy as f32)).unzip()
    };
    let named: Vec<_> = named.iter().map(|(label, scores)| (*label, points(scores))).collect();
    let curves: Vec<CalibrationCurve<'_>> = named
        .iter()
        .map(|(label, (nominal, observed))| CalibrationCurve { label, nominal, observed })
        .collect();
    Section {
        heading: "Reliability".into(),
        text: "Of predictions that claim a probability of p %, p % should be right.".into(),
        body: Body::Svg(plot::reliability(&Calibration { curves: &curves })),
    }
}

fn rejection(found: &ClassEvaluation) -> Section {
    rejection_of(&with_probabilities(found))
}

/// Error against the share rejected.
pub(in crate::commands) fn rejection_of(named: &[(&str, &ClassificationScores)]) -> Section {
    let named: Vec<(&str, Vec<f32>, Vec<f32>)> = named
        .iter()
        .map(|(label, scores)| {
            let curve = &scores.rejection;
            let rejected = curve.iter().map(|point| point.rejected as f32).collect();
            (*label, rejected, curve.iter().map(|point| point.error as f32).collect())
        })
        .collect();
    let curves: Vec<RejectionCurve<'_>> =
        named.iter().map(|(label, rejected, error)| RejectionCurve { label, rejected, error }).collect();
    Section {
        heading: "Rejection".into(),
        text: "Error of the sequences that are left when the least confident ones are rejected.".into(),
        body: Body::Svg(plot::rejection(&Rejection { curves: &curves })),
    }
}

/// Standard deviation of every channel of sequences.
fn channel_scales(sequences: &[&Rows]) -> Vec<f32> {
    let channels = sequences.first().map_or(0, |rows| rows.channels);
    let of_channel = |channel: usize| {
        let values = || sequences.iter().flat_map(|rows| rows.iter()).map(|row| f64::from(row[channel]));
        let values = || values().filter(|value| !value.is_nan());
        let n = values().count().max(1) as f64;
        let mean = values().sum::<f64>() / n;
        let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        if variance > 0.0 { variance.sqrt() as f32 } else { 1.0 }
    };
    (0..channels).map(of_channel).collect()
}
