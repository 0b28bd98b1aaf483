//! The golden cases: one small model and stream for each thing the runtime can do, each with f32 and int8
//! weights, and in every quantized layout that can hold it.
//!
//! `tests/golden/streams.txt` holds the fingerprint of each: that of the host and of every emulated core.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, Contents, DensitySpec, Extensions, Imputation, LayerSpec, Layout,
    Likelihood, ModelSpec, MomentForm, OutputMode, OutputSpec, Target, TrackingSpec, UnitNoise, WeightFormat,
    write,
};
use quaver::conformal::LEVELS;

use crate::numbers::Numbers;
use crate::replay::{self, Task};
use crate::{Case, gait, golden_linear, golden_ranges};

const ELMAN: CellKind = CellKind::Elman(Activation::Tanh);
const LSTM: CellKind = CellKind::Lstm;
const GRU: CellKind = CellKind::Gru;
const DENSE: CellKind = CellKind::Dense(Activation::Relu);
const SMOOTH: CellKind = CellKind::Dense(Activation::Tanh);

/// Rows in each stream.
const ROWS: usize = 40;

/// The choices of a model that are the same for all its layers.
#[derive(Clone, Copy, Debug)]
pub struct Architecture {
    /// Channels per input row.
    pub inputs: u16,
    /// Values per output row.
    pub outputs: u16,
    /// What the outputs stand for.
    pub target: Target,
    /// How outputs and observations relate.
    pub likelihood: Likelihood,
    /// Which approximation of the moments is used.
    pub form: MomentForm,
    /// Noise on input, recurrent and output connections.
    pub noise: [UnitNoise; 3],
    /// Whether weights have variances.
    pub weight_variance: bool,
    /// Whether the output carries variance.
    pub mode: OutputMode,
    /// Factor on variances.
    pub variance_scale: f32,
    /// Optional parts beyond the network.
    pub extensions: Extensions,
}

impl Default for Architecture {
    /// Three channels to two, with fast dropout, so that there is variance to propagate.
    fn default() -> Self {
        Architecture {
            inputs: 3,
            outputs: 2,
            target: Target::Columns,
            likelihood: Likelihood::Gaussian,
            form: MomentForm::Accurate,
            noise: [0.9, 0.75, 0.8].map(|keep| UnitNoise::Dropout { keep }),
            weight_variance: false,
            mode: OutputMode::Propagating,
            variance_scale: 1.0,
            extensions: Extensions::default(),
        }
    }
}

impl Architecture {
    /// The description of a model with these layers: cell and units, input side first.
    pub fn spec(self, layers: &[(CellKind, u16)], weight_format: WeightFormat) -> ModelSpec {
        let [input_noise, recurrent_noise, noise] = self.noise;
        let layer = |&(cell, units): &(CellKind, u16)| LayerSpec {
            cell,
            units,
            input_noise,
            recurrent_noise,
            weight_variance: self.weight_variance,
            variance_scale: self.variance_scale,
        };
        ModelSpec {
            inputs: self.inputs,
            outputs: self.outputs,
            target: self.target,
            likelihood: self.likelihood,
            moment_form: self.form,
            weight_format,
            layout: Layout::Float,
            layers: layers.iter().map(layer).collect(),
            extensions: self.extensions,
            output: OutputSpec {
                mode: self.mode,
                noise,
                weight_variance: self.weight_variance,
                variance_scale: self.variance_scale,
            },
        }
    }
}

/// What a stream of rows contains besides ordinary values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows {
    Ordinary,
    /// Single values and long stretches are missing.
    Gaps,
    /// Zeros and ones.
    Binary,
    /// A single one among zeros.
    OneHot,
    /// Infinities, huge and subnormal values.
    Hostile,
}

pub(crate) struct CaseSpec {
    pub(crate) name: &'static str,
    pub(crate) layers: &'static [(CellKind, u16)],
    pub(crate) architecture: Architecture,
    pub(crate) rows: Rows,
}

fn case_specs() -> Vec<CaseSpec> {
    let base = Architecture::default();
    let next = Architecture { outputs: 3, target: Target::Next, ..base };
    let residual_next = Architecture { target: Target::ResidualNext, ..next };
    let residual_same = Architecture { target: Target::ResidualSame, ..next };
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..base };
    let varied = Architecture { weight_variance: true, ..base };
    let varying = |of: Architecture| Architecture { weight_variance: true, ..of };
    let paper = Architecture { form: MomentForm::Paper, ..base };
    let deterministic = Architecture { noise: [UnitNoise::None; 3], ..base };
    let noisy = Architecture {
        noise: [
            UnitNoise::Multiplicative { var: 0.2 },
            UnitNoise::Additive { var: 0.05 },
            UnitNoise::Multiplicative { var: 0.1 },
        ],
        variance_scale: 1.25,
        ..base
    };
    let elsewhere = Architecture {
        noise: [
            UnitNoise::Additive { var: 0.1 },
            UnitNoise::Multiplicative { var: 0.3 },
            UnitNoise::Additive { var: 0.02 },
        ],
        ..base
    };
    let mean_only = Architecture { mode: OutputMode::MeanOnly, ..base };
    let means = Architecture { mode: OutputMode::MeanOnly, ..deterministic };
    let binary_means = Architecture { likelihood: Likelihood::Bernoulli, ..means };
    let binary_next = Architecture { likelihood: Likelihood::Bernoulli, ..next };
    let scattered = |of: Architecture| Architecture { likelihood: Likelihood::Heteroscedastic, ..of };
    let classes = |of: Architecture| Architecture { likelihood: Likelihood::Categorical, ..of };
    // Fast adaptive weight noise: no noise on units, distributions for weights.
    let fawn = Architecture { noise: [UnitNoise::None; 3], ..varied };
    let conditional = |of: Architecture| Architecture { extensions: density(Imputation::Conditional), ..of };
    let combined = |of: Architecture| Architecture {
        extensions: density(Imputation::Combined { decay: 0.03, inflation: 1.1 }),
        ..of
    };
    let last_estimate = Architecture {
        extensions: density(Imputation::LastEstimate { decay: 0.03, inflation: 1.1, share: 0.75 }),
        ..Architecture { outputs: 3, ..base }
    };
    let following = |of: Architecture| {
        let tracking = Some(TrackingSpec { rate: 0.2, miss_rate: 0.2, bound: 2.0 });
        let anomaly = Some(AnomalySpec { window: 8 });
        Architecture { extensions: Extensions { tracking, quantiles: true, anomaly, ..of.extensions }, ..of }
    };
    let case_spec = |name, layers, architecture, rows| CaseSpec { name, layers, architecture, rows };
    vec![
        case_spec("elman-tanh", &[(ELMAN, 7)], base, Rows::Ordinary),
        case_spec("elman-sigmoid", &[(CellKind::Elman(Activation::Sigmoid), 7)], base, Rows::Ordinary),
        // A group of sixteen units and one of one: what a host takes on in vectors, and what is left.
        case_spec("elman-relu", &[(CellKind::Elman(Activation::Relu), 17)], base, Rows::Ordinary),
        case_spec("lstm", &[(LSTM, 5)], base, Rows::Ordinary),
        // As many columns as take a kernel of eight blocks of eight more than one turn.
        case_spec("wide", &[(ELMAN, 62)], base, Rows::Ordinary),
        case_spec("two-layers", &[(LSTM, 4), (ELMAN, 10)], base, Rows::Ordinary),
        case_spec("deterministic", &[(ELMAN, 7)], deterministic, Rows::Ordinary),
        case_spec("other-noise", &[(LSTM, 5)], noisy, Rows::Ordinary),
        case_spec(
            "other-noise-alone",
            &[(ELMAN, 9)],
            Architecture { variance_scale: 1.0, ..noisy },
            Rows::Ordinary,
        ),
        case_spec("noise-elsewhere", &[(ELMAN, 6)], elsewhere, Rows::Ordinary),
        case_spec("weight-variance-elman", &[(ELMAN, 7)], varied, Rows::Ordinary),
        case_spec("weight-variance-lstm", &[(LSTM, 5)], varied, Rows::Ordinary),
        case_spec("mean-only", &[(ELMAN, 7)], mean_only, Rows::Ordinary),
        case_spec("means-elman", &[(ELMAN, 7)], means, Rows::Gaps),
        case_spec("means-lstm", &[(LSTM, 4), (LSTM, 4)], means, Rows::Ordinary),
        case_spec("means-bernoulli", &[(ELMAN, 6)], binary_means, Rows::Ordinary),
        case_spec(
            "means-dense",
            &[(CellKind::Dense(Activation::Tanh), 7), (LSTM, 5)],
            classes(means),
            Rows::Ordinary,
        ),
        case_spec("bernoulli", &[(LSTM, 5)], binary, Rows::Ordinary),
        case_spec("bernoulli-next", &[(ELMAN, 7)], binary_next, Rows::Binary),
        case_spec("paper-elman-tanh", &[(ELMAN, 7)], paper, Rows::Ordinary),
        case_spec("paper-elman-sigmoid", &[(CellKind::Elman(Activation::Sigmoid), 7)], paper, Rows::Ordinary),
        case_spec("paper-lstm", &[(LSTM, 5)], paper, Rows::Ordinary),
        case_spec("columns-with-gaps", &[(ELMAN, 7)], base, Rows::Gaps),
        case_spec("next-with-gaps-elman", &[(ELMAN, 7)], next, Rows::Gaps),
        case_spec("next-with-gaps-lstm", &[(LSTM, 5)], next, Rows::Gaps),
        case_spec("dense-tanh", &[(CellKind::Dense(Activation::Tanh), 7)], base, Rows::Ordinary),
        case_spec("dense-sigmoid", &[(CellKind::Dense(Activation::Sigmoid), 7)], base, Rows::Ordinary),
        case_spec("dense-relu", &[(DENSE, 7)], base, Rows::Gaps),
        case_spec("fawn-dense", &[(DENSE, 5), (DENSE, 4)], fawn, Rows::Ordinary),
        case_spec("heteroscedastic", &[(ELMAN, 6)], scattered(base), Rows::Ordinary),
        case_spec("heteroscedastic-next", &[(ELMAN, 6)], scattered(next), Rows::Gaps),
        case_spec("categorical", &[(ELMAN, 6)], Architecture { outputs: 4, ..classes(base) }, Rows::Ordinary),
        case_spec("categorical-next", &[(ELMAN, 6)], classes(next), Rows::OneHot),
        case_spec(
            "text",
            &[(LSTM, 9)],
            Architecture { inputs: 11, outputs: 11, ..classes(next) },
            Rows::OneHot,
        ),
        case_spec(
            "paper-bernoulli",
            &[(ELMAN, 6)],
            Architecture { form: MomentForm::Paper, ..binary },
            Rows::Ordinary,
        ),
        case_spec("residual-next-with-gaps-elman", &[(ELMAN, 7)], residual_next, Rows::Gaps),
        case_spec("residual-next-with-gaps-lstm", &[(LSTM, 5)], residual_next, Rows::Gaps),
        case_spec("hostile-residuals", &[(ELMAN, 7)], residual_next, Rows::Hostile),
        case_spec("residual-same-with-gaps", &[(LSTM, 5)], residual_same, Rows::Gaps),
        case_spec("hostile-rows", &[(CellKind::Elman(Activation::Relu), 7)], next, Rows::Hostile),
        // Seven units: four that a kernel takes, three that are left, and padding in the columns of input and
        // state.
        case_spec("gru", &[(GRU, 7)], base, Rows::Ordinary),
        // A group of sixteen units for vectors, and more than one turn of a kernel of eight blocks.
        case_spec("gru-wide", &[(GRU, 69)], base, Rows::Ordinary),
        case_spec("gru-two-layers", &[(GRU, 9), (GRU, 4)], base, Rows::Ordinary),
        case_spec("gru-deterministic", &[(GRU, 20)], deterministic, Rows::Ordinary),
        case_spec("gru-other-noise", &[(GRU, 5)], noisy, Rows::Ordinary),
        case_spec(
            "gru-noise-alone",
            &[(GRU, 8)],
            Architecture { variance_scale: 1.0, ..noisy },
            Rows::Ordinary,
        ),
        case_spec("gru-weight-variance", &[(GRU, 5)], varied, Rows::Ordinary),
        case_spec("gru-means", &[(GRU, 6), (GRU, 4)], means, Rows::Gaps),
        case_spec("gru-bernoulli-next", &[(GRU, 5)], binary_next, Rows::Binary),
        case_spec("gru-paper", &[(GRU, 5)], paper, Rows::Ordinary),
        case_spec("gru-next-with-gaps", &[(GRU, 5)], next, Rows::Gaps),
        case_spec("gru-hostile-residuals", &[(GRU, 8)], residual_next, Rows::Hostile),
        case_spec("density", &[(LSTM, 5)], conditional(base), Rows::Gaps),
        case_spec("density-next", &[(ELMAN, 6)], combined(next), Rows::Gaps),
        case_spec("density-residual-next", &[(GRU, 5)], combined(residual_next), Rows::Gaps),
        case_spec("density-residual-same", &[(ELMAN, 6)], conditional(residual_same), Rows::Gaps),
        case_spec("density-hostile", &[(LSTM, 5)], combined(residual_next), Rows::Hostile),
        case_spec("following", &[(LSTM, 5)], following(scattered(base)), Rows::Gaps),
        case_spec("density-last-estimate", &[(LSTM, 5)], last_estimate, Rows::Gaps),
        case_spec("density-last-estimate-hostile", &[(ELMAN, 6)], scattered(last_estimate), Rows::Hostile),
        case_spec("following-next", &[(ELMAN, 6)], following(next), Rows::Gaps),
        case_spec("following-density", &[(GRU, 5)], following(combined(residual_next)), Rows::Gaps),
        case_spec("following-hostile", &[(LSTM, 5)], following(conditional(next)), Rows::Hostile),
        // Without noise the first step has no variance but that of weights; more columns than one turn of a
        // kernel.
        case_spec("weight-variance-wide", &[(SMOOTH, 66), (LSTM, 3)], fawn, Rows::Ordinary),
        case_spec("weight-variance-gru-wide", &[(SMOOTH, 66), (GRU, 5)], varied, Rows::Gaps),
        case_spec(
            "weight-variance-stack",
            &[(CellKind::Elman(Activation::Sigmoid), 6), (GRU, 8), (ELMAN, 5), (LSTM, 4)],
            Architecture { likelihood: Likelihood::Bernoulli, ..fawn },
            Rows::Gaps,
        ),
        case_spec("weight-variance-next", &[(LSTM, 5)], varying(scattered(next)), Rows::Gaps),
        case_spec("weight-variance-hostile", &[(ELMAN, 9)], varying(residual_next), Rows::Hostile),
    ]
}

/// An input density whose rows are sometimes unfamiliar.
fn density(imputation: Imputation) -> Extensions {
    let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.5 });
    Extensions { density, ..Extensions::default() }
}

/// Every golden case.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> Vec<Case> {
    let small = case_specs()
        .into_iter()
        .flat_map(|case_spec| STORAGES.map(|storage| small_case(&case_spec, storage)));
    let extended = golden_ranges::cases().chain(golden_linear::cases());
    small.flatten().chain([gait::case()]).chain(extended).collect()
}

/// Ways to store weights, by name.
pub(crate) type Storage = (&'static str, WeightFormat, Layout);
pub(crate) const STORAGES: [Storage; 5] = [
    ("f32", WeightFormat::F32, Layout::Float),
    ("int8", WeightFormat::Int8, Layout::Float),
    ("small", WeightFormat::Int8, Layout::Small),
    ("fast", WeightFormat::Int8, Layout::Fast),
    ("mean", WeightFormat::Int8, Layout::Mean),
];

/// Seed of a case's weights and rows: the name under which its fingerprint was first recorded, so that
/// renaming a case keeps its bits.
pub(crate) fn seed(name: &str) -> &str {
    match name {
        "elman-relu" => "elman-rectifier",
        "dense-relu" => "dense-rectifier",
        "deterministic" => "certain",
        "gru-deterministic" => "gru-certain",
        "mean-only" => "plain-output",
        "residual-next-with-gaps-elman" => "change-with-gaps-elman",
        "residual-next-with-gaps-lstm" => "change-with-gaps-lstm",
        "hostile-residuals" => "hostile-changes",
        "gru-hostile-residuals" => "gru-hostile-changes",
        "residual-same-with-gaps" => "correction-with-gaps",
        "sampler-residuals" => "sampler-changes",
        "sampler-residuals-draws" => "sampler-changes-draws",
        unchanged => unchanged,
    }
}

/// `None` if the model cannot be stored in this way: the quantized backend does not run everything.
pub(crate) fn small_case(case_spec: &CaseSpec, (suffix, format, layout): Storage) -> Option<Case> {
    // All get the same weights and the same stream.
    let mut numbers = Numbers::new(seed(case_spec.name));
    let mut contents = Contents::zeros(case_spec.architecture.spec(case_spec.layers, format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut numbers);
    let inputs = usize::from(case_spec.architecture.inputs);
    let name = format!("{}-{suffix}", case_spec.name);
    let model = match write(&contents) {
        Ok(model) => model,
        Err(_) if layout.is_quantized() => return None,
        Err(error) => panic!("golden case {name}: {error}"),
    };
    Some(Case { name, model, inputs, stream: rows(case_spec.rows, inputs, &mut numbers), task: Task::Follow })
}

/// Gives every number of a model a value of the size that training would give it.
pub fn randomise(contents: &mut Contents, numbers: &mut Numbers) {
    for affine in contents.layers.iter_mut().chain([&mut contents.output]) {
        let columns = (affine.weight.len() / affine.bias.len()).max(1);
        // Uniform in ±√(3/n) has variance 1/n: pre-activations of the size of the inputs.
        let reach = (3.0 / columns as f32).sqrt();
        numbers.fill(&mut affine.weight, -reach, reach);
        numbers.fill(&mut affine.bias, -0.3, 0.3);
        numbers.fill(&mut affine.weight_var, 0.0, 0.02);
        numbers.fill(&mut affine.bias_var, 0.0, 0.02);
    }
    for scaler in [&mut contents.input_scaler, &mut contents.output_scaler] {
        numbers.fill(&mut scaler.mean, -0.5, 0.5);
        numbers.fill(&mut scaler.std_dev, 0.5, 2.0);
    }
    numbers.fill(&mut contents.noise_var, 0.01, 0.5);
    numbers.fill(&mut contents.calibration, 0.7, 1.5);
    randomise_density(contents, numbers);
    for quantiles in contents.quantiles.chunks_mut(LEVELS.len()) {
        numbers.fill(quantiles, 0.5, 2.5);
        quantiles.sort_by(f32::total_cmp);
    }
    numbers.fill(&mut contents.anomaly_row, 0.2, 2.0);
    numbers.fill(&mut contents.anomaly_channels, 0.2, 2.0);
    golden_ranges::randomise(contents, numbers);
    golden_linear::randomise(contents, numbers);
}

/// Positive definite, because diagonals exceed the sums of their rows; ranges that readings sometimes leave.
fn randomise_density(contents: &mut Contents, numbers: &mut Numbers) {
    let channels = contents.input_low.len();
    let reach = 0.9 / channels.max(1) as f32;
    numbers.fill(&mut contents.input_precision, -reach, reach);
    let diagonal = |channel: usize| channel * (channel + 1) / 2 + channel;
    (0..channels).for_each(|channel| contents.input_precision[diagonal(channel)] = 1.25);
    numbers.fill(&mut contents.input_low, -2.0, -1.0);
    numbers.fill(&mut contents.input_high, 1.0, 2.0);
}

/// A stream of rows.
pub(crate) fn rows(kind: Rows, inputs: usize, numbers: &mut Numbers) -> Vec<f32> {
    const HOSTILE: [f32; 6] =
        [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e20, f32::MIN_POSITIVE / 8.0, -0.0];
    let mut hostile = HOSTILE.iter().cycle().copied();
    let value = |index: usize| {
        let ordinary = numbers.between(-2.0, 2.0);
        let exception = numbers.once_in(5);
        let in_long_gap = index % inputs == 1 && (20..30).contains(&(index / inputs));
        match kind {
            Rows::Ordinary => ordinary,
            Rows::Gaps if exception || in_long_gap => f32::NAN,
            Rows::Hostile if exception => hostile.next().unwrap_or(ordinary),
            Rows::Gaps | Rows::Hostile => ordinary,
            Rows::Binary => f32::from(u8::from(ordinary > 0.8)),
            Rows::OneHot => f32::from(u8::from(index % inputs == (index / inputs * 7 / 3) % inputs)),
        }
    };
    (0..inputs * ROWS).map(value).collect()
}

/// Runs a case on this machine; the line that a golden file holds for it.
///
/// # Panics
/// If the model does not load.
pub fn replay(case: &Case) -> String {
    let complain = |error| -> ! { panic!("golden case {}: {error}", case.name) };
    let words = replay::words(&case.model, case.task).unwrap_or_else(|error| complain(error));
    let [mut arena, mut futures] = words.map(|words| vec![0.0; words]);
    let rows = case.stream.chunks(case.inputs);
    let replayed = match case.task.adaptation() {
        Some(options) => replay::replay_adaptive(&case.model, options, rows, &mut arena),
        None if case.task == Task::Text => replay::replay_text(&case.model, rows, &mut arena),
        None if case.task == Task::Reduce => {
            replay::replay_reducer(&case.model, rows, &mut arena, &mut futures)
        }
        None => replay::replay(&case.model, case.task, rows, &mut arena, &mut futures),
    };
    let fingerprint = replayed.unwrap_or_else(|error| complain(error));
    let steps = case.stream.len() / case.inputs;
    format!("{} steps={steps} hash={:016X}", case.name, fingerprint.value())
}
