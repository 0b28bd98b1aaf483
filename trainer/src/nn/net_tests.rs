//! The network on Burn against the equations, one number at a time.

use burn::tensor::Device;
use quaver::checkpoint::{Activation, CellKind, Likelihood, ModelSpec, OutputMode, Target, UnitNoise};
use quaver::moments::{self, Moments, product};

use super::net::{forward, predict};
use super::tensors::{ParameterTensors, to_vec};
use super::{Parameters, test_spec};
use crate::config::InitConfig;
use crate::data::batch::Batch;
use crate::random::{Purpose, normal, stream};

const NOISES: [UnitNoise; 4] = [
    UnitNoise::None,
    UnitNoise::Dropout { keep: 0.8 },
    UnitNoise::Multiplicative { var: 0.4 },
    UnitNoise::Additive { var: 0.3 },
];

/// An LSTM and a GRU below an Elman layer, with `noise` in all places and a variance scale that is not 1.
fn three_layers(noise: UnitNoise) -> ModelSpec {
    let layers = [(CellKind::Lstm, 4), (CellKind::Gru, 3), (CellKind::Elman(Activation::Sigmoid), 5)];
    let mut spec = test_spec(3, 2, &layers);
    for layer in &mut spec.layers {
        (layer.input_noise, layer.recurrent_noise, layer.variance_scale) = (noise, noise, 1.3);
    }
    (spec.output.noise, spec.output.variance_scale) = (noise, 0.7);
    spec
}

fn batch(steps: usize, rows: usize, inputs: usize, uncertain: bool) -> Batch {
    let mut rng = stream(9, Purpose::Shuffle { epoch: 1 });
    let mut draw = || normal(&mut rng) as f32;
    let count = steps * rows * inputs;
    let inputs_mean = (0..count).map(|_| draw()).collect();
    let inputs_var = (0..count).map(|_| if uncertain { draw().abs() } else { 0.0 }).collect();
    Batch {
        steps,
        rows,
        inputs_mean,
        inputs_var,
        targets: Vec::new(),
        mask: Vec::new(),
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
    }
}

/// Noise as the documents state it, kind by kind (Bayer 2015, thesis, 2.3.4 and 2.5).
fn noisy(noise: UnitNoise, Moments { mean: m, var: v }: Moments) -> Moments {
    match noise {
        UnitNoise::None => Moments { mean: m, var: v },
        UnitNoise::Dropout { keep: p } => Moments { mean: p * m, var: p * (1.0 - p) * m * m + p * v },
        UnitNoise::Multiplicative { var } => Moments { mean: m, var: v + var * (m * m + v) },
        UnitNoise::Additive { var } => Moments { mean: m, var: v + var },
    }
}

/// One row of an affine map on moments (Bayer 2015, thesis, eqs. 17 and 18).
fn affine_row(weight: &[f32], bias: f32, input: &[Moments], scale: f32) -> Moments {
    let mut sum = Moments { mean: bias, var: 0.0 };
    for (weight, input) in weight.iter().zip(input) {
        sum.mean += weight * input.mean;
        sum.var += weight * weight * input.var * scale;
    }
    sum
}

fn affine(weight: &[f32], bias: &[f32], input: &[Moments], scale: f32) -> Vec<Moments> {
    assert_eq!(weight.len(), bias.len() * input.len());
    weight.chunks(input.len()).zip(bias).map(|(row, bias)| affine_row(row, *bias, input, scale)).collect()
}

fn values<'p>(parameters: &'p Parameters, name: &str) -> &'p [f32] {
    &parameters.get(name).unwrap().values
}

/// The weights of a layer with as many rows as biases: a GRU's candidate has one row for its input and one
/// for its state.
fn rows(cell: CellKind, weight: &[f32], inputs: usize, columns: usize) -> Vec<f32> {
    match cell {
        CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Lstm => weight.to_vec(),
        CellKind::Gru => {
            let zeros = vec![0.0; columns];
            let unit = |rows: &[f32]| {
                let (gates, candidate) = rows.split_at(2 * columns);
                let (from_input, from_state) = candidate.split_at(inputs);
                [gates, from_input, &zeros[inputs..], &zeros[..inputs], from_state].concat()
            };
            weight.chunks(3 * columns).flat_map(unit).collect()
        }
    }
}

/// Outputs of one row of the batch, step by step.
fn slow(spec: &ModelSpec, parameters: &Parameters, batch: &Batch, row: usize) -> Vec<Vec<Moments>> {
    let start = |layer: &quaver::checkpoint::LayerSpec| vec![Moments::default(); layer.units.into()];
    let mut states: Vec<Vec<Moments>> = spec.layers.iter().map(start).collect();
    let mut cells = states.clone();
    let inputs = usize::from(spec.inputs);
    let mut outputs = Vec::new();
    for step in 0..batch.steps {
        let at = (step * batch.rows + row) * inputs;
        let moments = |i| Moments { mean: batch.inputs_mean[i], var: batch.inputs_var[i] };
        let mut signal: Vec<Moments> = (at..at + inputs).map(moments).collect();
        for (index, layer) in spec.layers.iter().enumerate() {
            let inputs = signal.len();
            let below = signal.iter().map(|unit| noisy(layer.input_noise, *unit));
            let recurrent = layer.cell.is_recurrent();
            let last =
                states[index].iter().filter(|_| recurrent).map(|unit| noisy(layer.recurrent_noise, *unit));
            let columns: Vec<Moments> = below.chain(last).collect();
            let weight = values(parameters, &format!("layer{index}.weight"));
            let weight = rows(layer.cell, weight, inputs, columns.len());
            let pre = affine(&weight, values(parameters, &format!("layer{index}.bias")), &columns, 1.0);
            signal = slow_cell(layer.cell, &pre, &states[index], &mut cells[index]);
            signal.iter_mut().for_each(|unit| unit.var *= layer.variance_scale);
            states[index].clone_from(&signal);
        }
        let (noise, scale) = match spec.output.mode {
            OutputMode::Propagating => (spec.output.noise, spec.output.variance_scale),
            OutputMode::MeanOnly => (UnitNoise::None, 0.0),
        };
        let columns: Vec<Moments> = signal.iter().map(|unit| noisy(noise, *unit)).collect();
        let (weight, bias) = (values(parameters, "output.weight"), values(parameters, "output.bias"));
        outputs.push(affine(weight, bias, &columns, scale));
    }
    outputs
}

fn slow_cell(cell: CellKind, pre: &[Moments], state: &[Moments], memory: &mut [Moments]) -> Vec<Moments> {
    match cell {
        CellKind::Elman(Activation::Tanh) | CellKind::Dense(Activation::Tanh) => {
            pre.iter().map(|a| moments::tanh(*a)).collect()
        }
        CellKind::Elman(Activation::Sigmoid) | CellKind::Dense(Activation::Sigmoid) => {
            pre.iter().map(|a| moments::sigmoid(*a)).collect()
        }
        CellKind::Elman(Activation::Relu) | CellKind::Dense(Activation::Relu) => {
            pre.iter().map(|a| moments::relu(*a)).collect()
        }
        CellKind::Lstm => pre
            .chunks(4)
            .zip(memory)
            .map(|(gates, c)| {
                let kept = product(moments::sigmoid(gates[1]), *c);
                let added = product(moments::sigmoid(gates[0]), moments::tanh(gates[2]));
                *c = Moments { mean: kept.mean + added.mean, var: kept.var + added.var };
                product(moments::sigmoid(gates[3]), moments::tanh(*c))
            })
            .collect(),
        CellKind::Gru => pre.chunks(4).zip(state).map(|(rows, h)| slow_gru(rows, *h)).collect(),
    }
}

/// h' = n + z⊙(h − n), where z is independent of both.
fn slow_gru(rows: &[Moments], h: Moments) -> Moments {
    let (r, z) = (moments::sigmoid(rows[0]), moments::sigmoid(rows[1]));
    let reset = product(r, rows[3]);
    let n = moments::tanh(Moments { mean: rows[2].mean + reset.mean, var: rows[2].var + reset.var });
    let gap = h.mean - n.mean;
    // Given z, the variance is (1 − z)²V[n] + z²V[h]; the mean moves by z times the gap.
    let given = z.mean * z.mean * h.var + (1.0 - z.mean) * (1.0 - z.mean) * n.var + z.var * (n.var + h.var);
    Moments { mean: n.mean + z.mean * gap, var: given + z.var * gap * gap }
}

fn assert_follows_equations(spec: &ModelSpec, batch: &Batch) {
    let parameters = InitConfig::default().parameters(spec, 4);
    let tensors = ParameterTensors::new(spec, &parameters, &Device::flex());
    let output = forward(spec, &tensors, batch, 2);
    let mean = to_vec(output.mean);
    let var = output.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
    let outputs = usize::from(spec.outputs);
    for row in 0..batch.rows {
        for (step, expected) in slow(spec, &parameters, batch, row).iter().enumerate() {
            for (channel, expected) in expected.iter().enumerate() {
                let at = (step * batch.rows + row) * outputs + channel;
                // Both are f32; only the order of the sums differs.
                assert!((mean[at] - expected.mean).abs() < 5e-6, "{} against {expected:?}", mean[at]);
                assert!((var[at] - expected.var).abs() < 5e-6, "{} against {expected:?}", var[at]);
            }
        }
    }
}

#[test]
fn every_noise_follows_the_equations_with_and_without_input_variance() {
    for noise in NOISES {
        for uncertain in [false, true] {
            assert_follows_equations(&three_layers(noise), &batch(7, 5, 3, uncertain));
        }
    }
}

#[test]
fn a_plain_output_ignores_variance_and_noise() {
    let mut spec = three_layers(UnitNoise::Dropout { keep: 0.5 });
    spec.output.mode = OutputMode::MeanOnly;
    assert_follows_equations(&spec, &batch(4, 3, 3, true));
}

#[test]
fn a_prediction_of_binary_targets_is_a_probability() {
    let mut spec = three_layers(UnitNoise::Dropout { keep: 0.5 });
    let parameters = InitConfig::default().parameters(&spec, 4);
    let batch = batch(4, 3, 3, true);
    let before = predict(&spec, &parameters, &batch);
    spec.likelihood = Likelihood::Bernoulli;
    let after = predict(&spec, &Parameters::of(parameters.tensors[..8].to_vec()), &batch);
    for index in 0..before.mean.len() {
        let expected = moments::sigmoid(Moments { mean: before.mean[index], var: before.var[index] });
        assert_eq!(expected, Moments { mean: after.mean[index], var: after.var[index] });
    }
}
