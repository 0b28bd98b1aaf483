use std::vec;
use std::vec::Vec;

use super::*;
use crate::checkpoint::{
    Activation, CellKind, Checkpoint, Contents, Extensions, LayerSpec, Layout, Likelihood, MomentForm,
    OutputMode, OutputSpec, Target, UnitNoise, WeightFormat, write,
};
use crate::float::batch_words;
use crate::format::Vector;
use crate::step_io::LANES;

const INPUTS: u16 = 7;
/// A group of sixteen, one of four, one of one.
const UNITS: u16 = 21;

#[test]
fn shuffles_transpose_as_loops_do() {
    let block: Block = core::array::from_fn(|row| core::array::from_fn(|col| (16 * row + col) as f32));
    let mut expected = block;
    Portable::transpose(&mut expected);
    assert_eq!(expected[3][5], block[5][3]);
    if std::is_x86_feature_detected!("avx512f") {
        let mut found = block;
        Avx512::transpose(&mut found);
        assert_eq!(found, expected);
    }
}

/// Streams whose numbers differ everywhere; two lanes are empty.
struct Streams {
    states: Vec<Vec<f32>>,
    uncertain: bool,
    outputs: Vec<u32>,
}

/// Numbers within ±1.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|index| ((index * 7919 + seed * 131) % 1000) as f32 / 500.0 - 1.0).collect()
}

impl Streams {
    fn new(words: usize, uncertain: bool) -> Self {
        let scale = if uncertain { 1.0 } else { 0.0 };
        // Variances are positive, and means may be.
        let state = |seed| numbers(words, seed).into_iter().map(|x| x.abs() * scale).collect();
        Streams { states: (0..LANES - 2).map(state).collect(), uncertain, outputs: Vec::new() }
    }
}

impl StreamLanes for Streams {
    fn inputs(&mut self, [means, vars]: [&mut [Lanes]; 2]) {
        for (index, (mean, var)) in means.iter_mut().zip(vars).enumerate() {
            let x = numbers(LANES, index);
            *mean = core::array::from_fn(|lane| x[lane]);
            *var = core::array::from_fn(|lane| if self.uncertain { x[lane].abs() } else { 0.0 });
        }
    }

    fn recurrent(&mut self) -> [&mut [f32]; LANES] {
        let mut states = self.states.iter_mut();
        [(); LANES].map(|()| states.next().map_or(&mut [][..], |state| &mut state[..]))
    }

    fn outputs(&mut self, moments: [&[Lanes]; 2]) {
        for rows in moments {
            self.outputs.extend(rows.iter().flat_map(|row| &row[..LANES - 2]).map(|value| value.to_bits()));
        }
    }
}

fn model(cell: CellKind, weight_format: WeightFormat, weight_variance: bool, form: MomentForm) -> Vec<u8> {
    let noise = UnitNoise::None;
    let layer = LayerSpec {
        cell,
        units: UNITS,
        input_noise: noise,
        recurrent_noise: noise,
        weight_variance,
        variance_scale: 1.25,
    };
    let mut contents = Contents::zeros(ModelSpec {
        inputs: INPUTS,
        outputs: 5,
        target: Target::Columns,
        likelihood: Likelihood::Bernoulli,
        moment_form: form,
        weight_format,
        layout: Layout::Float,
        layers: [layer, layer].into_iter().collect(),
        output: OutputSpec { mode: OutputMode::Propagating, noise, weight_variance, variance_scale: 1.0 },
        extensions: Extensions::default(),
    });
    for (seed, affine) in contents.layers.iter_mut().chain([&mut contents.output]).enumerate() {
        affine.weight = numbers(affine.weight.len(), seed);
        affine.bias = numbers(affine.bias.len(), seed + 7);
        for vars in [&mut affine.weight_var, &mut affine.bias_var] {
            *vars = numbers(vars.len(), seed + 9).into_iter().map(f32::abs).collect();
        }
    }
    write(&contents).expect("the model can be written")
}

type Step = fn(&ModelSpec, Cursor<'_>, &mut [f32], &mut dyn StreamLanes);

/// Bits of outputs and states after two steps.
fn run(model: &[u8], uncertain: bool, step: Step) -> Vec<u32> {
    let checkpoint = Checkpoint::read(model).expect("the model is sound");
    let (spec, mut cursor) = (checkpoint.spec(), checkpoint.cursor());
    for vector in Vector::BEFORE_LAYERS {
        cursor.vector(vector, spec);
    }
    let mut streams = Streams::new(spec.recurrent_words(), uncertain);
    let mut memory = vec![f32::NAN; batch_words(spec)];
    for _ in 0..2 {
        step(spec, cursor, &mut memory, &mut streams);
    }
    let states = streams.states.iter().flatten().map(|word| word.to_bits());
    streams.outputs.iter().copied().chain(states).collect()
}

#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    let cells =
        [CellKind::Lstm, CellKind::Gru, CellKind::Elman(Activation::Tanh), CellKind::Dense(Activation::Relu)];
    for cell in cells {
        for format in [WeightFormat::F32, WeightFormat::Int8] {
            for (varied, form) in
                [(false, MomentForm::Accurate), (true, MomentForm::Accurate), (false, MomentForm::Paper)]
            {
                let model = model(cell, format, varied, form);
                for uncertain in [false, true] {
                    let what = (cell, format, varied, form, uncertain);
                    let expected = run(&model, uncertain, network::step::<4, Portable>);
                    assert!(expected.iter().any(|bits| *bits != 0), "{what:?}");
                    // SAFETY: each is called where the machine has its instructions.
                    if std::is_x86_feature_detected!("avx512f") {
                        let wide: Step = |spec, weights, memory, streams| unsafe {
                            step_avx512(spec, weights, memory, streams);
                        };
                        assert_eq!(run(&model, uncertain, wide), expected, "AVX-512, {what:?}");
                    }
                    if std::is_x86_feature_detected!("avx2") {
                        let wide: Step = |spec, weights, memory, streams| unsafe {
                            step_avx2(spec, weights, memory, streams)
                        };
                        assert_eq!(run(&model, uncertain, wide), expected, "AVX2, {what:?}");
                    }
                }
            }
        }
    }
}
