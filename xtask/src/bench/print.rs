//! Results as a table, compared with other libraries, and as JSON.

use serde_json::{Map, Value, json};

use super::Measured;
use super::reference::{REFERENCES, Reference};
use crate::table;

/// Headings of the table, and the figures under them.
const COLUMNS: [(&str, &str); 18] = [
    ("instructions/step", "step_instructions"),
    ("max/min", "max_over_min"),
    ("1 missing", "step_instructions_missing_1"),
    ("4 missing", "step_instructions_missing_4"),
    ("8 missing", "step_instructions_missing_8"),
    ("worst row", "step_instructions_worst"),
    ("flash: model", "model_bytes"),
    ("flash: code", "code_bytes"),
    ("RAM: arena", "arena_bytes"),
    ("handle", "handle_bytes"),
    ("stack: step", "step_stack_bytes"),
    ("stack: load", "load_stack_bytes"),
    ("RAM: whole", "ram_bytes"),
    ("instructions/load", "load_instructions"),
    ("/recheck", "recheck_instructions"),
    ("/check_state", "check_state_instructions"),
    ("/open", "open_instructions"),
    ("stack: open", "open_stack_bytes"),
];

/// A list of objects, one per model and core.
pub(super) fn json(results: &[Measured]) {
    let entries: Vec<Value> = results.iter().map(entry).collect();
    println!("{:#}", Value::Array(entries));
}

fn entry(measured: &Measured) -> Value {
    let Measured { case, core, figures } = measured;
    let figure = |name: &str| figures.as_ref().and_then(|figures| figures.get(name)).cloned();
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.into(), value);
    put("core", json!(core));
    put("cell", json!(case.cell));
    put("inputs", json!(case.inputs));
    put("hidden", json!(case.hidden));
    put("moments", json!(case.moments()));
    put("weights", json!(case.weights()));
    put("layout", json!(case.layout()));
    put("target", json!(case.target()));
    put("pruned", json!(case.pruned()));
    put("weight_variance", json!(case.weight_variance()));
    put("fits", json!(figures.is_some()));
    let figures = [
        ("instructions", "step_instructions"),
        ("worst_instructions", "step_instructions_worst"),
        ("instructions_missing_1", "step_instructions_missing_1"),
        ("instructions_missing_4", "step_instructions_missing_4"),
        ("instructions_missing_8", "step_instructions_missing_8"),
        ("flash", "flash"),
        ("ram", "ram_bytes"),
        ("arena", "arena_bytes"),
        ("handle", "handle_bytes"),
        ("stack", "step_stack_bytes"),
        ("max_over_min", "max_over_min"),
        ("model_bytes", "model_bytes"),
        ("code_bytes", "code_bytes"),
        ("load_instructions", "load_instructions"),
        ("load_stack", "load_stack_bytes"),
        ("recheck_instructions", "recheck_instructions"),
        ("check_state_instructions", "check_state_instructions"),
        ("open_instructions", "open_instructions"),
        ("open_stack", "open_stack_bytes"),
    ];
    for (name, figure_name) in figures {
        put(name, figure(figure_name).unwrap_or(Value::Null));
    }
    Value::Object(entry)
}

/// Our figures, then those to compare with.
pub(super) fn table(results: &[Measured]) {
    let mut rows = vec![["model", "moments", "core"].map(String::from).to_vec()];
    rows[0].extend(COLUMNS.map(|(heading, _)| heading.to_string()));
    for Measured { case, core, figures } in results {
        let mut row = vec![case.name(), case.moments().into(), core.to_string()];
        match figures {
            None => row.push("does not fit".into()),
            Some(figures) => row.extend(COLUMNS.map(|(_, name)| cell(figures.get(name)))),
        }
        rows.push(row);
    }
    table::print(&rows);
    println!(
        "\nInstructions are counted by QEMU and averaged over 1,000 varied complete rows (fewer where a step takes millions)."
    );
    println!(
        "The worst row is the most expensive of 900 others, with channels that are missing, uncertain, or both."
    );
    println!(
        "Memory is in bytes. Stack of a step is that of the worst row. The whole RAM is arena, handle (such as"
    );
    println!("Predictor) and the deeper of the two stacks.");
    println!("\nReference: others, for the mean alone, without output map and scaling; not measured here.\n");
    let mut rows = vec![["reference", "core", "cell", "8/32", "16/64", "48/128"].map(String::from).to_vec()];
    rows.extend(REFERENCES.iter().map(|Reference { core, cell, name, instructions }| {
        let mut row = [name, core, cell].map(|text| text.to_string()).to_vec();
        row.extend(instructions.map(|count| count.to_string()));
        row
    }));
    table::print(&rows);
}

fn cell(figure: Option<&Value>) -> String {
    match figure {
        None | Some(Value::Null) => "n/a".into(),
        Some(value) => value.to_string(),
    }
}
