//! What a step costs on each core: instructions, flash, RAM, stack.

mod case;
mod print;
mod reference;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::slice;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::elf;
use crate::image;
use crate::machine::{MACHINES, Machine, counted_machines};
use crate::shell::Shell;
use case::Case;

/// Figures of one model on one core by name; `null` is what the core cannot measure.
type Figures = Map<String, Value>;

/// The most models that an image measures: compiling it takes longer than to run a model.
const MODELS_PER_IMAGE: usize = 8;

/// What code depends on.
type CodeKind = ([Option<&'static str>; 3], (&'static str, &'static str));

/// One model on one core; without figures if it does not fit.
struct Measured {
    case: Case,
    core: &'static str,
    figures: Option<Figures>,
}

/// Measures every model on every core, or on these cores, or those that `only` selects.
pub(crate) fn run(as_json: bool, cores: &[String], only: &[String]) -> Result<()> {
    let mut cases: Vec<Case> = Vec::new();
    for only in only {
        let selected = Case::selected(only);
        ensure!(
            !selected.is_empty(),
            "no model begins with `{only}`; a name is CELL-INPUTS-UNITS-LAYOUT, as in lstm-16-64-fast"
        );
        // A name may begin with another one that was given.
        let is_new = |case: &Case| cases.iter().all(|known| known.name() != case.name());
        let new: Vec<Case> = selected.into_iter().filter(is_new).collect();
        cases.extend(new);
    }
    let mut bench = Bench::default();
    for batch in batches(&cases) {
        let mut machines: BTreeMap<_, Vec<&Machine>> = BTreeMap::new();
        let counted = counted_machines(batch[0].is_typical(), cores);
        for machine in counted.filter(|machine| batch[0].runs_on(machine.core)) {
            machines.entry(machine.image_kind()).or_default().push(machine);
        }
        for machines in machines.values() {
            bench.measure(&batch, machines)?;
        }
        if !as_json {
            batch.iter().for_each(|case| eprintln!("{} measured", case.name()));
        }
    }
    let place = |measured: &Measured| {
        let case = cases.iter().position(|case| case.name() == measured.case.name());
        (case, MACHINES.iter().position(|machine| machine.core == measured.core))
    };
    bench.results.sort_by_key(place);
    if as_json {
        print::json(&bench.results)
    } else {
        print::table(&bench.results)
    }
    Ok(())
}

/// Models that one image measures, in order: of the same code and for the same machines.
fn batches(cases: &[Case]) -> Vec<Vec<Case>> {
    let mut alike: Vec<(_, Vec<Case>)> = Vec::new();
    for case in cases {
        match alike.iter_mut().find(|(kind, _)| *kind == case.batch()) {
            Some((_, batch)) => batch.push(case.clone()),
            None => alike.push((case.batch(), vec![case.clone()])),
        }
    }
    alike.iter().flat_map(|(_, batch)| batch.chunks(MODELS_PER_IMAGE).map(<[Case]>::to_vec)).collect()
}

#[derive(Default)]
struct Bench {
    /// Bytes of code, which depend on the core and on what is built in, but not on the model.
    code: BTreeMap<CodeKind, u64>,
    results: Vec<Measured>,
}

impl Bench {
    /// Measures some models on machines that run the same image; in several images if one cannot hold all.
    fn measure(&mut self, batch: &[Case], machines: &[&Machine]) -> Result<()> {
        let Some(image) = bench_image(batch, machines[0])? else {
            if let [case] = batch {
                let missing =
                    |machine: &&Machine| Measured { case: case.clone(), core: machine.core, figures: None };
                self.results.extend(machines.iter().map(missing));
                return Ok(());
            }
            let (first, second) = batch.split_at(batch.len() / 2);
            self.measure(first, machines)?;
            return self.measure(second, machines);
        };
        for machine in machines {
            let printed = machine.run_counting(&image, batch.len() as u32)?;
            let blocks: Vec<&str> = printed.split("model ").skip(1).collect();
            ensure!(blocks.len() == batch.len(), "{} of {} models ran", blocks.len(), batch.len());
            for (case, block) in batch.iter().zip(blocks) {
                let figures = Some(figures(block, self.code_bytes(case, machine)?)?);
                self.results.push(Measured { case: case.clone(), core: machine.core, figures });
            }
        }
        Ok(())
    }

    fn code_bytes(&mut self, case: &Case, machine: &Machine) -> Result<u64> {
        Ok(match self.code.entry((machine.image_kind(), case.code())) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => *place.insert(code_bytes(case, machine)?),
        })
    }
}

/// An image with nothing built in but what the models need, as a board would have it.
fn build(image: &str, batch: &[Case], machine: &Machine) -> Shell {
    let build = image::build_command_with(image, machine.target, batch[0].features());
    let models: Vec<String> = batch.iter().map(Case::model).collect();
    let build = machine.adapted(build).variable("QUAVER_CASE", models.join(","));
    if batch[0].is_known() { build.variable("QUAVER_KNOWN", "1") } else { build }
}

/// Builds for one machine; `None` if the models do not fit its machine.
fn bench_image(batch: &[Case], machine: &Machine) -> Result<Option<PathBuf>> {
    let bench = build("bench", batch, machine);
    if does_not_fit(&bench)? { Ok(None) } else { image::path_of(&bench).map(Some) }
}

/// Flash of an image that loads and steps and does nothing else, unless the model is signed; less its model.
fn code_bytes(case: &Case, machine: &Machine) -> Result<u64> {
    elf::code_bytes(&image::path_of(&build(case.code_image(), slice::from_ref(case), machine))?)
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

/// What an image printed of one model.
fn figures(printed: &str, code_bytes: u64) -> Result<Figures> {
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
