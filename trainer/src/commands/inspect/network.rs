//! One network: its architecture and requirements.

use std::collections::BTreeMap;

use quaver::Model;
use quaver::checkpoint::{CellKind, Extensions, LayerSpec, ModelSpec, UnitNoise};
use serde_json::{Value, json};

use super::super::text_table;
use super::ranges;
use crate::export::{DeviceMemory, InstructionCount, device_memory, instructions};

/// The description of a model with one network.
pub(super) fn describe(model: &Model<'_>, file_bytes: usize) -> Value {
    let (spec, mut description) = (model.spec(), architecture(model));
    let needs = json!({
        "kind": "predictor",
        "instructions_per_step": by_core(&instructions(model)),
        "flash_bytes": file_bytes,
        "ram_bytes": 4 * spec.arena_words(),
        "arena_words": spec.arena_words(),
        "device_memory": memory_by_core(&device_memory(spec)),
        "saved_words": spec.saved_words(),
        "crc": format!("{:08x}", model.checkpoint().crc()),
    });
    if let (Value::Object(all), Value::Object(needs)) = (&mut description, needs) {
        all.extend(needs);
    }
    description
}

/// The description of a network.
pub(super) fn architecture(model: &Model<'_>) -> Value {
    let (spec, checkpoint) = (model.spec(), model.checkpoint());
    json!({
        "inputs": spec.inputs,
        "outputs": spec.outputs,
        "input_names": checkpoint.input_names().collect::<Vec<_>>(),
        "output_names": checkpoint.output_names().collect::<Vec<_>>(),
        "target": format!("{:?}", spec.target).to_lowercase(),
        "likelihood": format!("{:?}", spec.likelihood).to_lowercase(),
        "moments": format!("{:?}", spec.moment_form).to_lowercase(),
        "weights": format!("{:?}", spec.weight_format).to_lowercase(),
        "layout": format!("{:?}", spec.layout).to_lowercase(),
        "layers": spec.layers.iter().map(layer_json).collect::<Vec<_>>(),
        "output": {
            "mode": format!("{:?}", spec.output.mode).to_lowercase(),
            "noise": noise_text(spec.output.noise),
            "weight_variance": spec.output.weight_variance,
        },
        "extensions": extensions(spec),
        "linear_rows": spec.extensions.linear.map_or(0, |linear| linear.rows),
        "ranges": ranges::json(model),
        "parameters": spec.parameters(),
        "pruned": pruned(model),
        "multiply_accumulates": spec.multiply_accumulates(),
        "multiply_accumulates_left": multiply_accumulates_left(model),
    })
}

/// Multiply-accumulates of a step for means, without the blocks of eight weights that are left out.
fn multiply_accumulates_left(model: &Model<'_>) -> u64 {
    let all = model.spec().multiply_accumulates();
    let left: usize = blocks(model).iter().map(|[left, _]| left).sum();
    // Blocks at the edge of a map have fewer weights.
    if blocks(model).is_empty() { all } else { all.min(8 * left as u64) }
}

fn multiply_accumulates_text(model: &Model<'_>) -> String {
    let (all, left) = (model.spec().multiply_accumulates(), multiply_accumulates_left(model));
    let pruned = if left < all { format!(", instead of {all} without pruning") } else { String::new() };
    format!("{left} multiply-accumulates for means{pruned}; as many for variances")
}

/// Blocks of four rows and two columns that are left, and all of them: of the layers' maps, then of the
/// output's. None unless the layout is sparse.
fn blocks(model: &Model<'_>) -> Vec<[usize; 2]> {
    let stored = model.checkpoint().stored_blocks();
    stored.iter().map(|map| [map.listed.unwrap_or(map.all), map.all]).collect()
}

/// Share of the blocks that are left out.
fn pruned(model: &Model<'_>) -> f64 {
    let [left, all] = blocks(model).iter().fold([0, 0], |sum, map| [sum[0] + map[0], sum[1] + map[1]]);
    if all > 0 { 1.0 - left as f64 / all as f64 } else { 0.0 }
}

fn pruned_text(model: &Model<'_>) -> String {
    let blocks = blocks(model);
    if blocks.is_empty() {
        return "no".into();
    }
    let map = |(index, [left, all]): (usize, &[usize; 2])| {
        let name = if index + 1 == blocks.len() { "output".into() } else { format!("layer {index}") };
        format!("{name} {left} of {all}")
    };
    let maps = blocks.iter().enumerate().map(map).collect::<Vec<_>>().join(", ");
    format!("{:.1} % of all blocks; left are: {maps}", 100.0 * pruned(model))
}

/// The optional parts that a checkpoint has, by name.
fn extensions(spec: &ModelSpec) -> Vec<&'static str> {
    let Extensions { density, tracking, quantiles, anomaly, ranges, linear } = spec.extensions;
    let all = [
        (density.is_some(), "input density"),
        (tracking.is_some(), "error bars that follow the truth"),
        (quantiles, "conformal quantiles"),
        (anomaly.is_some(), "detection of faults"),
        (ranges, "plausible ranges"),
        (linear.is_some(), "linear part"),
    ];
    all.into_iter().filter(|(present, _)| *present).map(|(_, name)| name).collect()
}

fn extensions_text(spec: &ModelSpec) -> String {
    let found = extensions(spec);
    if found.is_empty() { "none".into() } else { found.join(", ") }
}

fn linear_text(spec: &ModelSpec) -> String {
    let alone = if spec.layers.is_empty() { ", without a network" } else { "" };
    spec.extensions
        .linear
        .map_or_else(|| "none".into(), |linear| format!("of the last {} rows, in f32{alone}", linear.rows))
}

/// Instructions as a JSON object.
pub(super) fn by_core(instructions: &[InstructionCount]) -> BTreeMap<&'static str, u64> {
    instructions.iter().map(|on| (on.core, on.instructions)).collect()
}

/// Memory besides the arena, as a JSON object.
pub(super) fn memory_by_core(memory: &[DeviceMemory]) -> BTreeMap<&'static str, DeviceMemory> {
    memory.iter().map(|on| (on.core, *on)).collect()
}

/// The arena of a stream.
pub(super) fn arena(words: usize) -> String {
    format!("{} bytes of arena per stream: Arena::<{words}>", 4 * words)
}

/// Handle and stack, the rest of the RAM.
pub(super) fn memory_facts(memory: &[DeviceMemory]) -> Vec<(&'static str, String)> {
    let Some(first) = memory.first() else { return Vec::new() };
    let on_cores = |bytes: fn(&DeviceMemory) -> u32| {
        memory.iter().map(|on| format!("{} {}", on.core, bytes(on))).collect::<Vec<_>>().join(", ")
    };
    vec![
        ("handle", format!("{} bytes", first.handle_bytes)),
        ("stack", format!("at most {} bytes in a step", on_cores(|on| on.step_stack_bytes))),
        ("", format!("at most {} bytes while loading", on_cores(|on| on.load_stack_bytes))),
    ]
}

fn layer_json(layer: &LayerSpec) -> Value {
    json!({
        "cell": cell_text(layer.cell),
        "units": layer.units,
        "input_noise": noise_text(layer.input_noise),
        "recurrent_noise": noise_text(layer.recurrent_noise),
        "variance_scale": layer.variance_scale,
        "weight_variance": layer.weight_variance,
    })
}

fn cell_text(cell: CellKind) -> String {
    match cell {
        CellKind::Elman(activation) => format!("{activation:?}").to_lowercase(),
        CellKind::Lstm => "lstm".into(),
        CellKind::Gru => "gru".into(),
        CellKind::Dense(activation) => format!("dense-{activation:?}").to_lowercase(),
    }
}

fn noise_text(noise: UnitNoise) -> String {
    match noise {
        UnitNoise::None => "none".into(),
        UnitNoise::Dropout { keep } => format!("keep {keep}"),
        UnitNoise::Multiplicative { var } => format!("multiplicative, variance {var}"),
        UnitNoise::Additive { var } => format!("additive, variance {var}"),
    }
}

/// The description as text.
pub(super) fn render(model: &Model<'_>, description: &Value) -> String {
    let spec = model.spec();
    let names = |key: &str| {
        let names = description[key].as_array().map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    let text = |key: &str| description[key].as_str().unwrap_or_default().to_string();
    let mut facts = vec![
        ("inputs", format!("{}  {}", spec.inputs, names("input_names"))),
        ("outputs", format!("{}  {}", spec.outputs, names("output_names"))),
        ("target", text("target")),
        ("likelihood", text("likelihood")),
        ("moments", text("moments")),
        ("weights", format!("{}, {} layout", text("weights"), text("layout"))),
        ("extensions", extensions_text(spec)),
        ("linear part", linear_text(spec)),
        ("parameters", spec.parameters().to_string()),
        ("pruned", pruned_text(model)),
        ("per step", multiply_accumulates_text(model)),
        ("predicted", predicted(&instructions(model))),
        ("flash", format!("{} bytes in addition to the code", description["flash_bytes"])),
        ("RAM", arena(spec.arena_words())),
    ];
    facts.extend(memory_facts(&device_memory(spec)));
    facts.push(("CRC", text("crc")));
    format!("{}\n{}{}", super::facts(facts), layers(spec), ranges::table(model))
}

/// The layers, one row each.
pub(super) fn layers(spec: &ModelSpec) -> String {
    let mut layers = vec![
        ["layer", "cell", "units", "input noise", "recurrent noise", "weight variance"]
            .map(String::from)
            .to_vec(),
    ];
    layers.extend(layer_rows(spec));
    text_table::render(&layers)
}

/// Instructions per step by core in the worst row, within five per cent of what an emulator counts for one
/// network.
pub(super) fn predicted(instructions: &[InstructionCount]) -> String {
    let on_core = |core: &InstructionCount| format!("{} {}", core.core, core.instructions);
    let cores = instructions.iter().map(on_core).collect::<Vec<_>>().join(", ");
    if cores.is_empty() {
        "no instruction counts for the layout float".into()
    } else {
        format!("{cores} instructions per step, in the worst row")
    }
}

fn layer_rows(spec: &ModelSpec) -> Vec<Vec<String>> {
    let yes_or_no = |flag: bool| if flag { "yes" } else { "no" }.to_string();
    let layer = |(index, layer): (usize, &LayerSpec)| {
        vec![
            index.to_string(),
            cell_text(layer.cell),
            layer.units.to_string(),
            noise_text(layer.input_noise),
            noise_text(layer.recurrent_noise),
            yes_or_no(layer.weight_variance),
        ]
    };
    let output = vec![
        "output".into(),
        format!("{:?}", spec.output.mode).to_lowercase(),
        spec.outputs.to_string(),
        noise_text(spec.output.noise),
        "-".into(),
        yes_or_no(spec.output.weight_variance),
    ];
    spec.layers.iter().enumerate().map(layer).chain([output]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::test_cell_names;

    #[test]
    fn cells_are_named_as_in_configs() {
        for (name, cell) in test_cell_names() {
            assert_eq!(cell_text(cell.into()), name);
        }
    }
}
