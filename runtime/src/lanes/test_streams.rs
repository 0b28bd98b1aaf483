//! Streams and models for tests of steps in vectors of several widths.

use std::vec;
use std::vec::Vec;

use super::{LANES, Lanes, States, StreamLanes};
use crate::checkpoint::{
    CellKind, Checkpoint, Contents, Extensions, LayerSpec, Layout, Likelihood, ModelSpec, MomentForm,
    OutputMode, OutputSpec, Target, UnitNoise, WeightFormat, write,
};
use crate::format::{Cursor, Vector};

const INPUTS: u16 = 7;
/// A group of sixteen, one of four, one of one.
const UNITS: u16 = 21;

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

    fn recurrent(&mut self) -> States<'_> {
        let mut states = self.states.iter_mut();
        [(); LANES].map(|()| states.next().map_or(&mut [][..], |state| &mut state[..]))
    }

    fn outputs(&mut self, moments: [&[Lanes]; 2]) {
        for rows in moments {
            self.outputs.extend(rows.iter().flat_map(|row| &row[..LANES - 2]).map(|value| value.to_bits()));
        }
    }
}

/// A model of two layers whose weights differ everywhere.
pub(crate) fn model(
    cell: CellKind,
    (layout, weight_format): (Layout, WeightFormat),
    weight_variance: bool,
    form: MomentForm,
) -> Vec<u8> {
    let noise = UnitNoise::None;
    let layer = LayerSpec {
        cell,
        units: UNITS,
        input_noise: noise,
        recurrent_noise: noise,
        weight_variance,
        variance_scale: if layout == Layout::Float { 1.25 } else { 1.0 }, // quantized layers have none
    };
    let mut contents = Contents::zeros(ModelSpec {
        inputs: INPUTS,
        outputs: 5,
        target: Target::Columns,
        likelihood: Likelihood::Bernoulli,
        moment_form: form,
        weight_format,
        layout,
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

/// A step of sixteen streams.
pub(crate) type Step = fn(&ModelSpec, Cursor<'_>, &mut [f32], &mut dyn StreamLanes);

/// Bits of outputs and states after two steps, of states that are zero or, if they may be `uncertain`, any;
/// the step needs `batch_words` words.
pub(crate) fn run(
    model: &[u8],
    uncertain: bool,
    batch_words: fn(&ModelSpec) -> Option<usize>,
    step: Step,
) -> Vec<u32> {
    let checkpoint = Checkpoint::read(model).expect("the model is sound");
    let (spec, mut cursor) = (checkpoint.spec(), checkpoint.cursor());
    for vector in Vector::BEFORE_LAYERS {
        cursor.vector(vector, spec);
    }
    let mut streams = Streams::new(spec.recurrent_words(), uncertain);
    let mut memory = vec![f32::NAN; batch_words(spec).expect("streams are stepped together")];
    for _ in 0..2 {
        step(spec, cursor, &mut memory, &mut streams);
    }
    let states = streams.states.iter().flatten().map(|word| word.to_bits());
    streams.outputs.iter().copied().chain(states).collect()
}
