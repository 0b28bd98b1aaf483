//! Plausible ranges of a network's inputs.

use quaver::Model;
use serde_json::{Value, json};

use super::super::text_table;

/// Lower and upper limit of every input, null where there is none; nothing without ranges.
pub(super) fn json(model: &Model<'_>) -> Vec<Value> {
    let limit = |limit: f32| if limit.is_finite() { json!(limit) } else { Value::Null };
    model.ranges().map(|range| json!(range.map(limit))).collect()
}

/// The same as a table, after an empty line; nothing without ranges.
pub(super) fn table(model: &Model<'_>) -> String {
    if model.ranges().len() == 0 {
        return String::new();
    }
    let limit = |limit: f32| if limit.is_finite() { limit.to_string() } else { "-".into() };
    let mut names = model.checkpoint().input_names();
    let mut rows = vec![["input", "plausible from", "to"].map(String::from).to_vec()];
    rows.extend(model.ranges().enumerate().map(|(index, range)| {
        let name = names.next().map_or_else(|| format!("c{index}"), String::from);
        std::iter::once(name).chain(range.map(limit)).collect()
    }));
    format!("\n{}", text_table::render(&rows))
}
