//! RAM of a stream on a microcontroller besides its arena: the handle and the stack.
//!
//! Both depend on the code more than on the sizes of a model. They are the most that `cargo xtask bench`
//! measured for models of the same cells and layout.

use quaver::checkpoint::{CellKind, Family, Layout, ModelSpec};
use serde::Serialize;

use super::instruction_weights::{HANDLES, STACKS};

/// Bytes of RAM on one core, besides the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceMemory {
    /// The core.
    #[serde(skip)]
    pub core: &'static str,
    /// Size of the `Predictor`, `Denoiser` or `Sampler`.
    pub handle_bytes: u32,
    /// Stack of a step, in the worst row.
    pub step_stack_bytes: u32,
    /// Stack of loading.
    pub load_stack_bytes: u32,
}

/// Memory of a model with one network, on every core that was measured.
pub fn device_memory(spec: &ModelSpec) -> Vec<DeviceMemory> {
    let cells: Vec<&str> = spec.layers.iter().map(|layer| measured_cell(layer.cell)).collect();
    let varied = spec.output.weight_variance || spec.layers.iter().any(|layer| layer.weight_variance);
    // In the float layout the same code runs weights with and without variances.
    memory(HANDLES[0], &cells, spec.layout, varied && spec.layout.is_quantized())
}

/// Memory of a latent model, on every core that was measured.
pub fn latent_device_memory(family: Family, layout: Layout) -> Vec<DeviceMemory> {
    let cell = match family {
        Family::Vosp => "vosp",
        Family::Storn => "storn",
    };
    memory(HANDLES[1], &[cell], layout, false)
}

/// Bytes of code that step a predictor which is known while compiling, without its checkpoint: at most, that
/// of an LSTM with every optional part that `quaver fit` exports (`docs/results.md`, *Code and stack*).
pub fn known_code_bytes(core: &str, layout: Layout) -> u64 {
    match (core, layout) {
        ("M0", Layout::Float) => 40_092,
        ("M0", _) => 37_736,
        ("M3", Layout::Float) => 45_556,
        ("M3", _) => 38_972,
        ("M33", Layout::Float) => 39_528,
        ("M33", _) => 38_300,
        ("M55", Layout::Float) => 41_216,
        ("M55", _) => 37_488,
        ("RV32", Layout::Float) => 41_606,
        ("RV32", _) => 37_326,
        _ => 35_668,
    }
}

/// Bytes of code that load and run a reducer, without its checkpoint (`docs/results.md`, *Code and stack*).
pub fn reducer_code_bytes(core: &str, layout: Layout) -> u64 {
    match (core, layout) {
        ("M0", Layout::Float) => 106_960,
        ("M0", _) => 116_924,
        ("M3", Layout::Float) => 108_872,
        ("M3", _) => 119_504,
        ("M33", Layout::Float) => 102_876,
        ("M33", _) => 118_980,
        ("M55", Layout::Float) => 100_904,
        ("M55", _) => 113_760,
        ("RV32", Layout::Float) => 114_158,
        ("RV32", _) => 119_166,
        (_, Layout::Float) => 98_472,
        _ => 114_872,
    }
}

/// The measured cell with the code of this one. A layer without recurrence runs that of an Elman layer.
fn measured_cell(cell: CellKind) -> &'static str {
    match cell {
        CellKind::Elman(_) | CellKind::Dense(_) => "elman",
        CellKind::Lstm => "lstm",
        CellKind::Gru => "gru",
    }
}

fn memory(handle_bytes: u32, cells: &[&str], layout: Layout, varied: bool) -> Vec<DeviceMemory> {
    let mut found: Vec<DeviceMemory> = Vec::new();
    for (core, cell, of_layout, has_variance, [step, load]) in STACKS {
        if (of_layout, has_variance) != (layout, varied) || !cells.contains(&cell) {
            continue;
        }
        match found.iter_mut().find(|memory| memory.core == core) {
            Some(memory) => {
                memory.step_stack_bytes = memory.step_stack_bytes.max(step);
                memory.load_stack_bytes = memory.load_stack_bytes.max(load);
            }
            None => found.push(DeviceMemory {
                core,
                handle_bytes,
                step_stack_bytes: step,
                load_stack_bytes: load,
            }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{test_cells, test_spec};

    const CORES: [&str; 6] = ["M0", "M3", "M4F", "M33", "M55", "RV32"];

    #[test]
    fn every_cell_was_measured_in_every_layout_on_every_core() {
        for cell in test_cells() {
            for layout in [Layout::Float, Layout::Small, Layout::Fast, Layout::Mean] {
                let spec = ModelSpec { layout, ..test_spec(4, 1, &[(cell, 8)]) };
                let cores: Vec<&str> = device_memory(&spec).iter().map(|memory| memory.core).collect();
                assert_eq!(cores, CORES, "{cell:?} in {layout:?}");
            }
            for layout in [Layout::Float, Layout::Fast, Layout::Sparse] {
                let mut spec = ModelSpec { layout, ..test_spec(4, 1, &[(cell, 8)]) };
                spec.layers[0].weight_variance = true;
                let counted = device_memory(&spec).len();
                assert_eq!(counted, CORES.len(), "{cell:?} in {layout:?} with weight variances");
            }
        }
    }

    #[test]
    fn a_stack_is_that_of_the_most_demanding_cell() {
        let of = |layers| device_memory(&ModelSpec { layout: Layout::Fast, ..test_spec(4, 1, layers) });
        let (lstm, gru) = (of(&[(CellKind::Lstm, 8)]), of(&[(CellKind::Gru, 8)]));
        for (index, both) in of(&[(CellKind::Gru, 8), (CellKind::Lstm, 8)]).iter().enumerate() {
            let most = lstm[index].step_stack_bytes.max(gru[index].step_stack_bytes);
            assert_eq!(both.step_stack_bytes, most);
        }
    }

    #[test]
    fn latent_models_were_measured_on_every_core() {
        for family in [Family::Vosp, Family::Storn] {
            let memory = latent_device_memory(family, Layout::Fast);
            assert_eq!(memory.iter().map(|memory| memory.core).collect::<Vec<_>>(), CORES);
        }
    }
}
