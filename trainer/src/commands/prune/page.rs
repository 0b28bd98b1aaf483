//! A pruning curve as a page.

use std::path::Path;

use super::{Pruning, text};
use crate::report::plot::{self, Curve, CurveStyle, Figure, Series};
use crate::report::{Body, KeyFigure, Report, ReportTable, Section};

/// The curve, first its NLL.
pub(super) fn page(run: &Path, found: &Pruning) -> Report {
    let mut sections = vec![Section {
        heading: "What pruning costs".into(),
        text: found.convention.into(),
        body: Body::Svg(nll(found)),
    }];
    if found.curve.iter().any(|point| point.scores.coverage.contains_key("90")) {
        sections.push(Section::plot("Coverage of the 90 % interval", coverage(found)));
    }
    let mut rows = text::rows(found);
    let columns = rows.remove(0);
    sections.push(Section {
        heading: "Every point".into(),
        text: String::new(),
        body: Body::Table(ReportTable { columns, rows }),
    });
    Report {
        title: format!("Pruning {}", run.display()),
        subtitle: text::heading(found),
        key_figures: key_figures(found),
        sections,
    }
}

fn key_figures(found: &Pruning) -> Vec<KeyFigure> {
    let Some(chosen) = &found.chosen else { return Vec::new() };
    let whole = found.curve.first().map_or(f64::NAN, |point| point.scores.nll);
    let point = found.trained.as_ref().map_or(chosen, |trained| &trained.point);
    let left = 100.0 * point.weights.left as f64 / point.weights.all.max(1) as f64;
    vec![
        KeyFigure::new("Left", format!("{left:.1} %"), "of the weights"),
        KeyFigure::new("NLL", format!("{:.4}", point.scores.nll), "on the validation data"),
        KeyFigure::new("Change", format!("{:+.4}", point.scores.nll - whole), "nats"),
    ]
}

fn nll(found: &Pruning) -> Figure {
    let unit = if text::is_text(found) { "NLL (nats per token)" } else { "NLL (nats per step)" };
    let values: Vec<f64> = found.curve.iter().map(|point| point.scores.nll).collect();
    let shown = without_last_rise(&values);
    let curve = Curve { label: "validation data", values: &shown, style: CurveStyle::Estimate };
    draw(found, "NLL against the share that is removed", unit, &[curve])
}

fn coverage(found: &Pruning) -> Figure {
    let covered = |point: &crate::evaluate::PruningPoint| point.scores.coverage.get("90").copied();
    let covered: Vec<f32> = found
        .curve
        .iter()
        .map(|point| covered(point).map_or(f32::NAN, |share| 100.0 * share as f32))
        .collect();
    let promised = vec![90.0; covered.len()];
    let curves = [
        Curve { label: "promised", values: &promised, style: CurveStyle::Truth },
        Curve { label: "observed", values: &covered, style: CurveStyle::Estimate },
    ];
    draw(found, "Coverage against the share that is removed", "values inside (%)", &curves)
}

fn draw(found: &Pruning, name: &str, y_label: &str, curves: &[Curve<'_>]) -> Figure {
    let x: Vec<f32> = found.curve.iter().map(|point| 100.0 * point.removed as f32).collect();
    let x_label = "removed (%)";
    plot::series(&Series { name, x: &x, areas: &[], curves, shaded: &[], x_label, y_label })
}

/// Leaves out the points where the network has collapsed, which would flatten all others.
fn without_last_rise(nlls: &[f64]) -> Vec<f32> {
    let mut sorted = nlls.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or(0.0);
    let most = at(0.7) + 2.0 * (at(0.7) - at(0.0));
    nlls.iter().map(|nll| if *nll <= most { *nll as f32 } else { f32::NAN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collapse_does_not_flatten_the_curve() {
        let shown = without_last_rise(&[1.0, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 90.0]);
        assert_eq!(shown[..7], [1.0, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0]);
        assert!(shown[7].is_nan());
        assert_eq!(without_last_rise(&[2.0, 2.0]), [2.0, 2.0]);
        assert!(without_last_rise(&[]).is_empty());
    }
}
