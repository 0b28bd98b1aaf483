//! The runtime against a slow f64 network that integrates its moments, for every kind of model.

mod latent;
mod network;

use network::Network;
use quaver::checkpoint::{
    Activation, CellKind, Contents, Layout, Likelihood, MomentForm, OutputMode, Target, UnitNoise,
    WeightFormat, write,
};
use quaver::{Model, Output};
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;

const TANH: CellKind = CellKind::Elman(Activation::Tanh);
const SIGMOID: CellKind = CellKind::Elman(Activation::Sigmoid);
const RECTIFIER: CellKind = CellKind::Elman(Activation::Relu);
const STEPS: usize = 30;

/// Largest differences over a stream: of means in output standard deviations, of variances relative to the
/// total variance.
#[derive(Debug, Default)]
struct Gap {
    mean: f64,
    epistemic: f64,
    aleatoric: f64,
}

fn gap(
    architecture: Architecture,
    layers: &[(CellKind, u16)],
    (format, layout): (WeightFormat, Layout),
) -> Gap {
    let mut contents = Contents::zeros(architecture.spec(layers, format));
    contents.spec.layout = layout;
    let mut numbers = Numbers::new("reference");
    randomise(&mut contents, &mut numbers);
    let bytes = write(&contents).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    let mut network = Network::new(&contents);
    if architecture.target.is_next() {
        // The first row is predicted from the training mean.
        network.step(vec![(0.0, 0.0); architecture.inputs.into()]);
    }

    let mut gap = Gap::default();
    for _ in 0..STEPS {
        let mut row = vec![0.0; architecture.inputs.into()];
        let mut vars = row.clone();
        numbers.fill(&mut row, -2.0, 2.0);
        numbers.fill(&mut vars, 0.0, 0.5);
        let expected = network.step(standardised(&contents, &row, &vars));
        let prediction = model.step_uncertain(&mut state, &row, &vars);
        assert_eq!(prediction.iter().len(), expected.len());
        prediction.iter().zip(expected).for_each(|(output, expected)| gap.widen(output, expected));
    }
    gap
}

fn standardised(contents: &Contents, row: &[f32], vars: &[f32]) -> Vec<(f64, f64)> {
    let scaler = contents.input_scaler.mean.iter().zip(&contents.input_scaler.std_dev);
    let channel = |((value, var), (mean, std_dev)): ((&f32, &f32), (&f32, &f32))| {
        let std_dev = f64::from(*std_dev);
        ((f64::from(*value) - f64::from(*mean)) / std_dev, f64::from(*var) / std_dev / std_dev)
    };
    row.iter().zip(vars).zip(scaler).map(channel).collect()
}

impl Gap {
    fn widen(&mut self, found: Output, (mean, epistemic, aleatoric): (f64, f64, f64)) {
        let total = epistemic + aleatoric;
        let grow = |most: &mut f64, difference: f64| *most = most.max(difference.abs());
        grow(&mut self.mean, (f64::from(found.mean) - mean) / total.sqrt());
        grow(&mut self.epistemic, (f64::from(found.epistemic) - epistemic) / total);
        grow(&mut self.aleatoric, (f64::from(found.aleatoric) - aleatoric) / total);
    }

    fn assert_within(&self, tolerance: f64, what: &str) {
        println!("{what}: {self:?}, allowed {tolerance:e}");
        let Gap { mean, epistemic, aleatoric } = *self;
        assert!(mean <= tolerance && epistemic <= tolerance && aleatoric <= tolerance, "{what}: {self:?}");
    }
}

fn both_formats(architecture: Architecture, layers: &[(CellKind, u16)], tolerance: f64, what: &str) {
    for format in [WeightFormat::F32, WeightFormat::Int8] {
        gap(architecture, layers, (format, Layout::Float))
            .assert_within(tolerance, &format!("{what}, {format:?}"));
    }
}

/// The layouts that run in integers and carry variance.
fn quantized_layouts(architecture: Architecture, layers: &[(CellKind, u16)], tolerance: f64, what: &str) {
    for layout in [Layout::Small, Layout::Fast, Layout::Sparse] {
        gap(architecture, layers, (WeightFormat::Int8, layout))
            .assert_within(tolerance, &format!("{what}, {layout:?}"));
    }
}

/// One layer of each cell whose moments are approximated.
const SINGLE_LAYERS: [((CellKind, u16), &str); 4] = [
    ((TANH, 9), "tanh"),
    ((SIGMOID, 9), "sigmoid"),
    ((CellKind::Lstm, 6), "LSTM"),
    ((CellKind::Gru, 6), "GRU"),
];

/// Rounding in f32 over some thirty steps of nets that forget; nothing else differs.
const ROUNDING: f64 = 5e-6;

/// The fitted moments of sigmoid and tanh are within 5·10⁻⁴; a net of a few units with weights around ½ adds
/// some of them up.
const FITTED: f64 = 2e-3;

#[test]
fn relus_agree_to_rounding() {
    both_formats(Architecture::default(), &[(RECTIFIER, 9)], ROUNDING, "relu");
}

#[test]
fn the_printed_moments_agree_to_rounding() {
    let paper = Architecture { form: MomentForm::Paper, ..Architecture::default() };
    for (layer, name) in SINGLE_LAYERS {
        both_formats(paper, &[layer], ROUNDING, &format!("printed {name}"));
    }
    both_formats(paper, &[(CellKind::Lstm, 6), (TANH, 11), (SIGMOID, 5)], ROUNDING, "printed stack");
}

#[test]
fn the_accurate_moments_agree_with_integrals() {
    let accurate = Architecture::default();
    for (layer, name) in SINGLE_LAYERS {
        both_formats(accurate, &[layer], FITTED, name);
    }
    both_formats(accurate, &[(CellKind::Gru, 5), (CellKind::Gru, 12)], FITTED, "GRU stack");
    both_formats(accurate, &[(CellKind::Lstm, 5), (TANH, 12)], FITTED, "stack");
}

#[test]
fn weight_variances_noise_and_scales_take_part() {
    let base = Architecture { form: MomentForm::Paper, ..Architecture::default() };
    let varied = Architecture { weight_variance: true, ..base };
    both_formats(varied, &[(TANH, 9)], ROUNDING, "weight variance");
    both_formats(varied, &[(CellKind::Lstm, 6)], ROUNDING, "weight variance, LSTM");
    both_formats(varied, &[(CellKind::Gru, 6)], ROUNDING, "weight variance, GRU");
    let noise = [
        UnitNoise::Multiplicative { var: 0.3 },
        UnitNoise::Additive { var: 0.1 },
        UnitNoise::Multiplicative { var: 0.2 },
    ];
    both_formats(Architecture { noise, variance_scale: 1.4, ..base }, &[(TANH, 9)], ROUNDING, "other noise");
}

#[test]
fn outputs_of_every_kind_agree() {
    let base = Architecture { form: MomentForm::Paper, ..Architecture::default() };
    let mean_only = Architecture { mode: OutputMode::MeanOnly, ..base };
    both_formats(mean_only, &[(TANH, 9)], ROUNDING, "mean-only output");
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..base };
    both_formats(binary, &[(TANH, 9)], ROUNDING, "Bernoulli output");
    let pairs = Architecture { likelihood: Likelihood::Heteroscedastic, ..base };
    both_formats(pairs, &[(TANH, 9)], ROUNDING, "heteroscedastic output");
    let classes = Architecture { likelihood: Likelihood::Categorical, outputs: 5, ..base };
    both_formats(classes, &[(TANH, 9)], ROUNDING, "categorical output");
}

/// A network that outputs residuals, in every layout.
fn residuals_agree(target: Target, what: &str) {
    let base = Architecture { outputs: 3, target, ..Architecture::default() };
    let paper = Architecture { form: MomentForm::Paper, ..base };
    both_formats(paper, &[(TANH, 9)], ROUNDING, what);
    let pairs = Architecture { likelihood: Likelihood::Heteroscedastic, ..paper };
    both_formats(pairs, &[(CellKind::Lstm, 6)], ROUNDING, &format!("{what}, heteroscedastic"));
    quantized_layouts(base, &[(TANH, 9)], INTEGER, what);
}

#[test]
fn changes_are_added_to_the_last_row() {
    residuals_agree(Target::ResidualNext, "change");
}

#[test]
fn corrections_are_added_to_the_row_itself() {
    residuals_agree(Target::ResidualSame, "correction");
}

#[test]
fn layers_without_recurrence_agree() {
    let paper = Architecture { form: MomentForm::Paper, ..Architecture::default() };
    let dense = CellKind::Dense;
    both_formats(paper, &[(dense(Activation::Tanh), 9)], ROUNDING, "dense");
    let stack = [(dense(Activation::Relu), 6), (CellKind::Lstm, 5), (dense(Activation::Sigmoid), 7)];
    both_formats(Architecture { weight_variance: true, ..paper }, &stack, ROUNDING, "dense and recurrent");
}

#[test]
fn a_wide_net_agrees_as_well() {
    let wide = Architecture { inputs: 19, outputs: 5, form: MomentForm::Paper, ..Architecture::default() };
    both_formats(wide, &[(CellKind::Lstm, 33)], ROUNDING, "wide LSTM");
    both_formats(wide, &[(CellKind::Gru, 33)], ROUNDING, "wide GRU");
}

/// Activations of ten to twelve bits, squares in seven, and moments by table.
const INTEGER: f64 = 4e-3;

#[test]
fn integer_kernels_agree_with_integrals() {
    let base = Architecture::default();
    for (layer, name) in SINGLE_LAYERS {
        quantized_layouts(base, &[layer], INTEGER, name);
    }
    quantized_layouts(base, &[(CellKind::Gru, 9), (CellKind::Gru, 12)], INTEGER, "GRU stack");
    quantized_layouts(base, &[(CellKind::Lstm, 5), (TANH, 12)], INTEGER, "stack");
    let wide = Architecture { inputs: 19, outputs: 5, ..base };
    quantized_layouts(wide, &[(CellKind::Lstm, 33)], INTEGER, "wide LSTM");
    quantized_layouts(wide, &[(CellKind::Gru, 33)], INTEGER, "wide GRU");
    let noise = [
        UnitNoise::Multiplicative { var: 0.3 },
        UnitNoise::Additive { var: 0.1 },
        UnitNoise::Multiplicative { var: 0.2 },
    ];
    quantized_layouts(Architecture { noise, ..base }, &[(TANH, 9)], INTEGER, "other noise");
    let quiet = Architecture { noise: [UnitNoise::None; 3], ..base };
    quantized_layouts(quiet, &[(CellKind::Lstm, 6)], INTEGER, "no noise but the inputs'");
    let mean_only = Architecture { mode: OutputMode::MeanOnly, ..base };
    quantized_layouts(mean_only, &[(TANH, 9)], INTEGER, "mean-only output");
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..base };
    quantized_layouts(binary, &[(TANH, 9)], INTEGER, "Bernoulli output");
}

/// μ² + τ and τ in seven bits each, next to what [`INTEGER`] allows for.
const INTEGER_WEIGHT_VARIANCE: f64 = 4e-3;

#[test]
fn weight_variances_in_integers_agree_with_integrals() {
    let varied = Architecture { weight_variance: true, ..Architecture::default() };
    let fast = |architecture: Architecture, layers: &[(CellKind, u16)], what: &str| {
        gap(architecture, layers, (WeightFormat::Int8, Layout::Fast))
            .assert_within(INTEGER_WEIGHT_VARIANCE, &format!("weight variance, {what}"));
    };
    // Fast adaptive weight noise: what variance there is comes from the inputs and the weights.
    let fawn = Architecture { noise: [UnitNoise::None; 3], ..varied };
    for (layer, name) in SINGLE_LAYERS {
        fast(varied, &[layer], name);
        fast(fawn, &[layer], &format!("no noise on units, {name}"));
    }
    let dense = (CellKind::Dense(Activation::Tanh), 9);
    fast(fawn, &[dense, (CellKind::Gru, 9), (CellKind::Lstm, 12)], "stack");
    let wide = Architecture { inputs: 19, outputs: 5, ..fawn };
    fast(wide, &[(CellKind::Lstm, 33)], "wide LSTM");
    fast(wide, &[(CellKind::Gru, 33)], "wide GRU");
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..fawn };
    fast(binary, &[(TANH, 9)], "Bernoulli output");
}
