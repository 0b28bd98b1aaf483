//! The trainer against the runtime: the same weights, the same sequences, the same moments.
//!
//! The two sum in different orders (wide products over a batch here, rows of one sample there) and call the
//! same moment functions, so they differ by rounding alone: a few units in the last place of f32 per step, in
//! nets that forget.

use quaver::checkpoint::{
    Activation, CellKind, Extensions, LayerSpec, Layout, Likelihood, ModelSpec, MomentForm, OutputMode,
    OutputSpec, Target, UnitNoise, WeightFormat, write,
};
use quaver_tests::numbers::Numbers;
use quaver_trainer::data::{Rows, Scaling, Sequence};
use quaver_trainer::evaluate::scores;
use quaver_trainer::export::contents;
use quaver_trainer::nn::{Parameters, TrainingMethod, WeightNoise, WeightPosterior};
use quaver_trainer::prediction::{SequencePrediction, predict_by_network, predict_by_runtime};

/// Difference allowed, in predicted standard deviations for means and relative to the total for variances.
const TOLERANCE: f32 = 5e-6;

/// The same where an implicit variance leaves no noise for rounding to hide in.
const IMPLICIT_TOLERANCE: f32 = 2e-5;

/// int8 may shift a mean by this many predicted standard deviations, in nets whose weights are as random as
/// here.
const INT8_TOLERANCE: f32 = 0.1;

fn spec(cells: &[(CellKind, u16)], target: Target, likelihood: Likelihood) -> ModelSpec {
    let layer = |&(cell, units): &(CellKind, u16)| LayerSpec {
        cell,
        units,
        input_noise: UnitNoise::Dropout { keep: 0.9 },
        recurrent_noise: UnitNoise::Dropout { keep: 0.8 },
        weight_variance: false,
        variance_scale: 1.0,
    };
    ModelSpec {
        inputs: 3,
        outputs: if target == Target::Columns { 2 } else { 3 },
        target,
        likelihood,
        moment_form: MomentForm::Accurate,
        weight_format: WeightFormat::F32,
        layout: Layout::Float,
        layers: cells.iter().map(layer).collect(),
        extensions: Extensions::default(),
        output: OutputSpec {
            mode: OutputMode::Propagating,
            noise: UnitNoise::Dropout { keep: 0.85 },
            weight_variance: false,
            variance_scale: 1.0,
        },
    }
}

fn random_parameters(spec: &ModelSpec, method: TrainingMethod, numbers: &mut Numbers) -> Parameters {
    let mut parameters = Parameters::zeros_for(spec, method);
    for tensor in &mut parameters.tensors {
        // Standard deviations of the weights of a tenth or two, of the size that training ends with.
        let (low, high) = if tensor.name.contains("_log_var") { (-5.0, -3.5) } else { (-0.6, 0.6) };
        numbers.fill(&mut tensor.values, low, high);
    }
    parameters
}

/// Sequences of different lengths, so that batches are padded. Values are raw, far from standardised.
fn sequences(spec: &ModelSpec, numbers: &mut Numbers, gaps: bool) -> Vec<Sequence> {
    let binary = matches!(spec.likelihood, Likelihood::Bernoulli | Likelihood::Categorical);
    let mut rows = |steps: usize, channels: u16, gaps: bool, binary: bool| {
        let value = |_| match (gaps && numbers.once_in(6), binary) {
            (true, _) => f32::NAN,
            (false, true) => f32::from(u8::from(numbers.once_in(3))),
            (false, false) => numbers.between(20.0, 60.0),
        };
        Rows { channels: channels.into(), values: (0..steps * usize::from(channels)).map(value).collect() }
    };
    let sequence = |steps: usize| match spec.target {
        Target::Next | Target::ResidualNext => Sequence::next(rows(steps, spec.inputs, gaps, binary)),
        Target::Columns | Target::ResidualSame => {
            Sequence::columns(rows(steps, spec.inputs, gaps, false), rows(steps, spec.outputs, false, binary))
        }
    };
    [40, 7, 23].into_iter().map(sequence).collect()
}

/// Largest difference of two forecasts: means in standard deviations, variances relative to the total.
fn gap(a: &[SequencePrediction], b: &[SequencePrediction]) -> f32 {
    assert_eq!(a.len(), b.len());
    let mut most = 0.0_f32;
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.mean.values.len(), b.mean.values.len());
        for step in 0..a.mean.len() {
            for output in 0..a.mean.channels {
                let total = a.variance(step, output);
                let mean = (a.mean.row(step)[output] - b.mean.row(step)[output]) / total.sqrt();
                let epistemic = (a.epistemic.row(step)[output] - b.epistemic.row(step)[output]) / total;
                let aleatoric = (a.aleatoric.row(step)[output] - b.aleatoric.row(step)[output]) / total;
                most = [mean, epistemic, aleatoric].into_iter().fold(most, |most, d| most.max(d.abs()));
            }
        }
    }
    most
}

fn check(spec: &ModelSpec, gaps: bool) {
    check_method(spec, TrainingMethod::default(), gaps);
}

fn check_method(spec: &ModelSpec, method: TrainingMethod, gaps: bool) {
    let mut numbers = Numbers::new("parity");
    let parameters = random_parameters(spec, method, &mut numbers);
    let sequences = sequences(spec, &mut numbers, gaps);
    let scaling = Scaling::fit(&sequences);
    let by_trainer = predict_by_network(spec, &parameters, &scaling, &sequences);
    let by_runtime = |format| {
        let bytes = write(&contents(spec, format, &parameters, &scaling, &[], &[])).expect("a valid model");
        predict_by_runtime(&bytes, &sequences).expect("a valid checkpoint")
    };
    let what = format!("{:?} {:?} {:?}, gaps {gaps}", spec.layers[0].cell, spec.target, spec.likelihood);
    let (f32, int8) = (by_runtime(WeightFormat::F32), by_runtime(WeightFormat::Int8));
    let (f32_gap, int8_gap) = (gap(&by_trainer, &f32), gap(&f32, &int8));
    println!("{what}: trainer to runtime {f32_gap:.2e}, f32 to int8 {int8_gap:.2e}");
    let tolerance = if method.implicit_variance { IMPLICIT_TOLERANCE } else { TOLERANCE };
    assert!(f32_gap <= tolerance, "{what}: {f32_gap}");
    assert!(int8_gap > 0.0 && int8_gap <= INT8_TOLERANCE, "{what}: {int8_gap}");

    let names: Vec<String> = (0..spec.outputs).map(|index| index.to_string()).collect();
    let nll = |forecasts: &[SequencePrediction]| scores(spec.likelihood, &names, &sequences, forecasts).nll;
    let (trainer_nll, runtime_nll) = (nll(&by_trainer), nll(&f32));
    assert!(
        (trainer_nll - runtime_nll).abs() <= 1e-4 * trainer_nll.abs(),
        "{what}: {trainer_nll} {runtime_nll}"
    );
}

const CELLS: [CellKind; 5] = [
    CellKind::Elman(Activation::Tanh),
    CellKind::Elman(Activation::Sigmoid),
    CellKind::Elman(Activation::Relu),
    CellKind::Lstm,
    CellKind::Gru,
];

/// Checks a layer of each cell.
fn check_cells(target: Target, likelihoods: &[Likelihood], gaps: bool) {
    for cell in CELLS {
        for likelihood in likelihoods {
            check(&spec(&[(cell, 9)], target, *likelihood), gaps);
        }
    }
}

#[test]
fn models_of_changes_agree() {
    check_cells(Target::ResidualNext, &[Likelihood::Gaussian, Likelihood::Heteroscedastic], false);
}

#[test]
fn models_of_corrections_agree() {
    check_cells(Target::ResidualSame, &[Likelihood::Gaussian, Likelihood::Heteroscedastic], false);
}

#[test]
fn every_cell_agrees() {
    check_cells(Target::Columns, &[Likelihood::Gaussian], false);
}

#[test]
fn missing_inputs_agree() {
    check_cells(Target::Columns, &[Likelihood::Gaussian], true);
}

#[test]
fn models_of_the_next_input_agree() {
    check_cells(Target::Next, &[Likelihood::Gaussian, Likelihood::Bernoulli], false);
}

#[test]
fn stacks_printed_moments_and_plain_outputs_agree() {
    let stack = [(CellKind::Lstm, 8), (CellKind::Elman(Activation::Tanh), 11), (CellKind::Gru, 5)];
    check(&spec(&stack, Target::Columns, Likelihood::Gaussian), false);
    let mut paper = spec(&stack, Target::Columns, Likelihood::Bernoulli);
    paper.moment_form = MomentForm::Paper;
    check(&paper, true);
    let mut mean_only = spec(&stack, Target::Columns, Likelihood::Gaussian);
    mean_only.output.mode = OutputMode::MeanOnly;
    check(&mean_only, false);
}

#[test]
fn other_noise_and_scaled_variances_agree() {
    for cell in [CellKind::Lstm, CellKind::Gru] {
        let mut noisy = spec(&[(cell, 7)], Target::Columns, Likelihood::Gaussian);
        noisy.layers[0].input_noise = UnitNoise::Multiplicative { var: 0.2 };
        noisy.layers[0].recurrent_noise = UnitNoise::Additive { var: 0.1 };
        noisy.output.noise = UnitNoise::Multiplicative { var: 0.3 };
        noisy.layers[0].variance_scale = 1.5;
        noisy.output.variance_scale = 0.7;
        check(&noisy, false);
    }
}

#[test]
fn uncertain_weights_agree() {
    let none = TrainingMethod::default();
    let methods = [
        TrainingMethod { posterior: WeightPosterior::Ropd, ..none },
        TrainingMethod { weight_noise: WeightNoise::Gaussian { var: 0.02 }, ..none },
        TrainingMethod { weight_noise: WeightNoise::DropConnect { keep: 0.8 }, ..none },
        TrainingMethod {
            weight_noise: WeightNoise::DropConnect { keep: 0.9 },
            posterior: WeightPosterior::Vb,
            ..none
        },
    ];
    for method in methods {
        for cell in CELLS {
            let mut spec = spec(&[(cell, 9), (cell, 6)], Target::Columns, Likelihood::Gaussian);
            spec.layers.iter_mut().for_each(|layer| layer.weight_variance = true);
            spec.output.weight_variance = true;
            check_method(&spec, method, false);
        }
    }
}

#[test]
fn learned_noise_scales_and_implicit_variances_agree() {
    let method = TrainingMethod {
        scale_min: Some(0.2),
        learned_keep: true,
        implicit_variance: true,
        ..TrainingMethod::default()
    };
    for cell in CELLS {
        check_method(&spec(&[(cell, 9), (cell, 6)], Target::Next, Likelihood::Gaussian), method, false);
    }
}

#[test]
fn layers_without_recurrence_agree() {
    let dense = CellKind::Dense;
    let stack = [(dense(Activation::Tanh), 8), (CellKind::Lstm, 5), (dense(Activation::Relu), 7)];
    check(&spec(&stack, Target::Columns, Likelihood::Gaussian), true);
    check(&spec(&[(dense(Activation::Sigmoid), 8)], Target::Next, Likelihood::Bernoulli), false);
}

#[test]
fn other_likelihoods_agree() {
    for likelihood in [Likelihood::Heteroscedastic, Likelihood::Categorical] {
        for cell in CELLS {
            check(&spec(&[(cell, 9)], Target::Columns, likelihood), true);
            check(&spec(&[(cell, 9)], Target::Next, likelihood), false);
        }
    }
}
