//! Scores before and after adaptation as a table.

use super::replay::{AdaptScores, AmountScores};
use crate::commands::text_table;
use crate::evaluate::Scores;

pub(super) fn render(scores: &AdaptScores) -> String {
    let mut text = text_table::render(&table(scores));
    text += "\nexported → adapted, on the rows after the labelled ones; RMSE and width of the 90 % interval in raw units\n";
    text += &format!(
        "{} covariance: {} bytes of RAM, {} without adaptation\n",
        scores.covariance, scores.arena_bytes, scores.exported_arena_bytes
    );
    text
}

/// One row per number of labelled rows, below a heading.
pub(super) fn table(scores: &AdaptScores) -> Vec<Vec<String>> {
    let timed = scores.amounts.iter().any(|amount| amount.seconds.is_some());
    let mut heading = vec!["labelled rows"];
    heading.extend(timed.then_some("seconds"));
    heading.extend(["scored rows", "RMSE", "R²", "90 % covers", "width"]);
    let mut rows = vec![heading.into_iter().map(String::from).collect::<Vec<_>>()];
    rows.extend(scores.amounts.iter().map(row));
    rows
}

fn row(amount: &AmountScores) -> Vec<String> {
    let mut cells = vec![amount.rows.to_string()];
    cells.extend(amount.seconds.map(|seconds| format!("{seconds:.1}")));
    cells.push(amount.adapted.n.to_string());
    let both = |figure: &dyn Fn(&Scores) -> String| {
        format!("{} → {}", figure(&amount.exported), figure(&amount.adapted))
    };
    let percent = |scores: &Scores| {
        format!("{:.1} %", 100.0 * scores.uncertainty.coverage.get("90").unwrap_or(&f64::NAN))
    };
    cells.push(both(&|scores| format!("{:.4}", scores.mse.sqrt())));
    cells.push(both(&|scores| format!("{:.3}", scores.r2)));
    cells.push(both(&percent));
    cells.push(both(&|scores| format!("{:.4}", scores.uncertainty.width.get("90").unwrap_or(&f64::NAN))));
    cells
}
