use super::*;
use crate::checkpoint::{Activation, CellKind, Layout, MomentForm, WeightFormat};
use crate::float::batch_words;
use crate::lanes::test_streams::{Step, model, run};

#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    let cells =
        [CellKind::Lstm, CellKind::Gru, CellKind::Elman(Activation::Tanh), CellKind::Dense(Activation::Relu)];
    for cell in cells {
        for format in [WeightFormat::F32, WeightFormat::Int8] {
            for (varied, form) in
                [(false, MomentForm::Accurate), (true, MomentForm::Accurate), (false, MomentForm::Paper)]
            {
                let model = model(cell, (Layout::Float, format), varied, form);
                for uncertain in [false, true] {
                    let what = (cell, format, varied, form, uncertain);
                    let expected = run(&model, uncertain, batch_words, network::step::<4, Portable>);
                    assert!(expected.iter().any(|bits| *bits != 0), "{what:?}");
                    // SAFETY: each is called where the machine has its instructions.
                    if std::is_x86_feature_detected!("avx512f") {
                        let wide: Step = |spec, weights, memory, streams| unsafe {
                            step_avx512(spec, weights, memory, streams);
                        };
                        assert_eq!(run(&model, uncertain, batch_words, wide), expected, "AVX-512, {what:?}");
                    }
                    if std::is_x86_feature_detected!("avx2") {
                        let wide: Step = |spec, weights, memory, streams| unsafe {
                            step_avx2(spec, weights, memory, streams)
                        };
                        assert_eq!(run(&model, uncertain, batch_words, wide), expected, "AVX2, {what:?}");
                    }
                }
            }
        }
    }
}
