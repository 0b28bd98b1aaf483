//! What a step costs on each core: instructions, flash, RAM, stack.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::machine::{MACHINES, Machine};
use crate::shell::Shell;
use crate::{image, table};

/// Inputs and units.
const SIZES: [(u32, u32); 3] = [(8, 32), (16, 64), (48, 128)];
const CELLS: [&str; 2] = ["elman", "lstm"];
const FORMATS: [&str; 2] = ["f32", "int8"];

/// Headings of the table, and the figures under them.
const COLUMNS: [(&str, &str); 7] = [
    ("instructions/step", "step_instructions"),
    ("instructions/load", "load_instructions"),
    ("flash: model", "model_bytes"),
    ("flash: code", "code_bytes"),
    ("RAM: arena", "arena_bytes"),
    ("stack: step", "step_stack_bytes"),
    ("stack: load", "load_stack_bytes"),
];

/// Figures of one model on one core by name; `null` is what the core cannot measure.
type Figures = Map<String, Value>;

/// Images of one model for one target, which two machines may share.
struct Images {
    bench: PathBuf,
    /// Flash of an image that loads and steps and does nothing else.
    flash_bytes: u64,
}

/// Measures every model on every core.
pub(crate) fn run(as_json: bool) -> Result<()> {
    let mut results = Vec::new();
    for case in cases() {
        let mut built = BTreeMap::new();
        for machine in &MACHINES {
            if !built.contains_key(machine.target) {
                built.insert(machine.target, images(&case, machine.target)?);
            }
            let figures =
                built[machine.target].as_ref().map(|images| measure(machine, images)).transpose()?;
            results.push((case.clone(), machine.core, figures));
        }
        if !as_json {
            eprintln!("{case} measured");
        }
    }
    if as_json {
        print_json(&results)
    } else {
        print_table(&results)
    }
    Ok(())
}

fn cases() -> Vec<String> {
    let mut cases = Vec::new();
    for cell in CELLS {
        for (inputs, units) in SIZES {
            cases.extend(FORMATS.map(|format| format!("{cell}-{inputs}-{units}-{format}")));
        }
    }
    cases
}

/// Builds for one target; `None` if the model does not fit its machine.
fn images(case: &str, target: &str) -> Result<Option<Images>> {
    let build = |image| image::build_command(image, target).variable("QUAVER_CASE", case);
    let bench = build("bench");
    if does_not_fit(&bench)? {
        return Ok(None);
    }
    let flash_bytes = image::flash_bytes(&image::path_of(&build("step_only"))?)?;
    Ok(Some(Images { bench: image::path_of(&bench)?, flash_bytes }))
}

/// Whether the linker says that a memory is too small. Any other failure is one.
fn does_not_fit(build: &Shell) -> Result<bool> {
    let captured = build.capture()?;
    if captured.stderr.contains("will not fit in region") {
        return Ok(true);
    }
    if !captured.status.success() {
        build.run()?;
    }
    Ok(false)
}

fn measure(machine: &Machine, images: &Images) -> Result<Figures> {
    let printed = machine.run_counting(&images.bench)?;
    let figure = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse::<u64>().map_or(Value::Null, Value::from)))
    };
    let mut figures: Figures = printed.lines().filter_map(figure).collect();
    let model =
        figures.get("model_bytes").and_then(Value::as_u64).context("the image told no model_bytes")?;
    figures.insert("code_bytes".into(), (images.flash_bytes - model).into());
    Ok(figures)
}

fn print_json(results: &[(String, &str, Option<Figures>)]) {
    let entry = |(case, core, figures): &(String, &str, Option<Figures>)| {
        let mut entry = figures.clone().unwrap_or_default();
        entry.insert("fits".into(), figures.is_some().into());
        entry.insert("model".into(), json!(case));
        entry.insert("core".into(), json!(core));
        Value::Object(entry)
    };
    let entries: Vec<Value> = results.iter().map(entry).collect();
    println!("{:#}", Value::Array(entries));
}

fn print_table(results: &[(String, &str, Option<Figures>)]) {
    let mut rows = vec![vec!["model".to_string(), "core".to_string()]];
    rows[0].extend(COLUMNS.map(|(heading, _)| heading.to_string()));
    for (case, core, figures) in results {
        let mut row = vec![case.clone(), core.to_string()];
        match figures {
            None => row.push("does not fit".into()),
            Some(figures) => row.extend(COLUMNS.map(|(_, name)| cell(figures.get(name)))),
        }
        rows.push(row);
    }
    table::print(&rows);
    println!("\nInstructions are counted by QEMU, averaged over 16 steps; memory is in bytes.");
}

fn cell(figure: Option<&Value>) -> String {
    figure.and_then(Value::as_u64).map_or("n/a".into(), |value| value.to_string())
}
