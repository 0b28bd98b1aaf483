//! What a step costs on each core: instructions, flash, RAM, stack.

mod case;
mod print;
mod reference;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::elf;
use crate::image;
use crate::machine::{Machine, counted_machines};
use crate::shell::Shell;
use case::Case;

/// Figures of one model on one core by name; `null` is what the core cannot measure.
type Figures = Map<String, Value>;

/// One model on one core; without figures if it does not fit.
struct Measured {
    case: Case,
    core: &'static str,
    figures: Option<Figures>,
}

/// Measures every model on every core, or those that `only` selects.
pub(crate) fn run(as_json: bool, only: &str) -> Result<()> {
    let cases = Case::selected(only);
    ensure!(
        !cases.is_empty(),
        "no model begins with `{only}`; a name is CELL-INPUTS-UNITS-LAYOUT, as in lstm-16-64-fast"
    );
    // Code depends on the core and on what is built in, but not on the model.
    let mut code = BTreeMap::new();
    let mut results = Vec::new();
    for case in cases {
        let mut built = BTreeMap::new();
        for machine in counted_machines(case.is_typical()).filter(|machine| case.runs_on(machine.core)) {
            let kind = machine.image_kind();
            let image = match built.entry(kind) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(bench_image(&case, machine)?),
            };
            let Some(image) = image else {
                results.push(Measured { case: case.clone(), core: machine.core, figures: None });
                continue;
            };
            let code_bytes = match code.entry((kind, case.code())) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => *place.insert(code_bytes(&case, machine)?),
            };
            let figures = Some(measure(machine, image, code_bytes)?);
            results.push(Measured { case: case.clone(), core: machine.core, figures });
        }
        if !as_json {
            eprintln!("{} measured", case.name());
        }
    }
    if as_json {
        print::json(&results)
    } else {
        print::table(&results)
    }
    Ok(())
}

/// An image with nothing built in but what the model needs, as a board would have it.
fn build(image: &str, case: &Case, machine: &Machine) -> Shell {
    let build = image::build_command_with(image, machine.target, case.features());
    let build = machine.adapted(build).variable("QUAVER_CASE", case.model());
    if case.is_known() { build.variable("QUAVER_KNOWN", "1") } else { build }
}

/// Builds for one machine; `None` if the model does not fit its machine.
fn bench_image(case: &Case, machine: &Machine) -> Result<Option<PathBuf>> {
    let bench = build("bench", case, machine);
    if does_not_fit(&bench)? { Ok(None) } else { image::path_of(&bench).map(Some) }
}

/// Flash of an image that loads and steps and does nothing else, unless the model is signed; less its model.
fn code_bytes(case: &Case, machine: &Machine) -> Result<u64> {
    elf::code_bytes(&image::path_of(&build(case.code_image(), case, machine))?)
}

/// Whether the linker reports that a memory is too small. Any other failure is one.
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

fn measure(machine: &Machine, image: &std::path::Path, code_bytes: u64) -> Result<Figures> {
    let printed = machine.run_counting(image)?;
    let figure = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse::<u64>().map_or(Value::Null, Value::from)))
    };
    let mut figures: Figures = printed.lines().filter_map(figure).collect();
    let count = |name: &str| figures.get(name).and_then(Value::as_u64);
    let model = count("model_bytes").context("the image printed no model_bytes")?;
    let ratio = count("step_instructions_most")
        .zip(count("step_instructions_least"))
        .map(|(most, least)| (1e4 * most as f64 / least as f64).round() / 1e4);
    let stack = count("step_stack_bytes").zip(count("load_stack_bytes")).map(|(step, load)| step.max(load));
    let ram = (|| Some(count("arena_bytes")? + count("handle_bytes")? + stack?))();
    figures.insert("ram_bytes".into(), ram.map_or(Value::Null, Value::from));
    figures.insert("code_bytes".into(), code_bytes.into());
    figures.insert("flash".into(), (code_bytes + model).into());
    figures.insert("max_over_min".into(), ratio.map_or(Value::Null, Value::from));
    Ok(figures)
}
