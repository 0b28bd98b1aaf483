//! An evaluation as plain tables.

use std::collections::BTreeMap;

use super::classes::{MOST_CLASSES, class_rows, confusion_rows};
use super::{BeforeRows, Evaluation, monte_carlo};
use crate::commands::text_table;
use crate::evaluate::{Baseline, ClassificationScores, NovelRows, OutputScores, Scores};

/// Scores and baselines with explanations.
pub(super) fn render(found: &Evaluation) -> String {
    let mut text = text_table::render(&score_rows(&found.scores));
    text += &format!("\n{}; {}\n", found.kind, found.convention);
    text += "50 %, 90 %, 95 %: fraction of values inside that interval, ± standard error with regard to autocorrelation; \
             epistemic: its fraction of the predicted variance\n";
    text += &classes(found);
    text += &found.novel_rows.as_ref().map_or(String::new(), novel);
    text += &found.before_rows.as_ref().map_or(String::new(), before_rows);
    text += &found.monte_carlo.as_ref().map_or(String::new(), monte_carlo::render);
    text += &found.sharpened.as_ref().map_or(String::new(), monte_carlo::render_sharpened);
    if !found.baselines.is_empty() {
        text += &format!("\n{}\n", text_table::render(&comparison_rows(found)));
        for baseline in &found.baselines {
            text += &format!("{}: {}{}\n", baseline.name, baseline.detail, remark(baseline));
        }
        text += &comparison(found);
    }
    text
}

/// How well the most probable class of a row is right, by the model and by baselines.
fn classes(found: &Evaluation) -> String {
    let Some(scores) = &found.classification else { return String::new() };
    let mut text = format!("\n{}", text_table::render(&class_comparison_rows(scores, &found.baselines)));
    text += &format!("\n{}", text_table::render(&class_rows(scores)));
    if scores.confusion.classes.len() <= MOST_CLASSES {
        text += &format!("\n{}", text_table::render(&confusion_rows(scores)));
    }
    text
}

/// The model and every baseline as classifiers of rows, below a heading.
pub(super) fn class_comparison_rows(
    scores: &ClassificationScores,
    baselines: &[Baseline],
) -> Vec<Vec<String>> {
    let heading = ["model", "accuracy", "balanced accuracy", "macro F1", "ECE", "rows"];
    let row = |name: &str, scores: &ClassificationScores| {
        let ece = scores.reliability.as_ref().map_or(f64::NAN, |reliability| reliability.ece);
        let numbers = [scores.accuracy, scores.balanced_accuracy, scores.macro_f1, ece];
        let mut cells = vec![name.to_string()];
        cells.extend(numbers.map(|number| format!("{number:.4}")));
        cells.push(scores.n.to_string());
        cells
    };
    let named = baselines.iter().filter_map(|found| Some(row(&found.name, found.classification.as_ref()?)));
    [heading.map(String::from).to_vec(), row("this model", scores)].into_iter().chain(named).collect()
}

/// How many values were predicted from rows unlike the training data, and coverage there and elsewhere.
fn novel(rows: &NovelRows) -> String {
    let all = rows.novel_values + rows.familiar_values;
    let covered = |coverage: Option<f64>| coverage.map_or("-".into(), per_cent);
    format!(
        "{} of these values are predictions from rows unlike the training data, which the model reports (novelty): \
         their 90 % interval covers {}; that of all others {}\n",
        per_cent(rows.novel_values as f64 / all.max(1) as f64),
        covered(rows.novel_coverage),
        covered(rows.familiar_coverage)
    )
}

/// Predictions of rows before they are observed.
fn before_rows(found: &BeforeRows) -> String {
    let BeforeRows { scores, surprise } = found;
    let heading = ["before a row is read", "NLL", "R²", "90 %", "mean surprise", "90 % of rows as read"];
    let coverage =
        Coverage { shares: &scores.uncertainty.coverage, std_errors: &scores.uncertainty.coverage_std_error };
    let row = vec![
        "clean rows, predicted".to_string(),
        format!("{:.4}", scores.nll),
        format!("{:.4}", scores.r2),
        coverage.cell("90"),
        format!("{:.4}", surprise.mean_nats),
        per_cent(surprise.coverage),
    ];
    format!("\n{}", text_table::render(&[heading.map(String::from).to_vec(), row]))
}

/// One row per output and one for all, below a heading.
pub(super) fn score_rows(scores: &Scores) -> Vec<Vec<String>> {
    let heading =
        ["output", "NLL", "MSE", "R²", "CRPS", "50 %", "90 %", "95 %", "width of 90 %", "epistemic", "n"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(scores.per_output.iter().map(output_row));
    if scores.per_output.len() > 1 {
        rows.push(total_row(scores));
    }
    rows
}

fn output_row(output: &OutputScores) -> Vec<String> {
    let numbers = numbers(output.nll, output.mse, output.r2, output.crps);
    let variances = (output.uncertainty.epistemic, output.uncertainty.aleatoric);
    let coverage =
        Coverage { shares: &output.uncertainty.coverage, std_errors: &output.uncertainty.coverage_std_error };
    row(&output.name, numbers, coverage, &output.uncertainty.width, variances, output.n)
}

fn total_row(scores: &Scores) -> Vec<String> {
    let numbers = numbers(scores.nll, scores.mse, scores.r2, scores.crps);
    let coverage =
        Coverage { shares: &scores.uncertainty.coverage, std_errors: &scores.uncertainty.coverage_std_error };
    row(
        "all",
        numbers,
        coverage,
        &scores.uncertainty.width,
        (scores.uncertainty.epistemic, scores.uncertainty.aleatoric),
        scores.n,
    )
}

/// The first cells of a row.
fn numbers(nll: f64, mse: f64, r2: f64, crps: f64) -> [String; 4] {
    [format!("{nll:.4}"), format!("{mse:.4}"), explained(r2), format!("{crps:.4}")]
}

/// R²; `-` for outputs that never change, which have no variance to explain.
fn explained(r2: f64) -> String {
    if r2.is_nan() { "-".into() } else { format!("{r2:.4}") }
}

/// Coverage and its standard error by the percentage of the interval.
#[derive(Clone, Copy)]
struct Coverage<'a> {
    shares: &'a BTreeMap<String, f64>,
    std_errors: &'a BTreeMap<String, f64>,
}

impl Coverage<'_> {
    fn cell(self, percent: &str) -> String {
        covered(self.shares.get(percent).copied(), self.std_errors.get(percent).copied())
    }
}

fn row(
    name: &str,
    numbers: [String; 4],
    coverage: Coverage<'_>,
    width: &BTreeMap<String, f64>,
    (epistemic, aleatoric): (f64, f64),
    n: usize,
) -> Vec<String> {
    let mut cells = vec![name.to_string()];
    cells.extend(numbers);
    cells.extend(["50", "90", "95"].map(|percent| coverage.cell(percent)));
    cells.push(width.get("90").map_or("-".into(), |width| format!("{width:.4}")));
    cells.push(per_cent(epistemic / (epistemic + aleatoric)));
    cells.push(n.to_string());
    cells
}

pub(super) fn per_cent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "-".into() }
}

/// A coverage with its standard error, such as 91.8 ± 0.9 %; `-` without one.
pub(super) fn covered(coverage: Option<f64>, std_error: Option<f64>) -> String {
    match (coverage, std_error) {
        (Some(share), Some(error)) if share.is_finite() => {
            format!("{:.1} ± {:.1} %", 100.0 * share, 100.0 * error)
        }
        _ => "-".into(),
    }
}

/// The model and every baseline, below a heading.
pub(super) fn comparison_rows(found: &Evaluation) -> Vec<Vec<String>> {
    let mut rows = vec![comparison_heading(), comparison_row("this model", &found.scores)];
    rows.extend(found.baselines.iter().map(|baseline| {
        let mark = if baseline.sees_targets { " *" } else { "" };
        comparison_row(&format!("{}{mark}", baseline.name), &baseline.scores)
    }));
    rows
}

pub(in crate::commands) fn comparison_heading() -> Vec<String> {
    let heading = ["model", "NLL", "standardised", "MSE", "squares per step", "R²", "CRPS", "90 %"];
    heading.map(String::from).to_vec()
}

pub(in crate::commands) fn comparison_row(name: &str, scores: &Scores) -> Vec<String> {
    let Scores { nll, nll_standardised, mse, sse_per_step, r2, crps, .. } = scores;
    let number = |value: &f64| format!("{value:.4}");
    let standardised = nll_standardised.as_ref().map_or("-".into(), number);
    let coverage =
        Coverage { shares: &scores.uncertainty.coverage, std_errors: &scores.uncertainty.coverage_std_error }
            .cell("90");
    vec![
        name.into(),
        number(nll),
        standardised,
        number(mse),
        number(sse_per_step),
        explained(*r2),
        number(crps),
        coverage,
    ]
}

pub(super) fn remark(baseline: &Baseline) -> &'static str {
    if baseline.sees_targets { " (* uses past targets, which the model does not)" } else { "" }
}

/// The model compared with the best baseline that uses no more data.
pub(super) fn comparison(found: &Evaluation) -> String {
    let fair = found.baselines.iter().filter(|baseline| !baseline.sees_targets);
    let Some(best) = fair.min_by(|a, b| a.scores.nll.total_cmp(&b.scores.nll)) else { return String::new() };
    let gain = best.scores.nll - found.scores.nll;
    let comparison = if gain > 0.0 { "better" } else { "worse" };
    format!(
        "This model is {:.4} nats per step {comparison} than the best of them ({}); its squared error is {:.3} times as large.\n",
        gain.abs(),
        best.name,
        found.scores.mse / best.scores.mse
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_never_changes_has_no_r2_but_every_other_number() {
        assert_eq!(numbers(0.5, 0.0, f64::NAN, 0.25), ["0.5000", "0.0000", "-", "0.2500"]);
        assert_eq!(numbers(f64::NAN, 1.0, -0.5, 0.25), ["NaN", "1.0000", "-0.5000", "0.2500"]);
    }
}
