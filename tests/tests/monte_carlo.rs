//! Cells against what they stand for: a million draws of inputs, masks and weights through an ordinary net.
//!
//! Variance propagation takes units as independent and pre-activations as normal. Where a net makes that true
//! (one unit; normal inputs; gates that read different inputs) the runtime must agree with the draws to their
//! standard error; where it is an approximation, the test says how good it is.

use quaver::checkpoint::{Activation, CellKind, Contents, Layout, UnitNoise, WeightFormat, write};
use quaver::{Model, Output};
use quaver_tests::golden::Architecture;
use quaver_tests::numbers::Numbers;

const DRAWS: u32 = 1_000_000;

/// One unit between some inputs and one output that shows it as it is.
fn one_unit(cell: CellKind, inputs: u16, input_noise: UnitNoise, weight_variance: bool) -> Contents {
    let noise = [input_noise, UnitNoise::None, UnitNoise::None];
    let architecture = Architecture { inputs, outputs: 1, noise, weight_variance, ..Architecture::default() };
    let mut spec = architecture.spec(&[(cell, 1)], WeightFormat::F32);
    spec.output.weight_variance = false;
    let mut contents = Contents::zeros(spec);
    contents.output.weight[0] = 1.0;
    contents
}

/// The runtime's first prediction.
fn predicted(contents: &Contents, mean: &[f32], var: &[f32]) -> Output {
    let bytes = write(contents).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    model.step_uncertain(&mut state, mean, var).get(0).expect("one output")
}

/// Standard normal draws (Box and Muller 1958), two at a time.
struct Normal {
    numbers: Numbers,
    spare: Option<f64>,
}

impl Normal {
    fn new(label: &str) -> Self {
        Normal { numbers: Numbers::new(label), spare: None }
    }

    fn uniform(&mut self) -> f64 {
        f64::from(self.numbers.between(0.0, 1.0))
    }

    fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    fn with(&mut self, mean: f32, var: f32) -> f64 {
        f64::from(mean) + f64::from(var).sqrt() * self.draw()
    }
}

/// Mean and variance over a million draws.
fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let value = draw();
        sum += value;
        squares += value * value;
    }
    let mean = sum / f64::from(DRAWS);
    (mean, squares / f64::from(DRAWS) - mean * mean)
}

/// Compares mean and variance, allowing five standard errors of the draws plus what the caller grants for
/// approximation: `slack` of a standard deviation for the mean, and of the variance for the variance.
fn agree(what: &str, found: Output, (mean, var): (f64, f64), slack: f64) {
    let std_dev = var.sqrt();
    // The standard error of a variance is √(2/n) of it for a normal; bounded values have lighter tails.
    let error = 5.0 / f64::from(DRAWS).sqrt();
    let (mean_gap, var_gap) = (f64::from(found.mean) - mean, f64::from(found.epistemic) / var - 1.0);
    println!("{what}: mean off by {:.5} std devs, variance by {var_gap:.5} of it", mean_gap / std_dev);
    assert!(mean_gap.abs() <= (error + slack) * std_dev, "{what}: {found:?} against mean {mean}");
    assert!(var_gap.abs() <= 1.5 * error + slack, "{what}: {found:?} against variance {var}");
}

fn activate(activation: Activation, a: f64) -> f64 {
    match activation {
        Activation::Tanh => a.tanh(),
        Activation::Sigmoid => sigmoid(a),
        Activation::Relu => a.max(0.0),
    }
}

fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}

const TRANSFERS: [Activation; 3] = [Activation::Tanh, Activation::Sigmoid, Activation::Relu];

/// The fitted moments of sigmoid and tanh are within 3 % of the variance and 5·10⁻⁴ of the mean.
const FIT: f64 = 0.03;

/// Moments by table are within 3.5 % of the variance, and codes of seven bits within half a hundredth.
const TABLE: f64 = 0.01;

fn dot(weights: &[f32], values: impl Iterator<Item = f64>) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| f64::from(*weight) * value).sum()
}

#[test]
fn uncertain_inputs() {
    let (mean, var) = ([0.8_f32, -1.2, 0.3], [0.5_f32, 0.1, 1.5]);
    for activation in TRANSFERS {
        let mut contents = one_unit(CellKind::Elman(activation), 3, UnitNoise::None, false);
        contents.layers[0].weight[..3].copy_from_slice(&[0.7, 0.4, -0.6]);
        contents.layers[0].bias[0] = 0.2;
        let mut normal = Normal::new("uncertain inputs");
        let drawn = moments(|| {
            let a = dot(&contents.layers[0].weight[..3], (0..3).map(|i| normal.with(mean[i], var[i])));
            activate(activation, a + 0.2)
        });
        agree(&format!("{activation:?} of normal inputs"), predicted(&contents, &mean, &var), drawn, FIT);
    }
}

#[test]
fn uncertain_weights() {
    let row = [1.5_f32, -0.4, 0.9];
    for activation in TRANSFERS {
        let mut contents = one_unit(CellKind::Elman(activation), 3, UnitNoise::None, true);
        contents.layers[0].weight[..3].copy_from_slice(&[0.5, -0.8, 0.3]);
        contents.layers[0].weight_var[..3].copy_from_slice(&[0.1, 0.3, 0.2]);
        contents.layers[0].bias_var[0] = 0.05;
        let layer = &contents.layers[0];
        let mut normal = Normal::new("uncertain weights");
        let drawn = moments(|| {
            let weights = (0..3).map(|i| normal.with(layer.weight[i], layer.weight_var[i]));
            let a = dot(&row, weights.collect::<Vec<_>>().into_iter());
            activate(activation, a + normal.with(0.0, 0.05))
        });
        agree(&format!("{activation:?} of normal weights"), predicted(&contents, &row, &[]), drawn, FIT);
        if activation != Activation::Relu {
            (contents.spec.weight_format, contents.spec.layout) = (WeightFormat::Int8, Layout::Fast);
            let found = predicted(&contents, &row, &[]);
            agree(&format!("{activation:?} of normal weights in integers"), found, drawn, FIT + TABLE);
        }
    }
}

/// A sum of dropped-out units is only nearly normal: fast dropout's approximation (Bayer et al. 2014, 2.1).
#[test]
fn dropped_inputs() {
    const INPUTS: usize = 60;
    let keep = 0.7_f32;
    let mut numbers = Numbers::new("dropped inputs");
    let (mut row, mut weights) = ([0.0_f32; INPUTS], [0.0_f32; INPUTS]);
    numbers.fill(&mut row, -1.5, 1.5);
    numbers.fill(&mut weights, -0.4, 0.4);
    for activation in TRANSFERS {
        let mut contents =
            one_unit(CellKind::Elman(activation), INPUTS as u16, UnitNoise::Dropout { keep }, false);
        contents.layers[0].weight[..INPUTS].copy_from_slice(&weights);
        let mut normal = Normal::new("masks");
        let drawn = moments(|| {
            let kept =
                row.iter().map(|x| if normal.uniform() < f64::from(keep) { f64::from(*x) } else { 0.0 });
            activate(activation, dot(&weights, kept))
        });
        agree(
            &format!("{activation:?} of dropped inputs"),
            predicted(&contents, &row, &[]),
            drawn,
            FIT + 0.01,
        );
    }
}

/// Each gate reads an input of its own, so that gates are independent as the products take them to be. The
/// cell is a product and not normal, which tanh is told it is: measured, that costs 4.5 % of the variance.
#[test]
fn lstm_gates() {
    let mut contents = one_unit(CellKind::Lstm, 4, UnitNoise::None, false);
    let columns = 5;
    for (gate, weight) in [1.2_f32, -0.7, 0.9, 0.6].into_iter().enumerate() {
        contents.layers[0].weight[gate * columns + gate] = weight;
    }
    let (mean, var) = ([0.5_f32, 0.2, 0.9, 0.4], [0.6_f32, 0.3, 0.4, 0.8]);
    let mut normal = Normal::new("gates");
    let drawn = moments(|| {
        let mut a = |gate: usize| {
            f64::from(contents.layers[0].weight[gate * columns + gate]) * normal.with(mean[gate], var[gate])
        };
        let (input, candidate, output) = (a(0), a(2), a(3));
        let cell = sigmoid(input) * candidate.tanh();
        sigmoid(output) * cell.tanh()
    });
    agree("LSTM unit", predicted(&contents, &mean, &var), drawn, 0.06);
}

/// Each row reads an input of its own, so that the gates and both parts of the candidate are independent, as
/// the moments take them to be; the state starts at zero, so that the second part is its bias. What tanh
/// reads is a product, which is not normal.
#[test]
fn gru_gates() {
    let mut contents = one_unit(CellKind::Gru, 3, UnitNoise::None, false);
    let columns = 4;
    for (gate, weight) in [1.2_f32, -0.7, 0.9].into_iter().enumerate() {
        contents.layers[0].weight[gate * columns + gate] = weight;
    }
    contents.layers[0].bias = vec![0.1, -0.4, 0.2, 0.8];
    let (mean, var) = ([0.5_f32, 0.2, 0.9], [0.6_f32, 0.3, 0.4]);
    let mut normal = Normal::new("gru gates");
    let drawn = moments(|| {
        let mut a = |gate: usize| {
            let weight = f64::from(contents.layers[0].weight[gate * columns + gate]);
            f64::from(contents.layers[0].bias[gate]) + weight * normal.with(mean[gate], var[gate])
        };
        let (reset, update, candidate) = (a(0), a(1), a(2));
        (1.0 - sigmoid(update)) * (candidate + sigmoid(reset) * 0.8).tanh()
    });
    agree("GRU unit", predicted(&contents, &mean, &var), drawn, FIT + 0.01);
}
