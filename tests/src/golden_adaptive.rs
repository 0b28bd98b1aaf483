//! Golden cases of models that learn while they run: models of [`golden`], with each row as the label of the
//! prediction before it. Rows with gaps are incomplete labels, hostile rows hostile labels.

use crate::replay::Task;
use crate::{Case, golden};

/// Cases whose models learn: cells, backends and targets, gaps and hostile values.
const LEARNING: [&str; 10] = [
    "lstm-f32",
    "lstm-int8",
    "lstm-fast",
    "gru-small",
    "gru-means-mean",
    "heteroscedastic-f32",
    "next-with-gaps-lstm-small",
    "residual-next-with-gaps-elman-fast",
    "hostile-rows-f32",
    "ranges-next-fast",
];

/// Every golden case of a model that learns.
///
/// # Panics
/// If a case that is to learn is no golden case.
pub fn cases() -> Vec<Case> {
    let golden = golden::cases();
    let tasks = [("adapt", Task::Adapt), ("adapt-diagonal", Task::AdaptDiagonal)];
    let case = |(name, suffix, task)| {
        let of = golden.iter().find(|case| case.name == name).expect("a golden case");
        Case { name: format!("{name}-{suffix}"), task, ..of.clone() }
    };
    LEARNING.into_iter().flat_map(|name| tasks.map(|(suffix, task)| (name, suffix, task))).map(case).collect()
}
