//! The models that are soaked, and the clean rows that they read.

use quaver::checkpoint::{CellKind, Contents, Layout, WeightFormat, write};
use quaver::{LatentModel, Model};

use crate::golden::{Architecture, randomise};
use crate::numbers::Numbers;
use crate::{Case, golden, golden_latent};

/// Rows after which a clean stream repeats itself: a prime, so that it is in step with nothing else.
pub const PERIOD: usize = 509;
/// Bias of the forget gates of `lstm-long`: σ(5) = 0.993, a memory of some 150 rows.
const LONG_MEMORY: f32 = 5.0;

/// Golden cases, by the names of their models: each in every layout that can hold it.
const GOLDEN: [&str; 16] = [
    "elman-tanh",
    "elman-relu",
    "lstm",
    "gru",
    "two-layers",
    "weight-variance-lstm",
    "bernoulli",
    "residual-next-with-gaps-lstm",
    "heteroscedastic-next",
    "density-residual-next",
    "density-last-estimate",
    "following-next",
    "means-elman",
    "means-lstm",
    "gru-means",
    "gait",
];
const GOLDEN_LATENT: [&str; 6] = [
    "denoiser-follow",
    "denoiser-fitted-follow",
    "sampler-follow",
    "sampler-residuals-follow",
    "leg-denoiser",
    "leg-sampler",
];
/// Storages of golden cases that share a layout with another one.
const SAME_LAYOUT: &str = "-int8";
const LAYOUTS: [(&str, WeightFormat, Layout); 3] = [
    ("f32", WeightFormat::F32, Layout::Float),
    ("small", WeightFormat::Int8, Layout::Small),
    ("fast", WeightFormat::Int8, Layout::Fast),
];

/// Every model that is soaked.
pub fn cases() -> Vec<Case> {
    let chosen = |cases: Vec<Case>, names: &'static [&str]| {
        cases.into_iter().filter(|case| names.iter().any(|name| is_stored(&case.name, name)))
    };
    chosen(golden::cases(), &GOLDEN)
        .chain(LAYOUTS.map(long_memory))
        .chain(chosen(golden_latent::cases(), &GOLDEN_LATENT))
        .collect()
}

/// Whether a case is the model of this name, in one of its layouts.
fn is_stored(case: &str, name: &str) -> bool {
    let storage = case.strip_prefix(name);
    storage.is_some_and(|storage| {
        storage.is_empty()
            || storage != SAME_LAYOUT && golden::STORAGES.iter().any(|(suffix, ..)| storage[1..] == **suffix)
    })
}

/// An LSTM that forgets slowly, as trained ones do. Its gates and candidates read the inputs alone: with
/// random weights from its own units as well, cells of such a memory have several states in which they hold
/// each other, and garbage moves them from one to another for good (`docs/explanation/promises.md`).
fn long_memory((suffix, format, layout): (&str, WeightFormat, Layout)) -> Case {
    let architecture = Architecture::default();
    let mut contents = Contents::zeros(architecture.spec(&[(CellKind::Lstm, 6)], format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("lstm-long"));
    let inputs = usize::from(architecture.inputs);
    let columns = contents.layers[0].weight.len() / contents.layers[0].bias.len();
    contents.layers[0].weight.chunks_mut(columns).for_each(|row| row[inputs..].fill(0.0));
    // Input, forget, candidate and output gate of one unit after the other.
    contents.layers[0].bias.iter_mut().skip(1).step_by(4).for_each(|bias| *bias = LONG_MEMORY);
    let model = write(&contents).unwrap_or_else(|error| panic!("lstm-long-{suffix}: {error}"));
    let task = crate::replay::Task::Follow;
    Case { name: format!("lstm-long-{suffix}"), model, inputs, stream: Vec::new(), task }
}

/// One period of clean rows: in each channel a slow triangle with noise, in the range of the golden streams.
pub fn clean_rows(case: &Case) -> Vec<f32> {
    let mut numbers = Numbers::new(&format!("soak {}", case.name));
    let value = |index: usize| {
        let (row, channel) = (index / case.inputs, index % case.inputs);
        let phase = (row * (channel + 1)) % PERIOD;
        let triangle = 4.0 * (phase as f32 / PERIOD as f32 - 0.5).abs() - 1.0;
        triangle + numbers.between(-1.0, 1.0)
    };
    (0..PERIOD * case.inputs).map(value).collect()
}

/// Whether a model keeps a record of its misses on purpose: factors on its variances follow them at a set
/// rate, so that garbage and the order of rows change the width of its error bars for long. Its means must
/// find back all the same.
pub fn remembers_misses(case: &Case) -> bool {
    case.name.starts_with("following")
}

/// Model and layout of a case: its name without the storage, and the layout in its checkpoint.
///
/// # Panics
/// If the model does not load.
pub fn model_and_layout(case: &Case) -> (&str, &'static str) {
    let stored = |suffix: &str| case.name.strip_suffix(suffix)?.strip_suffix('-');
    let model = golden::STORAGES.iter().find_map(|(suffix, ..)| stored(suffix));
    let layout = match LatentModel::load(&case.model) {
        Ok(latent) => latent.recognition().spec().layout,
        Err(_) => Model::load(&case.model).expect("golden models load").spec().layout,
    };
    let layout = match layout {
        Layout::Float => "float",
        Layout::Small => "small",
        Layout::Fast => "fast",
        Layout::Mean => "mean",
        Layout::Sparse => "sparse",
    };
    (model.unwrap_or(&case.name), layout)
}
