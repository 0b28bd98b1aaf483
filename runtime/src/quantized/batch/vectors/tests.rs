use std::vec::Vec;

use super::super::super::pairs::GroupPairs;
use super::super::super::test_bytes::bytes;
use super::super::sums::{dot, dot_squared};
use super::*;

fn words(count: usize, seed: u32) -> Vec<Lanes> {
    let bytes = bytes(4 * LANES * count, seed);
    let word = |word: &[u8; 4]| f32::from_bits(u32::from_le_bytes(*word));
    let words: Vec<f32> = bytes.as_chunks().0.iter().map(word).collect();
    words.as_chunks().0.to_vec()
}

type Sums = fn(&[u8], &[Lanes]) -> [[Ints; 4]; 2];

#[inline(always)]
fn both<V: Vectors>(blocks: &[u8], input: &[Lanes]) -> [[Ints; 4]; 2] {
    let mut lower = std::vec![0.0; blocks.len() / 4];
    [dot::<V>(GroupPairs::ALL, blocks, input, &mut lower), dot_squared::<V>(blocks, input)]
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn both_vnni(blocks: &[u8], input: &[Lanes]) -> [[Ints; 4]; 2] {
    both::<Avx512Vectors<true>>(blocks, input)
}

#[target_feature(enable = "avx512f,avx512bw")]
fn both_avx512(blocks: &[u8], input: &[Lanes]) -> [[Ints; 4]; 2] {
    both::<Avx512Vectors<false>>(blocks, input)
}

#[target_feature(enable = "avx2")]
fn both_avx2(blocks: &[u8], input: &[Lanes]) -> [[Ints; 4]; 2] {
    both::<Avx2Vectors>(blocks, input)
}

#[test]
fn sums_have_the_same_bits_in_vectors_of_any_width() {
    // SAFETY: each is called where the machine has its instructions.
    let wide: [(&str, bool, Sums); 3] = [
        ("VNNI", cpu::has_avx512_vnni(), |blocks, input| unsafe { both_vnni(blocks, input) }),
        ("AVX-512", cpu::has_avx512_server(), |blocks, input| unsafe { both_avx512(blocks, input) }),
        ("AVX2", cpu::has_avx2(), |blocks, input| unsafe { both_avx2(blocks, input) }),
    ];
    for columns in [2, 4, 6, 40, 140] {
        let (blocks, input) = (bytes(4 * columns, 7), words(columns / 2, 11));
        let expected = both::<PortableVectors>(&blocks, &input);
        assert_ne!(expected[0], expected[1]);
        for (name, _, sums) in wide.iter().filter(|(_, is_there, _)| *is_there) {
            assert_eq!(sums(&blocks, &input), expected, "{name}, {columns} columns");
        }
    }
}

/// A stream's sums are those of a single step.
#[test]
fn sums_of_a_lane_are_those_of_a_stream_alone() {
    use super::super::super::kernels;
    use crate::spec::AnyArchitecture;
    let (blocks, input) = (bytes(4 * 40, 5), words(20, 3));
    let [sums, squares] = both::<PortableVectors>(&blocks, &input);
    for lane in 0..LANES {
        let alone: Vec<f32> = input.iter().map(|words| words[lane]).collect();
        assert_eq!(sums.map(|row| row[lane]), kernels::dot::<AnyArchitecture>(&blocks, &alone));
        assert_eq!(squares.map(|row| row[lane]), kernels::dot_squared(&blocks, &alone));
    }
}

/// States of a float model would be no states of a quantized one: streams start at zero.
#[cfg(feature = "write")]
#[test]
fn whole_steps_have_the_same_bits_in_vectors_of_any_width() {
    use crate::checkpoint::{Activation, CellKind, Layout, MomentForm, WeightFormat};
    use crate::lanes::test_streams::{Step, model, run};
    use crate::quantized::batch_words;
    // SAFETY: each is called where the machine has its instructions.
    let wide: [(&str, bool, Step); 3] = [
        ("VNNI", cpu::has_avx512_vnni(), |a, b, c, d| unsafe { step_vnni(a, b, c, d) }),
        ("AVX-512", cpu::has_avx512_server(), |a, b, c, d| unsafe { step_avx512(a, b, c, d) }),
        ("AVX2", cpu::has_avx2(), |a, b, c, d| unsafe { step_avx2(a, b, c, d) }),
    ];
    for cell in [CellKind::Lstm, CellKind::Gru, CellKind::Elman(Activation::Sigmoid)] {
        for (layout, varied) in [(Layout::Fast, false), (Layout::Fast, true), (Layout::Small, false)] {
            let model = model(cell, (layout, WeightFormat::Int8), varied, MomentForm::Accurate);
            let expected = run(&model, false, batch_words, network::step::<PortableVectors, Portable>);
            assert!(expected.iter().any(|bits| *bits != 0), "{cell:?}, {layout:?}");
            for (name, _, step) in wide.iter().filter(|(_, is_there, _)| *is_there) {
                assert_eq!(
                    run(&model, false, batch_words, *step),
                    expected,
                    "{name}, {cell:?}, {layout:?}, {varied}"
                );
            }
        }
    }
}
