//! The golden cases: one small model and stream for each thing the runtime can do, each with f32 and int8 weights, and in
//! every packed layout that can hold it.
//!
//! `tests/golden/streams.txt` holds the fingerprint of each. The host and every emulated core must arrive at it.

use quaver::checkpoint::{
    CellKind, Contents, LayerSpec, Layout, Likelihood, ModelSpec, MomentForm, OutputMode, OutputSpec, Target,
    Transfer, UnitNoise, WeightFormat, write,
};

use crate::numbers::Numbers;
use crate::replay::{self, Task};
use crate::{Case, gait};

const ELMAN: CellKind = CellKind::Elman(Transfer::Tanh);
const LSTM: CellKind = CellKind::Lstm;
const DENSE: CellKind = CellKind::Dense(Transfer::Rectifier);

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
            layout: Layout::Plain,
            layers: layers.iter().map(layer).collect(),
            output: OutputSpec {
                mode: self.mode,
                noise,
                weight_variance: self.weight_variance,
                variance_scale: self.variance_scale,
            },
        }
    }
}

/// What a stream of rows contains beside ordinary values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows {
    Plain,
    /// Single values and long stretches are missing.
    Gaps,
    /// Zeros and ones.
    Binary,
    /// A single one among zeros.
    OneHot,
    /// Infinities, huge and subnormal values.
    Hostile,
}

struct Recipe {
    name: &'static str,
    layers: &'static [(CellKind, u16)],
    architecture: Architecture,
    rows: Rows,
}

fn recipes() -> Vec<Recipe> {
    let base = Architecture::default();
    let next = Architecture { outputs: 3, target: Target::Next, ..base };
    let change = Architecture { target: Target::Change, ..next };
    let correction = Architecture { target: Target::Correction, ..next };
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..base };
    let varied = Architecture { weight_variance: true, ..base };
    let paper = Architecture { form: MomentForm::Paper, ..base };
    let certain = Architecture { noise: [UnitNoise::None; 3], ..base };
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
    let plain = Architecture { mode: OutputMode::Plain, ..base };
    let means = Architecture { mode: OutputMode::Plain, ..certain };
    let binary_means = Architecture { likelihood: Likelihood::Bernoulli, ..means };
    let binary_next = Architecture { likelihood: Likelihood::Bernoulli, ..next };
    let scattered = |of: Architecture| Architecture { likelihood: Likelihood::Heteroscedastic, ..of };
    let classes = |of: Architecture| Architecture { likelihood: Likelihood::Categorical, ..of };
    // Fast adaptive weight noise: no noise on units, distributions for weights.
    let fawn = Architecture { noise: [UnitNoise::None; 3], ..varied };
    let recipe = |name, layers, architecture, rows| Recipe { name, layers, architecture, rows };
    vec![
        recipe("elman-tanh", &[(ELMAN, 7)], base, Rows::Plain),
        recipe("elman-sigmoid", &[(CellKind::Elman(Transfer::Sigmoid), 7)], base, Rows::Plain),
        // A group of sixteen units and one of one: what a host takes on in vectors, and what is left.
        recipe("elman-rectifier", &[(CellKind::Elman(Transfer::Rectifier), 17)], base, Rows::Plain),
        recipe("lstm", &[(LSTM, 5)], base, Rows::Plain),
        // As many columns as take a kernel of eight blocks of eight more than one turn.
        recipe("wide", &[(ELMAN, 62)], base, Rows::Plain),
        recipe("two-layers", &[(LSTM, 4), (ELMAN, 10)], base, Rows::Plain),
        recipe("certain", &[(ELMAN, 7)], certain, Rows::Plain),
        recipe("other-noise", &[(LSTM, 5)], noisy, Rows::Plain),
        recipe(
            "other-noise-alone",
            &[(ELMAN, 9)],
            Architecture { variance_scale: 1.0, ..noisy },
            Rows::Plain,
        ),
        recipe("noise-elsewhere", &[(ELMAN, 6)], elsewhere, Rows::Plain),
        recipe("weight-variance-elman", &[(ELMAN, 7)], varied, Rows::Plain),
        recipe("weight-variance-lstm", &[(LSTM, 5)], varied, Rows::Plain),
        recipe("plain-output", &[(ELMAN, 7)], plain, Rows::Plain),
        recipe("means-elman", &[(ELMAN, 7)], means, Rows::Gaps),
        recipe("means-lstm", &[(LSTM, 4), (LSTM, 4)], means, Rows::Plain),
        recipe("means-bernoulli", &[(ELMAN, 6)], binary_means, Rows::Plain),
        recipe(
            "means-dense",
            &[(CellKind::Dense(Transfer::Tanh), 7), (LSTM, 5)],
            classes(means),
            Rows::Plain,
        ),
        recipe("bernoulli", &[(LSTM, 5)], binary, Rows::Plain),
        recipe("bernoulli-next", &[(ELMAN, 7)], binary_next, Rows::Binary),
        recipe("paper-elman-tanh", &[(ELMAN, 7)], paper, Rows::Plain),
        recipe("paper-elman-sigmoid", &[(CellKind::Elman(Transfer::Sigmoid), 7)], paper, Rows::Plain),
        recipe("paper-lstm", &[(LSTM, 5)], paper, Rows::Plain),
        recipe("columns-with-gaps", &[(ELMAN, 7)], base, Rows::Gaps),
        recipe("next-with-gaps-elman", &[(ELMAN, 7)], next, Rows::Gaps),
        recipe("next-with-gaps-lstm", &[(LSTM, 5)], next, Rows::Gaps),
        recipe("dense-tanh", &[(CellKind::Dense(Transfer::Tanh), 7)], base, Rows::Plain),
        recipe("dense-sigmoid", &[(CellKind::Dense(Transfer::Sigmoid), 7)], base, Rows::Plain),
        recipe("dense-rectifier", &[(DENSE, 7)], base, Rows::Gaps),
        recipe("fawn-dense", &[(DENSE, 5), (DENSE, 4)], fawn, Rows::Plain),
        recipe("heteroscedastic", &[(ELMAN, 6)], scattered(base), Rows::Plain),
        recipe("heteroscedastic-next", &[(ELMAN, 6)], scattered(next), Rows::Gaps),
        recipe("categorical", &[(ELMAN, 6)], Architecture { outputs: 4, ..classes(base) }, Rows::Plain),
        recipe("categorical-next", &[(ELMAN, 6)], classes(next), Rows::OneHot),
        recipe(
            "paper-bernoulli",
            &[(ELMAN, 6)],
            Architecture { form: MomentForm::Paper, ..binary },
            Rows::Plain,
        ),
        recipe("change-with-gaps-elman", &[(ELMAN, 7)], change, Rows::Gaps),
        recipe("change-with-gaps-lstm", &[(LSTM, 5)], change, Rows::Gaps),
        recipe("hostile-changes", &[(ELMAN, 7)], change, Rows::Hostile),
        recipe("correction-with-gaps", &[(LSTM, 5)], correction, Rows::Gaps),
        recipe("hostile-rows", &[(CellKind::Elman(Transfer::Rectifier), 7)], next, Rows::Hostile),
    ]
}

/// Every golden case.
///
/// # Panics
/// If a recipe does not describe a valid model.
pub fn cases() -> Vec<Case> {
    let small = recipes().into_iter().flat_map(|recipe| STORAGES.map(|storage| small_case(&recipe, storage)));
    small.flatten().chain([gait::case()]).collect()
}

/// Ways to store weights, by name.
pub(crate) const STORAGES: [(&str, WeightFormat, Layout); 5] = [
    ("f32", WeightFormat::F32, Layout::Plain),
    ("int8", WeightFormat::Int8, Layout::Plain),
    ("small", WeightFormat::Int8, Layout::Small),
    ("fast", WeightFormat::Int8, Layout::Fast),
    ("mean", WeightFormat::Int8, Layout::Mean),
];

/// `None` if the model cannot be stored in this way: integer kernels do not know everything.
fn small_case(recipe: &Recipe, (suffix, format, layout): (&str, WeightFormat, Layout)) -> Option<Case> {
    // All get the same weights and the same stream.
    let mut numbers = Numbers::new(recipe.name);
    let mut contents = Contents::zeros(recipe.architecture.spec(recipe.layers, format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut numbers);
    let inputs = usize::from(recipe.architecture.inputs);
    let name = format!("{}-{suffix}", recipe.name);
    let model = match write(&contents) {
        Ok(model) => model,
        Err(_) if layout.is_packed() => return None,
        Err(error) => panic!("golden case {name}: {error}"),
    };
    Some(Case { name, model, inputs, stream: rows(recipe.rows, inputs, &mut numbers), task: Task::Follow })
}

/// Gives every number of a model a value of the size that training would give it.
pub fn randomise(contents: &mut Contents, numbers: &mut Numbers) {
    for affine in contents.layers.iter_mut().chain([&mut contents.output]) {
        let columns = affine.weight.len() / affine.bias.len();
        // Uniform in ±√(3/n) has variance 1/n: pre-activations of the size of the inputs.
        let reach = (3.0 / columns as f32).sqrt();
        numbers.fill(&mut affine.weight, -reach, reach);
        numbers.fill(&mut affine.bias, -0.3, 0.3);
        numbers.fill(&mut affine.weight_var, 0.0, 0.02);
        numbers.fill(&mut affine.bias_var, 0.0, 0.02);
    }
    for scaler in [&mut contents.input_scaler, &mut contents.output_scaler] {
        numbers.fill(&mut scaler.mean, -0.5, 0.5);
        numbers.fill(&mut scaler.std, 0.5, 2.0);
    }
    numbers.fill(&mut contents.noise_var, 0.01, 0.5);
    numbers.fill(&mut contents.calibration, 0.7, 1.5);
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
            Rows::Plain => ordinary,
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
    let words = replay::words(&case.model).unwrap_or_else(|error| complain(error));
    let [mut arena, mut futures] = words.map(|words| vec![0.0; words]);
    let rows = case.stream.chunks(case.inputs);
    let fingerprint = replay::replay(&case.model, case.task, rows, &mut arena, &mut futures)
        .unwrap_or_else(|error| complain(error));
    let steps = case.stream.len() / case.inputs;
    format!("{} steps={steps} hash={:016X}", case.name, fingerprint.value())
}
