//! An upper bound on the instructions of ridge regression without a network, for budgets: none was fitted.
//!
//! It counts as a network of one unit, without a linear part. To that come the values of the last rows, each
//! with the instructions of one output in the worst row, where variances are summed as well; the rest,
//! moments of the row that enters the ring, is put down to its channels. The numbers are slopes and
//! intercepts of what QEMU counts for the cases `elman-8-4-fast`, `…-linear4` and `…-linear16` of `cargo
//! xtask bench` (2026-11-17), rounded up.

use quaver::Model;
use quaver::checkpoint::{Activation, CellKind, LayerSpec, Layout, ModelSpec, UnitNoise};
use quaver::export::StoredBlocks;

use super::instructions::{InstructionCount, instructions, of_blocks};

/// By core: instructions for each value and output, and for each channel.
const WEIGHTS: [(&str, u64, u64); 6] = [
    ("M0", 600, 1300),
    ("M3", 330, 900),
    ("M4F", 20, 150),
    ("M33", 20, 150),
    ("M55", 20, 150),
    ("RV32", 310, 800),
];

/// Like [`instructions`], and where that has none because of a linear part, at most as many as these.
pub fn bounded_instructions(model: &Model<'_>) -> Vec<InstructionCount> {
    let found = instructions(model);
    match model.spec().extensions.linear {
        Some(linear) if found.is_empty() => {
            of_linear(model.spec(), &model.checkpoint().stored_blocks(), linear.rows.into())
        }
        _ => found,
    }
}

fn of_linear(spec: &ModelSpec, stored: &[StoredBlocks], rows: u64) -> Vec<InstructionCount> {
    let (inputs, outputs) = (u64::from(spec.inputs), u64::from(spec.outputs));
    let stored = if spec.layers.is_empty() { &[] } else { stored };
    let add = |count: InstructionCount| {
        let (_, value, channel) = WEIGHTS.iter().find(|(core, ..)| *core == count.core)?;
        let linear = outputs * (rows * inputs * value + channel) + inputs * channel;
        Some(InstructionCount { instructions: count.instructions + linear, ..count })
    };
    of_blocks(&with_a_unit(spec), stored).into_iter().filter_map(add).collect()
}

/// The model, and if it has no network, with one of one unit in a layout that was measured: more than it
/// takes.
pub fn with_a_unit(spec: &ModelSpec) -> ModelSpec {
    let mut with = spec.clone();
    with.layout = if spec.layers.is_empty() { Layout::Fast } else { spec.layout };
    if spec.layers.is_empty() {
        let unit = LayerSpec {
            cell: CellKind::Elman(Activation::Tanh),
            units: 1,
            input_noise: UnitNoise::None,
            recurrent_noise: UnitNoise::None,
            weight_variance: spec.output.weight_variance,
            variance_scale: 1.0,
        };
        with.layers = [unit].into_iter().collect();
    }
    with
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::test_spec;

    /// Core, rows, and what QEMU counts in the worst row, with 8 channels and one output.
    const COUNTED: [(&str, u64, u64); 8] = [
        ("M0", 4, 52_523),
        ("M0", 16, 108_093),
        ("M3", 4, 30_769),
        ("M3", 16, 61_549),
        ("M55", 4, 5_324),
        ("M55", 16, 7_183),
        ("RV32", 4, 31_244),
        ("RV32", 16, 60_460),
    ];

    #[test]
    fn bounds_are_above_what_was_counted_and_not_far() {
        let tanh = CellKind::Elman(Activation::Tanh);
        let spec = ModelSpec { layout: Layout::Fast, ..test_spec(8, 1, &[(tanh, 4)]) };
        for (core, rows, counted) in COUNTED {
            let bounds = of_linear(&spec, &[], rows);
            let bound = bounds.iter().find(|count| count.core == core).expect("a bound").instructions;
            assert!((counted..counted + counted / 5).contains(&bound), "{rows} rows on {core}: {bound}");
        }
    }

    #[test]
    fn ridge_regression_alone_is_bounded_on_every_core() {
        let spec = ModelSpec { layout: Layout::Float, ..test_spec(2, 1, &[]) };
        let bounds = of_linear(&spec, &[], 5);
        assert_eq!(bounds.len(), WEIGHTS.len());
        let more = of_linear(&spec, &[], 6);
        for ((_, value, _), (less, more)) in WEIGHTS.iter().zip(bounds.iter().zip(&more)) {
            assert_eq!(more.instructions - less.instructions, 2 * value, "{}", less.core);
        }
    }
}
