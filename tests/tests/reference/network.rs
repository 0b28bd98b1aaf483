//! The network once more, slowly and in f64, from the equations: what the runtime is compared with.
//!
//! Moments through activation functions are integrals, taken by the trapezoidal rule; nothing is shared with
//! the runtime but the description of the model.

use quaver::checkpoint::{
    Activation, Affine, CellKind, Contents, Likelihood, MomentForm, OutputMode, UnitNoise,
};

/// Mean and variance.
pub(crate) type Pair = (f64, f64);

/// One affine map as rows of (weight, weight variance), with bias and bias variance.
#[derive(Clone)]
struct Map {
    rows: Vec<(Vec<Pair>, Pair)>,
}

impl Map {
    /// The map of a GRU with `units` units, of which the last row of each becomes two: its input's columns,
    /// and its state's. Quantized layouts have a scale for each of the two.
    fn gru(affine: &Affine, bytes: bool, units: usize, split_scales: bool) -> Self {
        let cols = affine.weight.len() / (3 * units);
        let inputs = cols - units;
        // One row for each bias, four per unit.
        let four_rows = |values: &[f32], row: usize, from_input: bool, from_state: bool| -> Vec<f32> {
            let row = values.get(row * cols..(row + 1) * cols).unwrap_or_default().iter().enumerate();
            row.map(
                |(col, value)| if [from_state, from_input][usize::from(col < inputs)] { *value } else { 0.0 },
            )
            .collect()
        };
        let expand = |values: &[f32]| -> Vec<f32> {
            let unit = |unit: usize| {
                let parts = [(0, true, true), (1, true, true), (2, true, false), (2, false, true)];
                parts.into_iter().flat_map(move |(gate, x, h)| four_rows(values, 3 * unit + gate, x, h))
            };
            (0..units).flat_map(unit).collect()
        };
        let rounded = |values: &[f32], largest: f32| -> Vec<f32> {
            let rows = values.chunks(cols).flat_map(|row| stored(row, bytes, largest));
            rows.map(|value| value as f32).collect()
        };
        // Either each half is rounded by itself, or the row as a whole before it is split.
        let whole = Affine {
            weight: if split_scales { affine.weight.clone() } else { rounded(&affine.weight, 127.0) },
            ..affine.clone()
        };
        let std_devs: Vec<f32> = affine.weight_var.iter().map(|var| var.sqrt()).collect();
        let weight_var = rounded(&std_devs, 255.0).into_iter().map(|std_dev| std_dev * std_dev).collect();
        let whole = Affine { weight_var, ..whole };
        let expanded =
            Affine { weight: expand(&whole.weight), weight_var: expand(&whole.weight_var), ..whole };
        Map::new(&expanded, bytes && split_scales)
    }

    fn new(affine: &Affine, bytes: bool) -> Self {
        let cols = affine.weight.len() / affine.bias.len();
        let weights: Vec<f64> =
            affine.weight.chunks(cols).flat_map(|row| stored(row, bytes, 127.0)).collect();
        let std_devs: Vec<f32> = affine.weight_var.iter().map(|var| var.sqrt()).collect();
        let std_devs = std_devs.chunks(cols).flat_map(|row| stored(row, bytes, 255.0));
        let variances: Vec<f64> = std_devs.map(|std_dev| std_dev * std_dev).collect();
        let at = |list: &[f64], index: usize| list.get(index).copied().unwrap_or(0.0);
        let bias_var: Vec<f64> = affine.bias_var.iter().map(|var| f64::from(*var)).collect();
        let row = |(index, bias): (usize, &f32)| {
            let columns =
                (0..cols).map(|col| (weights[index * cols + col], at(&variances, index * cols + col)));
            (columns.collect(), (f64::from(*bias), at(&bias_var, index)))
        };
        Map { rows: affine.bias.iter().enumerate().map(row).collect() }
    }

    /// E and V of each row (Bayer 2015, thesis, eqs. 17 and 18).
    fn apply(&self, input: &[Pair]) -> Vec<Pair> {
        let row = |(weights, bias): &(Vec<Pair>, Pair)| {
            weights.iter().zip(input).fold(*bias, |(mean, var), ((weight, tau), (m, v))| {
                (mean + weight * m, var + v * weight * weight + (m * m + v) * tau)
            })
        };
        self.rows.iter().map(row).collect()
    }
}

/// The values that a row has after storing it.
fn stored(row: &[f32], bytes: bool, largest: f32) -> Vec<f64> {
    let scale = row.iter().fold(0.0_f32, |most, value| most.max(value.abs())) / largest;
    let through_bytes = |value: &f32| f64::from((value / scale).round_ties_even()) * f64::from(scale);
    row.iter().map(|value| if bytes { through_bytes(value) } else { f64::from(*value) }).collect()
}

fn noisy(noise: UnitNoise, (m, v): Pair) -> Pair {
    match noise {
        UnitNoise::None => (m, v),
        UnitNoise::Dropout { keep } => {
            let p = f64::from(keep);
            (p * m, p * (1.0 - p) * m * m + p * v)
        }
        UnitNoise::Multiplicative { var } => (m, v + f64::from(var) * (m * m + v)),
        UnitNoise::Additive { var } => (m, v + f64::from(var)),
    }
}

fn sigma(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// E[f(a)] and V[f(a)] for a ~ N(m, v), by the trapezoidal rule on ±9 standard deviations.
pub(crate) fn quadrature(f: impl Fn(f64) -> f64, (m, v): Pair) -> Pair {
    const NODES: i32 = 4000;
    let s = v.sqrt();
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    let at_mean = f(m);
    for node in -NODES..=NODES {
        let r = 9.0 * f64::from(node) / f64::from(NODES);
        let weight = (-0.5 * r * r).exp();
        // About f(m), so that a small variance does not cancel.
        let value = f(m + s * r) - at_mean;
        total += weight;
        first += weight * value;
        second += weight * value * value;
    }
    let mean = first / total;
    (at_mean + mean, second / total - mean * mean)
}

/// The printed form with its squared mean corrected.
fn printed_sigmoid((m, v): Pair) -> Pair {
    let sigmoid_mean = |m: f64, v: f64| sigma(m / (1.0 + std::f64::consts::PI * v / 8.0).sqrt());
    let a = 4.0 - 2.0 * 2.0_f64.sqrt();
    let b = -(2.0_f64.sqrt() - 1.0).ln();
    let mean = sigmoid_mean(m, v);
    (mean, sigmoid_mean(a * (m - b), a * a * v) - mean * mean)
}

fn sigmoid(form: MomentForm, (m, v): Pair) -> Pair {
    match form {
        MomentForm::Accurate => quadrature(sigma, (m, v)),
        MomentForm::Paper => printed_sigmoid((m, v)),
    }
}

fn tanh(form: MomentForm, (m, v): Pair) -> Pair {
    match form {
        MomentForm::Accurate => quadrature(f64::tanh, (m, v)),
        MomentForm::Paper => {
            let (mean, var) = printed_sigmoid((2.0 * m, 4.0 * v));
            (2.0 * mean - 1.0, 4.0 * var)
        }
    }
}

/// Moments of a product of independents (Bayer 2015, thesis, eqs. 14 and 15).
fn product((e1, v1): Pair, (e2, v2): Pair) -> Pair {
    (e1 * e2, v1 * v2 + v1 * e2 * e2 + v2 * e1 * e1)
}

#[derive(Clone)]
struct Layer {
    map: Map,
    h: Vec<Pair>,
    c: Vec<Pair>,
}

/// A model with the state of one stream.
#[derive(Clone)]
pub(crate) struct Network {
    contents: Contents,
    layers: Vec<Layer>,
    output: Map,
}

impl Network {
    pub(crate) fn new(contents: &Contents) -> Self {
        let bytes = contents.spec.weight_format == quaver::checkpoint::WeightFormat::Int8;
        let quantized = contents.spec.layout.is_quantized();
        let layer = |(spec, affine): (&quaver::checkpoint::LayerSpec, &Affine)| Layer {
            map: match spec.cell {
                CellKind::Gru => Map::gru(affine, bytes, spec.units.into(), quantized),
                CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Lstm => Map::new(affine, bytes),
            },
            h: vec![(0.0, 0.0); spec.units.into()],
            c: vec![(0.0, 0.0); spec.units.into()],
        };
        Network {
            layers: contents.spec.layers.iter().zip(&contents.layers).map(layer).collect(),
            output: Map::new(&contents.output, bytes),
            contents: contents.clone(),
        }
    }

    /// One step from standardised inputs; per output (mean, epistemic variance, aleatoric variance) in raw
    /// units.
    pub(crate) fn step(&mut self, input: Vec<Pair>) -> Vec<(f64, f64, f64)> {
        let spec = self.contents.spec.clone();
        let last = input.clone();
        let mut below = input;
        for (layer, state) in spec.layers.iter().zip(&mut self.layers) {
            let fed = below.iter().map(|unit| noisy(layer.input_noise, *unit));
            let recurrent = !matches!(layer.cell, CellKind::Dense(_));
            let own = state.h.iter().filter(|_| recurrent).map(|unit| noisy(layer.recurrent_noise, *unit));
            let a = state.map.apply(&fed.chain(own).collect::<Vec<_>>());
            match layer.cell {
                CellKind::Elman(function) | CellKind::Dense(function) => {
                    state.h = elman(function, spec.moment_form, &a);
                }
                CellKind::Lstm => lstm(spec.moment_form, &a, state),
                CellKind::Gru => gru(spec.moment_form, &a, state),
            }
            let scale = f64::from(layer.variance_scale);
            state.h.iter_mut().for_each(|(_, var)| *var *= scale);
            below = state.h.clone();
        }
        self.outputs(&below, &last)
    }

    /// The units of the last layer.
    pub(crate) fn last(&self) -> &[Pair] {
        &self.layers.last().expect("a net has layers").h
    }

    fn outputs(&self, below: &[Pair], last: &[Pair]) -> Vec<(f64, f64, f64)> {
        let spec = &self.contents.spec;
        let mean_only = spec.output.mode == OutputMode::MeanOnly;
        let fed =
            below.iter().map(|unit| if mean_only { (unit.0, 0.0) } else { noisy(spec.output.noise, *unit) });
        let a = self.output.apply(&fed.collect::<Vec<_>>());
        let scale = if mean_only { 0.0 } else { f64::from(spec.output.variance_scale) };
        let mut a: Vec<Pair> = a.into_iter().map(|(mean, var)| (mean, var * scale)).collect();
        if spec.target.is_residual() {
            for (change, last) in a.iter_mut().step_by(spec.likelihood.rows()).zip(last) {
                *change = (change.0 + last.0, change.1 + last.1);
            }
        }
        let noise = |index: usize| f64::from(self.contents.noise_var[index]);
        let binary = |a: &Pair| {
            let (mean, var) = sigmoid(spec.moment_form, *a);
            (mean, var, mean * (1.0 - mean) - var)
        };
        match spec.likelihood {
            Likelihood::Gaussian => {
                a.iter().enumerate().map(|(index, a)| self.gaussian(index, *a, noise(index))).collect()
            }
            Likelihood::Bernoulli => a.iter().map(binary).collect(),
            Likelihood::Heteroscedastic => {
                let pair = |(index, pair): (usize, &[Pair])| {
                    let (log, var) = pair[1];
                    self.gaussian(index, pair[0], (log + 0.5 * var).exp())
                };
                a.chunks(2).enumerate().map(pair).collect()
            }
            Likelihood::Categorical => categorical(&a),
        }
    }

    fn gaussian(&self, index: usize, (mean, var): Pair, noise: f64) -> (f64, f64, f64) {
        let std_dev = f64::from(self.contents.output_scaler.std_dev[index]);
        let unit = std_dev * std_dev * f64::from(self.contents.calibration[index]);
        let raw_mean = mean * std_dev + f64::from(self.contents.output_scaler.mean[index]);
        (raw_mean, var * unit, noise * unit)
    }
}

/// Softmax of shrunk logits, with the variance that a linearised softmax has.
fn categorical(a: &[Pair]) -> Vec<(f64, f64, f64)> {
    let exps: Vec<f64> =
        a.iter().map(|(m, v)| (m / (1.0 + std::f64::consts::PI * v / 8.0).sqrt()).exp()).collect();
    let p: Vec<f64> = exps.iter().map(|exp| exp / exps.iter().sum::<f64>()).collect();
    let derivative = |k: usize, j: usize| p[k] * (f64::from(u8::from(k == j)) - p[j]);
    let variance = |k: usize| -> f64 { (0..p.len()).map(|j| derivative(k, j).powi(2) * a[j].1).sum() };
    let class = |k: usize| {
        let total = p[k] * (1.0 - p[k]);
        let known = variance(k).min(total);
        (p[k], known, total - known)
    };
    (0..p.len()).map(class).collect()
}

fn elman(function: Activation, form: MomentForm, a: &[Pair]) -> Vec<Pair> {
    let unit = |a: &Pair| match function {
        Activation::Tanh => tanh(form, *a),
        Activation::Sigmoid => sigmoid(form, *a),
        Activation::Relu => quadrature(|x| x.max(0.0), *a),
    };
    a.iter().map(unit).collect()
}

/// i, f, g, o of each unit side by side (Fortunato, Blundell and Vinyals 2017, A.2).
fn lstm(form: MomentForm, a: &[Pair], state: &mut Layer) {
    for (gates, (h, c)) in a.chunks(4).zip(state.h.iter_mut().zip(&mut state.c)) {
        let kept = product(sigmoid(form, gates[1]), *c);
        let added = product(sigmoid(form, gates[0]), tanh(form, gates[2]));
        *c = (kept.0 + added.0, kept.1 + added.1);
        *h = product(sigmoid(form, gates[3]), tanh(form, *c));
    }
}

/// r, z, a_x, a_h of each unit side by side (Cho et al. 2014, reset gate after the recurrent product).
fn gru(form: MomentForm, a: &[Pair], state: &mut Layer) {
    for (rows, h) in a.chunks(4).zip(&mut state.h) {
        let gated = product(sigmoid(form, rows[0]), rows[3]);
        let n = tanh(form, (rows[2].0 + gated.0, rows[2].1 + gated.1));
        let z = sigmoid(form, rows[1]);
        // Var[(1 − z) n + z h] = E[X²] − E[X]², term by term for independent z, n and h.
        let square = |(m, v): Pair| m * m + v;
        let mean = (1.0 - z.0) * n.0 + z.0 * h.0;
        let mixed = z.0 - square(z);
        let second = square((1.0 - z.0, z.1)) * square(n) + square(z) * square(*h) + 2.0 * mixed * n.0 * h.0;
        *h = (mean, second - mean * mean);
    }
}
