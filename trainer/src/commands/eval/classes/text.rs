//! The evaluation of a classifier as plain tables.

use super::{BaselineEvaluation, ClassEvaluation};
use crate::commands::eval::text::per_cent;
use crate::commands::text_table;
use crate::evaluate::{ClassificationScores, KnownScores};

/// Up to this many classes, the confusion matrix is printed; `--json` and `--plot` have larger ones.
pub(in crate::commands::eval) const MOST_CLASSES: usize = 12;

pub(super) fn render(found: &ClassEvaluation) -> String {
    let mut text = format!("{}\n{}\n", text_table::render(&comparison_rows(found)), found.convention);
    for BaselineEvaluation { baseline, .. } in &found.baselines {
        text += &format!("{}: {}\n", baseline.name, baseline.detail);
    }
    if let Some(taught) = &found.taught {
        text += &format!(
            "`{}` was taught by {} examples and is one of the classes; baselines do not know it\n",
            taught.class, taught.shots
        );
    }
    text += &rejection(found);
    text += &format!("\n{}", text_table::render(&class_rows(&found.scores)));
    if found.scores.confusion.classes.len() <= MOST_CLASSES {
        text += &format!("\n{}", text_table::render(&confusion_rows(&found.scores)));
    }
    text += &format!("\n{}", text_table::render(&reliability_rows(&found.scores)));
    text + &format!("\n{}", text_table::render(&rejection_rows(&found.scores)))
}

/// The model and every baseline, below a heading.
pub(super) fn comparison_rows(found: &ClassEvaluation) -> Vec<Vec<String>> {
    let auroc = found.known.unknown.map(|unknown| unknown.auroc);
    let has_unknown = auroc.is_some();
    let mut heading: Vec<String> =
        ["model", "error", "accuracy", "balanced accuracy", "macro F1", "NLL", "ECE"]
            .map(String::from)
            .to_vec();
    if has_unknown {
        heading.push("AUROC of unknown".into());
    }
    heading.push("n".into());
    let row = |name: &str, scores: &ClassificationScores, auroc: Option<f64>| {
        let number = |value: f64| format!("{value:.4}");
        let maybe = |value: Option<f64>| value.map_or("-".into(), number);
        let mut row = vec![name.to_string()];
        row.extend([scores.error, scores.accuracy, scores.balanced_accuracy, scores.macro_f1].map(number));
        row.push(maybe(scores.nll));
        row.push(maybe(scores.reliability.as_ref().map(|reliability| reliability.ece)));
        row.extend(has_unknown.then(|| maybe(auroc)));
        row.push(scores.n.to_string());
        row
    };
    let mut rows = vec![heading, row("this model", &found.scores, auroc)];
    rows.extend(found.baselines.iter().map(|evaluation| {
        row(&evaluation.baseline.name, &evaluation.baseline.scores, evaluation.unknown_auroc)
    }));
    rows
}

/// What the model rejects at its threshold, in sentences.
pub(super) fn rejection(found: &ClassEvaluation) -> String {
    let known = &found.known;
    let mut text = String::new();
    if let (Some(rejected), Some(threshold)) = (known.rejected, known.threshold) {
        let error = known.accepted_error.map_or("-".into(), per_cent);
        text += &format!(
            "At its threshold of {threshold:.4}, the model rejects {} of the sequences of known classes as none of them; \
             error of the others: {error}\n",
            per_cent(rejected)
        );
    }
    if let Some(KnownScores { auroc, unknown, unknown_rejected, .. }) = known.unknown {
        let rejected = unknown_rejected
            .map_or(String::new(), |share| format!("; {} of them are rejected", per_cent(share)));
        text +=
            &format!("{unknown} sequences of other classes: AUROC {auroc:.4} against known ones{rejected}\n");
    }
    text
}

/// Scores of every class, below a heading.
pub(in crate::commands::eval) fn class_rows(scores: &ClassificationScores) -> Vec<Vec<String>> {
    let share = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
    let mut rows = vec![["class", "recall", "precision", "F1", "n"].map(String::from).to_vec()];
    rows.extend(scores.per_class.iter().map(|class| {
        vec![
            class.name.clone(),
            share(class.recall),
            share(class.precision),
            share(class.f1),
            class.n.to_string(),
        ]
    }));
    rows
}

/// What was taken for what, below a heading.
pub(in crate::commands::eval) fn confusion_rows(scores: &ClassificationScores) -> Vec<Vec<String>> {
    let confusion = &scores.confusion;
    let mut rows = vec![[vec!["true \\ predicted".to_string()], confusion.classes.clone()].concat()];
    rows.extend(confusion.classes.iter().zip(&confusion.counts).map(|(name, counts)| {
        [vec![name.clone()], counts.iter().map(ToString::to_string).collect()].concat()
    }));
    rows
}

pub(super) fn reliability_rows(scores: &ClassificationScores) -> Vec<Vec<String>> {
    let mut rows = vec![["confidence", "accuracy", "n"].map(String::from).to_vec()];
    let bins = scores.reliability.iter().flat_map(|reliability| &reliability.bins);
    rows.extend(bins.map(|bin| vec![per_cent(bin.confidence), per_cent(bin.accuracy), bin.n.to_string()]));
    rows
}

fn rejection_rows(scores: &ClassificationScores) -> Vec<Vec<String>> {
    let mut rows = vec![["least confident rejected", "error of the others"].map(String::from).to_vec()];
    rows.extend(
        scores.rejection.iter().step_by(2).map(|point| vec![per_cent(point.rejected), per_cent(point.error)]),
    );
    rows
}
