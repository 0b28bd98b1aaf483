//! Predicted instructions per step on a microcontroller, from the architecture.
//!
//! A step in a quantized layout takes nearly the same instructions whatever it reads; what is predicted is
//! the worst row, with channels that are missing or uncertain. A sum over the parts of a step predicts it:
//! blocks of four rows by eight columns, in the layout `sparse` also lists and their pairs of columns, groups
//! of four rows, LSTM units, inputs, units to fill in, channels to score, GRU units; and over those of the
//! extensions: a row without any channel is the worst one for an input density, which then solves for all of
//! them, and for a linear part, which then sums variances as well. A latent model adds its own parts, draws
//! among them. The weight of each part is fitted by `instructions.py` to what QEMU counts
//! (`instructions.json`, from `cargo xtask bench --json`); a test holds the two together.

use quaver::checkpoint::{CellKind, Family, Forecast, LatentSpec, Layout, LinearSpec, ModelSpec};
use quaver::export::StoredBlocks;
use quaver::{LatentModel, Model};
use serde::Serialize;

use super::instruction_weights::{
    EXTENSION_PARTS, EXTENSION_WEIGHTS, LATENT_PARTS, LATENT_WEIGHTS, LINEAR_PARTS, LINEAR_WEIGHTS,
    LIST_PARTS, LIST_WEIGHTS, PARTS, WEIGHTS,
};

/// The core whose kernels have vectors.
const VECTORS: &str = "M55";

/// Predicted instructions of one step on one core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InstructionCount {
    /// The core.
    pub core: &'static str,
    /// Instructions per step, in the worst row.
    pub instructions: u64,
}

/// Predictions for Cortex-M0, M3, M4F, M33 and M55 (Helium) and for RV32IMAC; none for the float layout,
/// whose cost on cores without a floating-point unit depends on the data, and none for models in which only
/// some maps have weight variances, of which none was measured.
pub fn instructions(model: &Model<'_>) -> Vec<InstructionCount> {
    of_blocks(model.spec(), &model.checkpoint().stored_blocks())
}

/// Predictions for an architecture whose maps hold these blocks; none of them in layouts that leave none out.
pub(super) fn of_blocks(spec: &ModelSpec, stored: &[StoredBlocks]) -> Vec<InstructionCount> {
    let varied = spec.output.weight_variance;
    if spec.layers.iter().any(|layer| layer.weight_variance != varied) {
        return Vec::new();
    }
    let extension_parts = extension_parts(spec);
    let of_extensions = |core: &str| {
        let found = EXTENSION_WEIGHTS.iter().find(|(other, _)| *other == core);
        found.map_or(0.0, |(_, weights)| weighted(weights, &extension_parts))
    };
    let linear_parts = linear_parts(spec);
    let of_linear = |core: &str| of_core(&LINEAR_WEIGHTS, core).map_or(0.0, |w| weighted(w, &linear_parts));
    let count = |core: &'static str, network: f64| InstructionCount {
        core,
        instructions: (network + of_extensions(core) + of_linear(core)).max(0.0).round() as u64,
    };
    // None where lists are not predicted.
    let of_lists = |core: &str, listed: &[f64; LIST_PARTS]| {
        let found =
            LIST_WEIGHTS.iter().find(|(other, has_variance, _)| (*other, *has_variance) == (core, varied));
        let has_lists = listed.iter().any(|count| *count > 0.0);
        found.map(|(_, _, weights)| weighted(weights, listed)).or((!has_lists).then_some(0.0))
    };
    // Sparse maps run as fast ones, but for the sums over what they list.
    let layout = if spec.layout == Layout::Sparse { Layout::Fast } else { spec.layout };
    let of_layout =
        WEIGHTS.iter().filter(|(_, of, has_variance, _)| (*of, *has_variance) == (layout, varied));
    let predicted = |(core, _, _, weights): &(&'static str, Layout, bool, [f64; PARTS])| {
        let (parts, listed) = parts(spec, stored, *core == VECTORS);
        Some(count(core, weighted(weights, &parts) + of_lists(core, &listed)?))
    };
    of_layout.filter_map(predicted).collect()
}

fn weighted(weights: &[f64], parts: &[f64]) -> f64 {
    weights.iter().zip(parts).map(|(weight, part)| weight * part).sum()
}

/// The weights of a core.
fn of_core<'w, const N: usize>(weights: &'w [(&str, [f64; N])], core: &str) -> Option<&'w [f64; N]> {
    weights.iter().find(|(other, _)| *other == core).map(|(_, weights)| weights)
}

/// Predictions for one step of a latent model: the recognition network once, the generative network as often
/// as it runs, and what the model adds. None unless both networks have quantized layouts.
pub fn latent_instructions(model: &LatentModel<'_>) -> Vec<InstructionCount> {
    let networks = [model.recognition(), model.generative()].map(instructions);
    of_latent(model.spec(), model.generative().spec(), networks)
}

/// The same from the predictions for its networks.
fn of_latent(
    spec: &LatentSpec,
    network: &ModelSpec,
    [recognition, generative]: [Vec<InstructionCount>; 2],
) -> Vec<InstructionCount> {
    let parts = latent_parts(spec, network);
    let both = |on: InstructionCount| {
        let other = generative.iter().find(|other| other.core == on.core)?;
        // Below zero where a denoiser's generative network saves more than is added.
        let added = weighted(of_core(&LATENT_WEIGHTS, on.core)?, &parts);
        let networks = on.instructions + spec.generative_passes() * other.instructions;
        Some(InstructionCount { instructions: (networks as f64 + added).round() as u64, ..on })
    };
    recognition.into_iter().filter_map(both).collect()
}

/// The number of each part of a latent model besides its networks: itself, its channels, values that are
/// drawn and averaged, recurrent units whose state is copied for each draw, and units that a denoiser's
/// generative network reads, which are in the range of its codes and take less than inputs.
fn latent_parts(spec: &LatentSpec, generative: &ModelSpec) -> [f64; LATENT_PARTS] {
    let looks = match spec.family {
        Family::Storn => 1.0,
        Family::Vosp => 2.0,
    };
    let draws = match spec.forecast {
        Forecast::Draws { count } => looks * f64::from(count),
        Forecast::Moments | Forecast::PosteriorMean => 0.0,
    };
    let recurrent = generative.layers.iter().filter(|layer| layer.cell.is_recurrent());
    let units: f64 = recurrent.map(|layer| f64::from(layer.units)).sum();
    let channels = f64::from(generative.outputs);
    let read = match spec.family {
        Family::Storn => 0.0,
        Family::Vosp => spec.generative_passes() as f64 * f64::from(generative.inputs - spec.latents),
    };
    [1.0, channels, draws * (f64::from(spec.latents) + channels), draws * units, read]
}

/// The number of each part of a linear part: itself, inputs that enter its ring, and weights.
fn linear_parts(spec: &ModelSpec) -> [f64; LINEAR_PARTS] {
    let Some(LinearSpec { rows }) = spec.extensions.linear else { return [0.0; LINEAR_PARTS] };
    let inputs = f64::from(spec.inputs);
    [1.0, inputs, inputs * f64::from(rows) * f64::from(spec.outputs)]
}

/// The number of each part of a step, and of maps with lists, lists, the pairs of columns in them, lists of
/// GRUs, and their pairs.
///
/// With `vectors` layers of other units take four groups of rows in a turn. Blocks of groups that are left
/// over count twice: in a turn two groups share what is read; and a turn has the moments of all its groups,
/// whether they are there or not. Blocks and pairs of GRUs count apart: in most layouts no vectors run them.
fn parts(spec: &ModelSpec, stored: &[StoredBlocks], vectors: bool) -> ([f64; PARTS], [f64; LIST_PARTS]) {
    let (mut blocks, mut groups, mut lstm_units, mut gru_units, mut filled) = ([0; 2], 0, 0, 0, 0);
    let (mut maps, mut lists, mut pairs, mut gru_lists) = (0, 0, [0; 2], 0);
    let mut listed = stored.iter().map(|map| map.listed);
    let mut map = |rows: usize, cols: usize, turn: usize, apart: bool| {
        let (rows, cols, kind) = (rows.div_ceil(4), cols.div_ceil(8), usize::from(apart));
        groups += rows.next_multiple_of(turn);
        let Some(left) = listed.next().flatten() else {
            blocks[kind] += (rows + rows % turn) * cols;
            return 0;
        };
        (maps, lists, pairs[kind]) = (maps + 1, lists + rows, pairs[kind] + left);
        rows
    };
    let mut inputs = usize::from(spec.inputs);
    for layer in &spec.layers {
        let units = usize::from(layer.units);
        let state = if layer.cell.is_recurrent() { units } else { 0 };
        let is_gru = layer.cell == CellKind::Gru;
        let turn = if vectors && !is_gru && spec.layout != Layout::Small { 4 } else { 1 };
        // The state begins a new pair of columns, in GRUs a new block.
        let cols = inputs.next_multiple_of(if is_gru { 8 } else { 2 }) + state;
        let in_lists = map(layer.cell.gates() * units, cols, turn, vectors && is_gru);
        match layer.cell {
            CellKind::Elman(_) | CellKind::Dense(_) => {}
            CellKind::Lstm => lstm_units += units,
            CellKind::Gru => (gru_units, gru_lists) = (gru_units + units, gru_lists + in_lists),
        }
        // For their own layer, and for the map above.
        filled += state + units;
        inputs = units;
    }
    map(usize::from(spec.outputs) * spec.likelihood.rows(), inputs, 1, false);
    let scored = if spec.target.is_next() { usize::from(spec.outputs) } else { 0 };
    let inputs = usize::from(spec.inputs);
    let parts = [1, blocks[0], groups, lstm_units, inputs, filled, scored, gru_units, blocks[1]];
    let listed = [maps, lists, pairs[0], gru_lists, pairs[1]];
    (parts.map(|count| count as f64), listed.map(|count| count as f64))
}

/// The number of each part of the extensions. Following the truth is measured together with the detection of
/// faults, so that either counts as both.
fn extension_parts(spec: &ModelSpec) -> [f64; EXTENSION_PARTS] {
    let extensions = &spec.extensions;
    let channels = f64::from(spec.inputs);
    let (solved, itself) = if extensions.density.is_some() { (channels, 1.0) } else { (0.0, 0.0) };
    let follows = extensions.tracking.is_some() || extensions.anomaly.is_some();
    let following = if follows { [1.0, channels, spec.outputs.into()] } else { [0.0; 3] };
    let density = [itself, solved, solved.powi(2), solved.powi(3)];
    [density[0], density[1], density[2], density[3], following[0], following[1], following[2]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use quaver::checkpoint::{
        Activation, AnomalySpec, DensitySpec, Extensions, Imputation, LayerSpec, Layout, Likelihood,
        MomentForm, OutputMode, OutputSpec, Prior, Target, TrackingSpec, UnitNoise, WeightFormat,
    };
    use serde_json::Value;
    use std::collections::{BTreeMap, BTreeSet};

    /// What the command promises.
    const TOLERANCE: f64 = 0.05;

    fn spec(case: &Value) -> ModelSpec {
        let number = |name: &str| case[name].as_u64().expect("a number") as u16;
        let weight_variance = case["weight_variance"].as_bool().unwrap_or(false);
        let layer = LayerSpec {
            cell: match case["cell"].as_str() {
                Some("lstm") => CellKind::Lstm,
                Some("gru") => CellKind::Gru,
                Some("elman") => CellKind::Elman(Activation::Tanh),
                other => panic!("{other:?} is a new cell: add its kind here"),
            },
            units: number("hidden"),
            input_noise: UnitNoise::None,
            recurrent_noise: UnitNoise::None,
            weight_variance,
            variance_scale: 1.0,
        };
        let target = case["target"].as_str().unwrap_or_default();
        let next = target.starts_with("next");
        ModelSpec {
            inputs: number("inputs"),
            outputs: if next { number("inputs") } else { 1 },
            target: if next { Target::Next } else { Target::Columns },
            likelihood: Likelihood::Gaussian,
            moment_form: MomentForm::Accurate,
            weight_format: WeightFormat::Int8,
            layout: match case["layout"].as_str() {
                Some("small") => Layout::Small,
                Some("fast") => Layout::Fast,
                Some("mean") => Layout::Mean,
                Some("sparse") => Layout::Sparse,
                _ => Layout::Float,
            },
            layers: [layer].into_iter().collect(),
            extensions: extensions(target),
            output: OutputSpec {
                mode: OutputMode::MeanOnly,
                noise: UnitNoise::None,
                weight_variance,
                variance_scale: 1.0,
            },
        }
    }

    fn extensions(target: &str) -> Extensions {
        let imputation = Imputation::Conditional;
        let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.0 });
        match target.rsplit('-').next() {
            Some("density") => Extensions { density, ..Extensions::default() },
            Some("following") => Extensions {
                density,
                tracking: Some(TrackingSpec::default()),
                anomaly: Some(AnomalySpec { window: 32 }),
                ..Extensions::default()
            },
            Some(word) => {
                let rows = word.strip_prefix("linear").and_then(|rows| rows.parse().ok());
                Extensions { linear: rows.map(|rows| LinearSpec { rows }), ..Extensions::default() }
            }
            None => Extensions::default(),
        }
    }

    /// Both networks of a latent model, as `cargo xtask bench` makes them.
    fn latent_specs(case: &Value) -> (LatentSpec, [ModelSpec; 2]) {
        let number = |name: &str| case[name].as_u64().expect("a number") as u16;
        let (channels, hidden, latents) = (number("inputs"), number("hidden"), number("inputs").div_ceil(2));
        let network = |cell: &str, inputs: u16, outputs: u16| {
            let case =
                serde_json::json!({"cell": cell, "inputs": inputs, "hidden": hidden, "layout": "fast"});
            ModelSpec { outputs, ..spec(&case) }
        };
        let count = case["target"].as_str().and_then(|target| target.strip_prefix("draws")?.parse().ok());
        let forecast = count.map_or(Forecast::Moments, |count| Forecast::Draws { count });
        let (family, mut generative) = match case["cell"].as_str() {
            Some("vosp") => (Family::Vosp, network("elman", hidden + latents, channels)),
            _ => (Family::Storn, network("lstm", channels + latents, channels)),
        };
        if family == Family::Vosp {
            generative.layers[0].cell = CellKind::Dense(Activation::Tanh);
        }
        let latent = LatentSpec { family, prior: Prior::White, latents, forecast };
        (latent, [network("lstm", channels, latents), generative])
    }

    #[test]
    fn predictions_of_latent_models_are_within_five_percent_too() {
        let counted: Vec<Value> =
            serde_json::from_str(include_str!("instructions.json")).expect("a list of measurements");
        let mut held_out = 0;
        let mut compared = 0;
        let follows = |case: &&Value| {
            let target = case["target"].as_str().unwrap_or_default();
            ["vosp", "storn"].map(Value::from).contains(&case["cell"])
                && (target == "follow" || target.starts_with("draws"))
        };
        for case in counted.iter().filter(follows) {
            let (latent, specs) = latent_specs(case);
            let networks = specs.each_ref().map(|spec| of_blocks(spec, &[]));
            let predictions = of_latent(&latent, &specs[1], networks);
            let prediction = predictions.iter().find(|prediction| case["core"] == prediction.core);
            let prediction = prediction.expect("measured cores are predicted");
            let counted = case["worst_instructions"].as_f64().expect("a number");
            let off = prediction.instructions as f64 / counted - 1.0;
            assert!(off.abs() <= TOLERANCE, "{case}: predicted {}, off by {off:.3}", prediction.instructions);
            compared += 1;
            held_out += usize::from(case["held_out"] == true);
        }
        assert!(
            compared >= 48 && held_out >= 12,
            "only {compared} were compared, {held_out} of them held out"
        );
    }

    /// Blocks of the layer's map and of the output's, as `cargo xtask bench` prunes them.
    fn stored(case: &Value) -> Vec<StoredBlocks> {
        let number = |name: &str| case[name].as_u64().expect("a number") as usize;
        let (inputs, hidden, pruned) =
            (number("inputs"), number("hidden"), case["pruned"].as_f64().unwrap_or(0.0));
        if case["layout"] != "sparse" {
            return Vec::new();
        }
        let outputs = if case["target"] == "next" { inputs } else { 1 };
        let groups = match case["cell"].as_str() {
            Some("lstm") => hidden,
            Some("gru") => 3 * hidden.div_ceil(4),
            _ => hidden.div_ceil(4),
        };
        let blocks = |groups: usize, pairs: usize| {
            let all = groups * pairs;
            let left = all - (pruned * all as f64).round() as usize;
            // A list takes 17 bytes for each of 16: nearly all blocks are shorter without.
            StoredBlocks { all, listed: (17 * left < 16 * all).then_some(left) }
        };
        vec![
            blocks(groups, inputs.div_ceil(2) + hidden.div_ceil(2)),
            blocks(outputs.div_ceil(4), hidden.div_ceil(2)),
        ]
    }

    #[test]
    fn predictions_are_within_five_percent_of_what_was_counted() {
        let counted: Vec<Value> =
            serde_json::from_str(include_str!("instructions.json")).expect("a list of measurements");
        let (mut compared, mut held_out) = (0, BTreeMap::<&str, usize>::new());
        let is_network = |case: &&Value| !["vosp", "storn"].map(Value::from).contains(&case["cell"]);
        // Those that learn are measured with labels, which no prediction knows of.
        let is_told =
            |case: &&Value| !case["target"].as_str().is_some_and(|target| target.starts_with("adapt"));
        for case in counted.iter().filter(is_network).filter(is_told).filter(|case| case["fits"] == true) {
            let spec = spec(case);
            let predictions = of_blocks(&spec, &stored(case));
            let Some(prediction) = predictions.iter().find(|prediction| case["core"] == prediction.core)
            else {
                continue;
            };
            let counted = case["worst_instructions"].as_f64().expect("a number");
            let off = prediction.instructions as f64 / counted - 1.0;
            assert!(off.abs() <= TOLERANCE, "{case}: predicted {}, off by {off:.3}", prediction.instructions);
            compared += 1;
            *held_out.entry(prediction.core).or_default() += usize::from(case["held_out"] == true);
        }
        assert!(compared >= 400, "only {compared} measurements were compared");
        assert!(held_out.values().all(|count| *count >= 3), "held out are only {held_out:?}");
        let cells: BTreeSet<String> = counted.iter().map(|case| case["cell"].to_string()).collect();
        assert_eq!(cells.len(), 5, "measured are {cells:?}");
    }

    #[test]
    fn quantized_layouts_are_predicted_for_every_core_and_the_float_layout_for_none() {
        let case =
            |layout: &str| serde_json::json!({"cell": "lstm", "inputs": 8, "hidden": 32, "layout": layout});
        let cores = |layout: &str| of_blocks(&spec(&case(layout)), &[]).len();
        assert_eq!(["float", "small", "fast", "mean", "sparse"].map(cores), [0, 6, 6, 6, 6]);
        let varied = |layout: &str| {
            let mut varied = spec(&case(layout));
            varied.layers[0].weight_variance = true;
            varied.output.weight_variance = true;
            varied
        };
        assert_eq!(["fast", "sparse"].map(|layout| of_blocks(&varied(layout), &[]).len()), [6, 6]);
        let mut mixed = varied("fast");
        mixed.output.weight_variance = false;
        assert!(of_blocks(&mixed, &[]).is_empty(), "nothing was fitted to weight variances in some maps");
    }
}
