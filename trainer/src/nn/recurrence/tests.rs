//! The recurrence against a slow loop written from the equations, and its gradients against finite differences.

use quaver::checkpoint::{CellKind, MomentForm, Transfer, UnitNoise};
use quaver::moments::{self, Moments, product};

use super::{Planes, Recurrence, Traces};
use crate::nn::noise::NoiseLaw;

const CELLS: [CellKind; 4] = [
    CellKind::Elman(Transfer::Tanh),
    CellKind::Elman(Transfer::Sigmoid),
    CellKind::Elman(Transfer::Rectifier),
    CellKind::Lstm,
];
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
    /// Coefficients of a made-up loss that is linear in the states.
    grad_state: Vec<f32>,
}

impl Case {
    fn new(cell: CellKind, noise: UnitNoise, form: MomentForm, steps: usize) -> Case {
        let (units, lanes) = (3, 5);
        let layer =
            Recurrence { cell, units, noise: NoiseLaw::from(noise), form, variance_scale: 0.9, threads: 2 };
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
            grad_state: draw(2 * steps * lanes * units, -1.0, 1.0),
        }
    }

    fn all(steps: usize) -> impl Iterator<Item = Case> {
        CELLS.into_iter().flat_map(move |cell| {
            NOISES
                .into_iter()
                .flat_map(move |noise| FORMS.into_iter().map(move |form| Case::new(cell, noise, form, steps)))
        })
    }

    fn name(&self) -> String {
        format!("{:?}, {:?}, {:?}", self.layer.cell, self.noise, self.layer.form)
    }

    fn states(&self) -> Vec<f32> {
        let pre = Planes { mean: &self.pre_mean, var: &self.pre_var };
        self.layer.forward(pre, &self.weight, self.lanes, Traces::Discard).0
    }

    fn gradients(&self) -> super::Gradients {
        let pre = Planes { mean: &self.pre_mean, var: &self.pre_var };
        let (state, tape) = self.layer.forward(pre, &self.weight, self.lanes, Traces::Keep);
        self.layer.backward((&state, &tape), &self.weight, &self.grad_state, self.lanes)
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
    let (mut h, mut c) = (vec![Moments::default(); units], vec![Moments::default(); units]);
    let mut states = Vec::new();
    for step in 0..case.pre_mean.len() / (case.lanes * rows) {
        let noisy: Vec<Moments> = h.iter().map(|unit| disturbed(case.noise, *unit)).collect();
        let pre = |row: usize| {
            let index = (step * case.lanes + lane) * rows + row;
            let mut sum = Moments { mean: case.pre_mean[index], var: case.pre_var[index] };
            for (unit, noisy) in noisy.iter().enumerate() {
                let weight = case.weight[row * units + unit];
                sum.mean += noisy.mean * weight;
                sum.var += noisy.var * weight * weight;
            }
            sum
        };
        for unit in 0..units {
            h[unit] = match cell {
                CellKind::Elman(Transfer::Tanh) => tanh(pre(unit)),
                CellKind::Elman(Transfer::Sigmoid) => sigmoid(pre(unit)),
                CellKind::Elman(Transfer::Rectifier) => moments::rectifier(pre(unit)),
                CellKind::Lstm => {
                    let kept = product(sigmoid(pre(4 * unit + 1)), c[unit]);
                    let added = product(sigmoid(pre(4 * unit)), tanh(pre(4 * unit + 2)));
                    c[unit] = Moments { mean: kept.mean + added.mean, var: kept.var + added.var };
                    product(sigmoid(pre(4 * unit + 3)), tanh(c[unit]))
                }
            };
            h[unit].var *= variance_scale;
        }
        states.push(h.clone());
    }
    states
}

#[test]
fn states_agree_with_the_equations() {
    for case in Case::all(6) {
        let (units, lanes, states) = (case.layer.units, case.lanes, case.states());
        let planes = Planes::halves(&states);
        for lane in 0..lanes {
            for (step, expected) in slow_lane(&case, lane).iter().enumerate() {
                for (unit, expected) in expected.iter().enumerate() {
                    let found = planes.at((step * lanes + lane) * units + unit);
                    // Sums are ordered differently, nothing else differs.
                    assert!((found.mean - expected.mean).abs() < 2e-6, "{}", case.name());
                    assert!((found.var - expected.var).abs() < 2e-6, "{}", case.name());
                }
            }
        }
    }
}

/// Largest deviation from central differences, relative to the gradient's root mean square.
///
/// States are f32, so a difference over ±0.01 carries noise of about 1e-5; its own error is of the order of the
/// squared step.
fn worst_deviation(
    case: &mut Case,
    found: &[f32],
    values: fn(&mut Case) -> &mut Vec<f32>,
    stride: usize,
) -> f64 {
    let step = 0.01_f32;
    let size = (found.iter().map(|g| f64::from(g * g)).sum::<f64>() / found.len() as f64).sqrt();
    let mut worst = 0.0_f64;
    for index in (0..found.len()).step_by(stride) {
        let value = values(case)[index];
        values(case)[index] = value + step;
        let above = case.loss();
        values(case)[index] = value - step;
        let below = case.loss();
        values(case)[index] = value;
        let slope = (above - below) / f64::from((value + step) - (value - step));
        worst = worst.max((slope - f64::from(found[index])).abs() / size);
    }
    worst
}

#[test]
fn gradients_agree_with_finite_differences() {
    for mut case in Case::all(4) {
        let found = case.gradients();
        let deviations = [
            worst_deviation(&mut case, Planes::halves(&found.pre).mean, |case| &mut case.pre_mean, 3),
            worst_deviation(&mut case, Planes::halves(&found.pre).var, |case| &mut case.pre_var, 3),
            worst_deviation(&mut case, &found.weight, |case| &mut case.weight, 1),
        ];
        for deviation in deviations {
            // At most 0.002 was seen, for the LSTM, whose curvature is the largest.
            assert!(deviation < 0.004, "{}: {deviations:?}", case.name());
        }
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
        let pre = Planes { mean: &case.pre_mean, var: &case.pre_var };
        let kept = case.layer.forward(pre, &case.weight, case.lanes, Traces::Keep).0;
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
