//! The recurrence against a slow loop written from the equations, and its gradients against finite
//! differences.

use quaver::checkpoint::{Activation, CellKind, MomentForm, UnitNoise};
use quaver::moments::{self, Moments, product};

use super::{LayerInput, LayerState, MomentSlices, Recurrence, RecurrentWeights, Traces};
use crate::nn::test_cells;
use quaver::noise::NoiseCoefficients;

const NOISES: [UnitNoise; 4] = [
    UnitNoise::None,
    UnitNoise::Dropout { keep: 0.7 },
    UnitNoise::Multiplicative { var: 0.3 },
    UnitNoise::Additive { var: 0.2 },
];
const FORMS: [MomentForm; 2] = [MomentForm::Accurate, MomentForm::Paper];

/// A layer with made-up numbers: five lanes, so that one block is not full.
struct Case {
    layer: Recurrence,
    noise: UnitNoise,
    lanes: usize,
    pre_mean: Vec<f32>,
    pre_var: Vec<f32>,
    weight: Vec<f32>,
    /// Empty if weights are certain.
    weight_var: Vec<f32>,
    /// Of the state's share alone; empty but for a GRU.
    bias: Vec<f32>,
    bias_var: Vec<f32>,
    start: Option<LayerState>,
    /// Coefficients of a made-up loss that is linear in the states.
    grad_state: Vec<f32>,
}

impl Case {
    fn new(cell: CellKind, noise: UnitNoise, form: MomentForm, steps: usize) -> Case {
        let (units, lanes) = (3, 5);
        let coefficients = NoiseCoefficients::from(noise);
        let layer = Recurrence {
            cell,
            units,
            noise: coefficients,
            form,
            variance_scale: 0.9,
            learned: true,
            certain: false,
            threads: 2,
        };
        let (rows, mut numbers) = (layer.rows(), Numbers(1));
        let mut draw =
            |count: usize, low: f32, high: f32| (0..count).map(|_| numbers.between(low, high)).collect();
        Case {
            layer,
            noise,
            lanes,
            pre_mean: draw(steps * lanes * rows, -1.0, 1.0),
            pre_var: draw(steps * lanes * rows, 0.05, 0.8),
            weight: draw(rows * units, -0.8, 0.8),
            weight_var: Vec::new(),
            start: None,
            grad_state: draw(2 * steps * lanes * units, -1.0, 1.0),
            bias: draw(layer.state_biases(), -0.8, 0.8),
            bias_var: Vec::new(),
        }
    }

    /// The same with weights that are uncertain, and going on from somewhere.
    fn uncertain(cell: CellKind, noise: UnitNoise, form: MomentForm, steps: usize) -> Case {
        let mut case = Case::new(cell, noise, form, steps);
        let mut numbers = Numbers(2);
        let mut draw = |count: usize, low: f32, high: f32| -> Vec<f32> {
            (0..count).map(|_| numbers.between(low, high)).collect()
        };
        let plane = case.lanes * case.layer.units;
        let mut moments = || [draw(plane, -1.0, 1.0), draw(plane, 0.05, 0.5)].concat();
        case.start = Some(LayerState { state: moments(), memory: moments() });
        case.weight_var = draw(case.weight.len(), 0.01, 0.3);
        case.bias_var = draw(case.bias.len(), 0.01, 0.3);
        case
    }

    fn all(steps: usize) -> impl Iterator<Item = Case> {
        test_cells().into_iter().filter(|cell| cell.is_recurrent()).flat_map(move |cell| {
            NOISES.into_iter().flat_map(move |noise| {
                FORMS.into_iter().flat_map(move |form| {
                    [Case::new(cell, noise, form, steps), Case::uncertain(cell, noise, form, steps)]
                })
            })
        })
    }

    fn input<'a>(&'a self) -> LayerInput<'a> {
        let given = |values: &'a [f32]| (!values.is_empty()).then_some(values);
        LayerInput {
            pre: MomentSlices { mean: &self.pre_mean, var: &self.pre_var },
            weights: RecurrentWeights {
                mean: &self.weight,
                var: given(&self.weight_var),
                bias: &self.bias,
                bias_var: given(&self.bias_var),
            },
            lanes: self.lanes,
            start: self.start.as_ref(),
        }
    }

    fn name(&self) -> String {
        let uncertain = self.start.is_some();
        format!("{:?}, {:?}, {:?}, uncertain {uncertain}", self.layer.cell, self.noise, self.layer.form)
    }

    fn states(&self) -> Vec<f32> {
        self.layer.forward(self.input(), Traces::Discard).0
    }

    fn gradients(&self) -> super::Gradients {
        let (state, tape) = self.layer.forward(self.input(), Traces::Keep);
        self.layer.backward(self.input(), (&state, &tape), &self.grad_state)
    }

    fn loss(&self) -> f64 {
        let states = self.states();
        states.iter().zip(&self.grad_state).map(|(state, grad)| f64::from(*state) * f64::from(*grad)).sum()
    }
}

/// A multiplicative congruential generator: tests want numbers without structure, not good ones.
struct Numbers(u64);

impl Numbers {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// Noise kind by kind (Bayer 2015, thesis, 2.3.4 and 2.5), rather than by coefficients.
fn disturbed(noise: UnitNoise, unit: Moments) -> Moments {
    let Moments { mean: m, var: v } = unit;
    match noise {
        UnitNoise::None => unit,
        UnitNoise::Dropout { keep: p } => Moments { mean: p * m, var: p * (1.0 - p) * m * m + p * v },
        UnitNoise::Multiplicative { var } => Moments { mean: m, var: v + var * (m * m + v) },
        UnitNoise::Additive { var } => Moments { mean: m, var: v + var },
    }
}

type Function = fn(Moments) -> Moments;

/// The states of one lane, one unit at a time, from the equations.
fn slow_lane(case: &Case, lane: usize) -> Vec<Vec<Moments>> {
    let Recurrence { cell, units, variance_scale, .. } = case.layer;
    let rows = case.layer.rows();
    let (sigmoid, tanh): (Function, Function) = match case.layer.form {
        MomentForm::Accurate => (moments::sigmoid, moments::tanh),
        MomentForm::Paper => (moments::paper::sigmoid, moments::paper::tanh),
    };
    let begin = |part: fn(&LayerState) -> &Vec<f32>| -> Vec<Moments> {
        let at =
            |unit| case.start.as_ref().map(|start| MomentSlices::halves(part(start)).at(lane * units + unit));
        (0..units).map(|unit| at(unit).unwrap_or_default()).collect()
    };
    let (mut h, mut c) = (begin(|start| &start.state), begin(|start| &start.memory));
    let mut states = Vec::new();
    for step in 0..case.pre_mean.len() / (case.lanes * rows) {
        let noisy: Vec<Moments> = h.iter().map(|unit| disturbed(case.noise, *unit)).collect();
        let from_input = |row: usize| {
            let index = (step * case.lanes + lane) * rows + row;
            Moments { mean: case.pre_mean[index], var: case.pre_var[index] }
        };
        let add_state = |mut sum: Moments, row: usize| {
            for (unit, noisy) in noisy.iter().enumerate() {
                let weight = case.weight[row * units + unit];
                sum.mean += noisy.mean * weight;
                sum.var += noisy.var * weight * weight;
                let tau = case.weight_var.get(row * units + unit).copied().unwrap_or(0.0);
                sum.var += (noisy.mean * noisy.mean + noisy.var) * tau;
            }
            sum
        };
        let pre = |row: usize| add_state(from_input(row), row);
        for unit in 0..units {
            h[unit] = match cell {
                CellKind::Elman(Activation::Tanh) | CellKind::Dense(Activation::Tanh) => tanh(pre(unit)),
                CellKind::Elman(Activation::Sigmoid) | CellKind::Dense(Activation::Sigmoid) => {
                    sigmoid(pre(unit))
                }
                CellKind::Elman(Activation::Relu) | CellKind::Dense(Activation::Relu) => {
                    moments::relu(pre(unit))
                }
                CellKind::Lstm => {
                    let kept = product(sigmoid(pre(4 * unit + 1)), c[unit]);
                    let added = product(sigmoid(pre(4 * unit)), tanh(pre(4 * unit + 2)));
                    c[unit] = Moments { mean: kept.mean + added.mean, var: kept.var + added.var };
                    product(sigmoid(pre(4 * unit + 3)), tanh(c[unit]))
                }
                CellKind::Gru => {
                    let bias_var = case.bias_var.get(unit).copied().unwrap_or(0.0);
                    let bias = Moments { mean: case.bias[unit], var: bias_var };
                    let reset = product(sigmoid(pre(3 * unit)), add_state(bias, 3 * unit + 2));
                    let share = from_input(3 * unit + 2);
                    let n = tanh(Moments { mean: share.mean + reset.mean, var: share.var + reset.var });
                    gru_state(sigmoid(pre(3 * unit + 1)), n, h[unit])
                }
            };
            h[unit].var *= variance_scale;
        }
        states.push(h.clone());
    }
    states
}

/// h' = (1 − z)n + zh by its first two moments: E[h'²] = E[(1−z)²]E[n²] + 2 E[(1−z)z]E[n]E[h] + E[z²]E[h²].
fn gru_state(z: Moments, n: Moments, h: Moments) -> Moments {
    let second = |a: Moments| a.var + a.mean * a.mean;
    let mean = (1.0 - z.mean) * n.mean + z.mean * h.mean;
    let kept = second(Moments { mean: 1.0 - z.mean, var: z.var });
    let mixed = z.mean - second(z);
    let square = kept * second(n) + 2.0 * mixed * n.mean * h.mean + second(z) * second(h);
    Moments { mean, var: square - mean * mean }
}

#[test]
fn states_agree_with_the_equations() {
    for case in Case::all(6) {
        let (units, lanes, states) = (case.layer.units, case.lanes, case.states());
        let moment_slices = MomentSlices::halves(&states);
        for lane in 0..lanes {
            for (step, expected) in slow_lane(&case, lane).iter().enumerate() {
                for (unit, expected) in expected.iter().enumerate() {
                    let found = moment_slices.at((step * lanes + lane) * units + unit);
                    // Sums are ordered differently, nothing else differs.
                    assert!((found.mean - expected.mean).abs() < 2e-6, "{}", case.name());
                    assert!((found.var - expected.var).abs() < 2e-6, "{}", case.name());
                }
            }
        }
    }
}

/// Largest error of central differences, relative to the gradient's root mean square.
///
/// States are f32, so a difference over ±0.01 carries noise of about 1e-5; its own error is of the order of
/// the squared step.
fn worst_error(case: &mut Case, found: &[f32], values: fn(&mut Case) -> &mut Vec<f32>, stride: usize) -> f64 {
    let step = 0.01_f32;
    assert_eq!(values(case).len(), found.len());
    let size = (found.iter().map(|g| f64::from(g * g)).sum::<f64>() / found.len() as f64).sqrt();
    let mut worst = 0.0_f64;
    for index in (0..found.len()).step_by(stride) {
        let value = values(case)[index];
        values(case)[index] = value + step;
        let above = case.loss();
        values(case)[index] = value - step;
        let below = case.loss();
        values(case)[index] = value;
        let difference = (above - below) / f64::from((value + step) - (value - step));
        worst = worst.max((difference - f64::from(found[index])).abs() / size);
    }
    worst
}

#[test]
fn gradients_agree_with_finite_differences() {
    for mut case in Case::all(4) {
        let found = case.gradients();
        let std_devs = [
            worst_error(&mut case, MomentSlices::halves(&found.pre).mean, |case| &mut case.pre_mean, 3),
            worst_error(&mut case, MomentSlices::halves(&found.pre).var, |case| &mut case.pre_var, 3),
            worst_error(&mut case, &found.weight, |case| &mut case.weight, 1),
            worst_error(&mut case, &found.weight_var, |case| &mut case.weight_var, 1),
            worst_error(&mut case, &found.bias, |case| &mut case.bias, 1),
            worst_error(&mut case, &found.bias_var, |case| &mut case.bias_var, 1),
        ];
        for std_dev in std_devs {
            // At most 0.002 was seen, for the LSTM, whose curvature is the largest.
            assert!(std_dev < 0.004, "{}: {std_devs:?}", case.name());
        }
    }
}

#[test]
fn gradients_for_noise_and_scale_agree_with_finite_differences() {
    for mut case in Case::all(4) {
        // Room for a step down: there is no variance below zero, and at the start some are zero.
        case.layer.noise.constant += 0.02;
        let found = case.gradients().coefficients;
        let original = case.layer;
        for (index, found) in found.into_iter().enumerate() {
            let mut at = |step: f32| {
                let layer = &mut case.layer;
                *layer = original;
                let NoiseCoefficients { mean, square, var, constant } = &mut layer.noise;
                *[mean, square, var, constant, &mut layer.variance_scale][index] += step;
                case.loss()
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            case.layer = original;
            // The sums of up to 60 terms of order 1.
            assert!(
                (difference - f64::from(found)).abs() < 0.01,
                "{} {index}: {difference} {found}",
                case.name()
            );
        }
    }
}

#[test]
fn what_a_pass_leaves_behind_lets_the_next_go_on() {
    for case in Case::all(6) {
        let (plane, cut) = (case.lanes * case.layer.units, 2 * case.lanes * case.layer.rows());
        let whole = case.states();
        let input = case.input();
        let first = MomentSlices { mean: &case.pre_mean[..cut], var: &case.pre_var[..cut] };
        let second = MomentSlices { mean: &case.pre_mean[cut..], var: &case.pre_var[cut..] };
        let (states, tape) = case.layer.forward(LayerInput { pre: first, ..input }, Traces::Discard);
        let last = |states: &[f32]| states[states.len() - plane..].to_vec();
        let MomentSlices { mean, var } = MomentSlices::halves(&states);
        let middle = LayerState { state: [last(mean), last(var)].concat(), memory: tape.memory };
        let (states, _) =
            case.layer.forward(LayerInput { pre: second, start: Some(&middle), ..input }, Traces::Discard);
        let (whole, states) = (MomentSlices::halves(&whole), MomentSlices::halves(&states));
        assert_eq!(whole.mean[2 * plane..], *states.mean, "{}", case.name());
        assert_eq!(whole.var[2 * plane..], *states.var, "{}", case.name());
    }
}

#[test]
fn one_two_and_five_threads_give_the_same_bits() {
    for mut case in Case::all(5) {
        case.layer.threads = 1;
        let alone = (case.states(), case.gradients());
        for threads in [2, 5] {
            case.layer.threads = threads;
            assert_eq!((case.states(), case.gradients()), alone, "{}", case.name());
        }
    }
}

#[test]
fn keeping_traces_changes_no_state() {
    for case in Case::all(3) {
        let kept = case.layer.forward(case.input(), Traces::Keep).0;
        assert_eq!(kept, case.states(), "{}", case.name());
    }
}

#[test]
fn no_steps_give_no_states() {
    for case in Case::all(0) {
        assert!(case.states().is_empty());
        assert!(case.gradients().weight.iter().all(|gradient| *gradient == 0.0));
    }
}
