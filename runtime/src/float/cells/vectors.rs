//! The vector units of a host, chosen when the program runs (feature `vectors`).
//!
//! Each function is the same portable code compiled for wider vectors. Nothing is fused or reordered: the
//! bits are those of every other core.

#![allow(unsafe_code)] // calling functions with instructions that not every machine has

use super::{Layer, Units, wide, wide_gru};
use crate::lanes::cpu;
use crate::spec::Activation;

/// Whether no variance is above zero.
pub(super) fn all_zero(vars: &[f32]) -> bool {
    if cpu::has_avx512f() {
        // SAFETY: the machine has these instructions.
        unsafe { all_zero_avx512(vars) }
    } else {
        super::all_zero(vars)
    }
}

#[target_feature(enable = "avx512f")]
fn all_zero_avx512(vars: &[f32]) -> bool {
    super::all_zero(vars)
}

/// Advances the groups of sixteen units of an LSTM, and returns their number of units.
pub(super) fn lstm(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>, c: &mut Units<'_>) -> usize {
    if !wide::suits(layer) {
        0
    } else if cpu::has_avx512f() {
        // SAFETY: the machine has these instructions.
        unsafe { lstm_avx512(layer, deterministic, h, c) }
    } else if cpu::has_avx2() {
        // SAFETY: as above.
        unsafe { lstm_avx2(layer, deterministic, h, c) }
    } else {
        0
    }
}

/// Advances the groups of sixteen units of a GRU, and returns their number of units.
pub(super) fn gru(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>) -> usize {
    if !wide::suits(layer) {
        0
    } else if cpu::has_avx512f() {
        // SAFETY: the machine has these instructions.
        unsafe { gru_avx512(layer, deterministic, h) }
    } else if cpu::has_avx2() {
        // SAFETY: as above.
        unsafe { gru_avx2(layer, deterministic, h) }
    } else {
        0
    }
}

/// Advances the groups of sixteen units of an Elman or dense layer, and returns their number of units.
pub(super) fn elman(
    layer: &Layer<'_>,
    deterministic: bool,
    function: Activation,
    h: &mut Units<'_>,
) -> usize {
    if !wide::suits(layer) {
        0
    } else if cpu::has_avx512f() {
        // SAFETY: the machine has these instructions.
        unsafe { elman_avx512(layer, deterministic, function, h) }
    } else if cpu::has_avx2() {
        // SAFETY: as above.
        unsafe { elman_avx2(layer, deterministic, function, h) }
    } else {
        0
    }
}

#[target_feature(enable = "avx512f")]
fn lstm_avx512(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>, c: &mut Units<'_>) -> usize {
    wide::lstm::<4, true>(layer, deterministic, h, c)
}

#[target_feature(enable = "avx2")]
fn lstm_avx2(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>, c: &mut Units<'_>) -> usize {
    wide::lstm::<2, false>(layer, deterministic, h, c)
}

#[target_feature(enable = "avx512f")]
fn gru_avx512(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>) -> usize {
    wide_gru::gru(layer, deterministic, h)
}

#[target_feature(enable = "avx2")]
fn gru_avx2(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>) -> usize {
    wide_gru::gru(layer, deterministic, h)
}

#[target_feature(enable = "avx512f")]
fn elman_avx512(layer: &Layer<'_>, deterministic: bool, function: Activation, h: &mut Units<'_>) -> usize {
    wide::elman(layer, deterministic, function, h)
}

#[target_feature(enable = "avx2")]
fn elman_avx2(layer: &Layer<'_>, deterministic: bool, function: Activation, h: &mut Units<'_>) -> usize {
    wide::elman(layer, deterministic, function, h)
}

#[cfg(all(test, feature = "write"))]
mod tests {
    use std::vec::Vec;

    use super::super::super::format::AffineView;
    use super::super::super::kernels::NoisyInput;
    use super::super::elman::portable_elman;
    use super::super::gru::portable_gru;
    use super::super::lstm::portable_lstm;
    use super::*;
    use crate::checkpoint::{
        CellKind, Checkpoint, Contents, Extensions, LayerSpec, Layout, Likelihood, ModelSpec, MomentForm,
        OutputMode, OutputSpec, Target, UnitNoise, WeightFormat, write,
    };
    use crate::format::Vector;

    const UNITS: u16 = 53; // three groups of sixteen, one of four, one of one
    const WIDE: usize = 48;
    const INPUTS: u16 = 7;

    /// Numbers that differ everywhere, within ±`size`.
    fn numbers(count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|index| size * (((index * 7919 + 13) % 1000) as f32 / 500.0 - 1.0)).collect()
    }

    fn model(cell: CellKind, weight_format: WeightFormat) -> Vec<u8> {
        let layer = LayerSpec {
            cell,
            units: UNITS,
            input_noise: UnitNoise::None,
            recurrent_noise: UnitNoise::None,
            weight_variance: false,
            variance_scale: 1.25,
        };
        let output = OutputSpec {
            mode: OutputMode::Propagating,
            noise: UnitNoise::None,
            weight_variance: false,
            variance_scale: 1.0,
        };
        let mut contents = Contents::zeros(ModelSpec {
            inputs: INPUTS,
            outputs: 1,
            target: Target::Columns,
            likelihood: Likelihood::Gaussian,
            moment_form: MomentForm::Accurate,
            weight_format,
            layout: Layout::Float,
            layers: [layer].into_iter().collect(),
            output,
            extensions: Extensions::default(),
        });
        let [affine] = &mut contents.layers[..] else { panic!("one layer") };
        affine.weight = numbers(affine.weight.len(), 0.6);
        affine.bias = numbers(affine.bias.len(), 0.3);
        write(&contents).expect("the model can be written")
    }

    /// State after one step on a layer: h, then c, by some or all of the ways there are to take it.
    fn step(model: &[u8], deterministic: bool, by: impl Fn(&Layer<'_>, &mut [f32], &mut [f32])) -> Vec<u32> {
        let checkpoint = Checkpoint::read(model).expect("the model is sound");
        let mut cursor = checkpoint.cursor();
        for vector in Vector::BEFORE_LAYERS {
            cursor.vector(vector, checkpoint.spec());
        }
        let shape = checkpoint.spec().layer_shapes().next().expect("one layer");
        let mean = numbers(shape.cols, 1.5);
        let spread = if deterministic { 0.0 } else { 0.5 };
        let var: Vec<f32> = numbers(shape.cols, spread).into_iter().map(f32::abs).collect();
        let layer = Layer {
            form: MomentForm::Accurate,
            variance_scale: 1.25,
            affine: AffineView::read(&mut cursor, shape),
            input: NoisyInput { mean: &mean, var: &var },
        };
        let mut state = numbers(usize::from(UNITS), 1.0);
        state.extend(numbers(UNITS.into(), spread).into_iter().map(f32::abs));
        let mut cells = state.clone();
        by(&layer, &mut state, &mut cells);
        state.into_iter().chain(cells).map(f32::to_bits).collect()
    }

    /// Compares what vectors take on: the first units of every block of means or variances.
    fn assert_same(found: &[u32], expected: &[u32], what: &str) {
        for (found, expected) in found.chunks(UNITS.into()).zip(expected.chunks(UNITS.into())) {
            assert_eq!(found[..WIDE], expected[..WIDE], "{what}");
        }
    }

    #[test]
    fn vectors_give_the_bits_of_the_portable_lstm() {
        for (format, deterministic) in [
            (WeightFormat::F32, false),
            (WeightFormat::F32, true),
            (WeightFormat::Int8, false),
            (WeightFormat::Int8, true),
        ] {
            let model = model(CellKind::Lstm, format);
            let portable = step(&model, deterministic, |layer, h, c| {
                portable_lstm(layer, deterministic, 0, &mut Units::new(h), &mut Units::new(c));
            });
            // SAFETY: each is called where the machine has its instructions.
            if std::is_x86_feature_detected!("avx512f") {
                let wide = step(&model, deterministic, |layer, h, c| unsafe {
                    assert_eq!(
                        lstm_avx512(layer, deterministic, &mut Units::new(h), &mut Units::new(c)),
                        WIDE
                    );
                });
                assert_same(&wide, &portable, "AVX-512");
            }
            if std::is_x86_feature_detected!("avx2") {
                let wide = step(&model, deterministic, |layer, h, c| unsafe {
                    assert_eq!(lstm_avx2(layer, deterministic, &mut Units::new(h), &mut Units::new(c)), WIDE);
                });
                assert_same(&wide, &portable, "AVX2");
            }
        }
    }

    #[test]
    fn vectors_give_the_bits_of_the_portable_gru() {
        for format in [WeightFormat::F32, WeightFormat::Int8] {
            for deterministic in [false, true] {
                let model = model(CellKind::Gru, format);
                let portable = step(&model, deterministic, |layer, h, _| {
                    portable_gru(layer, deterministic, 0, &mut Units::new(h));
                });
                // SAFETY: each is called where the machine has its instructions.
                if std::is_x86_feature_detected!("avx512f") {
                    let wide = step(&model, deterministic, |layer, h, _| unsafe {
                        assert_eq!(gru_avx512(layer, deterministic, &mut Units::new(h)), WIDE);
                    });
                    assert_same(&wide, &portable, "AVX-512");
                }
                if std::is_x86_feature_detected!("avx2") {
                    let wide = step(&model, deterministic, |layer, h, _| unsafe {
                        assert_eq!(gru_avx2(layer, deterministic, &mut Units::new(h)), WIDE);
                    });
                    assert_same(&wide, &portable, "AVX2");
                }
            }
        }
    }

    #[test]
    fn vectors_give_the_bits_of_the_portable_elman_layer() {
        for function in [Activation::Tanh, Activation::Sigmoid, Activation::Relu] {
            for deterministic in [false, true] {
                let model = model(CellKind::Elman(function), WeightFormat::F32);
                let portable = step(&model, deterministic, |layer, h, _| {
                    portable_elman(layer, deterministic, function, 0, &mut Units::new(h));
                });
                // SAFETY: as above.
                if std::is_x86_feature_detected!("avx512f") {
                    let wide = step(&model, deterministic, |layer, h, _| unsafe {
                        assert_eq!(elman_avx512(layer, deterministic, function, &mut Units::new(h)), WIDE);
                    });
                    assert_same(&wide, &portable, "AVX-512");
                }
                if std::is_x86_feature_detected!("avx2") {
                    let wide = step(&model, deterministic, |layer, h, _| unsafe {
                        assert_eq!(elman_avx2(layer, deterministic, function, &mut Units::new(h)), WIDE);
                    });
                    assert_same(&wide, &portable, "AVX2");
                }
            }
        }
    }
}
