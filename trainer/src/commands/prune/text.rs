//! A pruning curve as text.

use super::{Arguments, Pruning};
use crate::commands::text_table;
use crate::evaluate::PruningPoint;
use crate::nn::{PruningCriterion, PruningUnit, WeightsLeft};

pub(super) fn render(arguments: &Arguments, found: &Pruning) -> String {
    let mut text = format!("{}\n\n{}", heading(found), text_table::render(&rows(found)));
    if !found.maps.is_empty() {
        let map = |map: &super::MapLeft| format!("{} {}", map.name, share_left(map.weights));
        let maps: Vec<String> = found.maps.iter().map(map).collect();
        text += &format!("\nweights left at --keep: {}\n", maps.join(", "));
    }
    if let Some(trained) = &found.trained {
        text += &match trained.best_epoch {
            0 => format!("none of {} epochs was better than the pruned network itself\n", trained.epochs),
            best => format!("epoch {best} of {} is the best\n", trained.epochs),
        };
    }
    if let Some(out) = &arguments.out {
        text += &format!("{}: the pruned run\n", out.display());
    }
    text += &format!("\n{}\n", found.convention);
    text
}

/// What was ordered, and how.
pub(super) fn heading(found: &Pruning) -> String {
    let what = match found.unit {
        PruningUnit::Weight => "weights",
        PruningUnit::Block => "blocks of four rows and two columns",
    };
    let how = match (found.criterion, found.unit) {
        (PruningCriterion::SignalToNoise, PruningUnit::Weight) => "signal-to-noise ratio |μ|/σ",
        (PruningCriterion::SignalToNoise, PruningUnit::Block) => "norm over noise",
        (PruningCriterion::Magnitude, PruningUnit::Weight) => {
            "magnitude relative to their map: they have no variances"
        }
        (PruningCriterion::Magnitude, PruningUnit::Block) => {
            "norm relative to their map: their weights have no variances"
        }
    };
    format!("{} {what} in the order of their {how}", found.units)
}

/// The curve as a table, with the chosen point below it; the first row names the columns.
pub(super) fn rows(found: &Pruning) -> Vec<Vec<String>> {
    let per_token = is_text(found);
    let last = if per_token { ["perplexity"].to_vec() } else { vec!["90 % interval", "calibration error"] };
    let names = [&["removed", "weights left", "NLL", "change"][..], &last].concat();
    let mut rows = vec![names.into_iter().map(String::from).collect::<Vec<_>>()];
    let whole = found.curve.first().map_or(f64::NAN, |point| point.scores.nll);
    let mut add = |name: String, point: &PruningPoint| rows.push(row(name, point, whole, per_token));
    for point in &found.curve {
        add(per_cent(point.removed), point);
    }
    if let Some(chosen) = &found.chosen {
        add(format!("chosen: {}", per_cent(chosen.removed)), chosen);
    }
    if let Some(trained) = &found.trained {
        add(format!("after {} epochs", trained.epochs), &trained.point);
    }
    rows
}

/// Models of text have neither intervals nor a calibration curve.
pub(super) fn is_text(found: &Pruning) -> bool {
    found.curve.iter().all(|point| point.scores.calibration_error.is_none())
}

fn row(name: String, point: &PruningPoint, whole: f64, per_token: bool) -> Vec<String> {
    let scores = &point.scores;
    let optional = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share));
    let last = match per_token {
        true => vec![format!("{:.2}", scores.nll.exp())],
        false => vec![optional(scores.coverage.get("90").copied()), optional(scores.calibration_error)],
    };
    let nll = [format!("{:.4}", scores.nll), format!("{:+.4}", scores.nll - whole)];
    [vec![name, share_left(point.weights)], nll.to_vec(), last].concat()
}

fn share_left(WeightsLeft { left, all }: WeightsLeft) -> String {
    format!("{left} of {all}")
}

fn per_cent(share: f64) -> String {
    format!("{} %", (1000.0 * share).round() / 10.0)
}
