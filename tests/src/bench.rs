//! Models of typical sizes, to count what a step costs.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, ClassifierSpec, Contents, DensitySpec, Extensions, Forecast,
    Imputation, LatentSpec, Layout, LinearSpec, OutputMode, PoolOver, Pooling, ReducerContents, ReducerSpec,
    Target, TrackingSpec, UnitNoise, WeightFormat, write, write_reducer,
};

use crate::Case;
use crate::golden::{Architecture, STORAGES, randomise};
use crate::latent::LatentArchitecture;
use crate::numbers::Numbers;
use crate::pruning::prune;
use crate::reducer;
use crate::replay::Task;

/// Rows in a benchmark's stream: enough to average over what depends on the data.
const ROWS: usize = 16;

/// Rollouts that are measured.
pub const ROLLOUTS: usize = 8;

/// In the name of a model that adapts: it is given no labels.
pub const UNLABELLED: &str = "unlabelled";

/// At the end of the name of a reducer whose classification is measured.
pub const CLASSIFY: &str = "classify";
/// Components of a reducer's embedding, classes and prototypes.
const DIMENSIONS: u16 = 16;
const CLASSES: u16 = 8;
const PROTOTYPES: u16 = 64;

/// In the name of a model whose weights have variances.
const WEIGHT_VARIANCE: &str = "weight_variance";

/// The model called `CELL-INPUTS-UNITS-WEIGHTS`, for example `lstm-16-64-fast`, with a stream to run it on.
///
/// WEIGHTS is `f32` or `int8` in the layout `float`, or `small`, `fast`, `mean` or `sparse`: int8 in that
/// layout. `sparse` has lost 80 % of its blocks, `sparse50` half of them. The model reads sensors and
/// estimates one other quantity, with fast dropout on every connection; `mean` has neither noise nor
/// variance. With a further word, `next`, it predicts its own next input instead: the most that a step can be
/// asked. With `deterministic` it has neither noise nor variance, as `mean` always has. With
/// `weight_variance` every weight has a variance, and no unit has noise, as after training with adaptive
/// weight noise. With `adapt` it learns from a label after each row, and with `adapt-unlabelled` it could,
/// but is given none; a last word `diagonal` chooses a diagonal covariance. With `density` as the last word
/// it has an input density, with `following` moreover error bars that follow the truth and detection of
/// faults, with `ranges` plausible ranges of its inputs, which its rows stay in, and with `linear8` a linear
/// part of the last eight rows. With `outputs16` it has 16 outputs. With `reduce`, `reduce-sum`, `reduce-max`
/// or `reduce-stochastic` these are pooled over time instead, with `reduce-classify` the embedding is
/// compared with 64 prototypes of 8 classes.
///
/// CELL may also be a latent model: `vosp`, a denoiser with an LSTM that recognises and a dense layer that
/// generates, or `storn`, a sampler with two LSTMs; INPUTS are its channels, UNITS those of each layer, and
/// it has half as many latents as channels. `vosp-tanh` recognises with tanh units. With a further word,
/// `sample` or `rollouts`, a sampler continues by itself, or advances [`ROLLOUTS`] futures, instead of
/// following rows; with `draws4` the forecast of either family is the average over four draws.
pub fn case(name: &str) -> Option<Case> {
    if let Some(case) = latent_case(name) {
        return Some(case);
    }
    if let Some((network, pooling)) = name.split_once("-reduce") {
        return reducer_case(name, network, pooling);
    }
    let contents = contents(name)?;
    let inputs = usize::from(contents.spec.inputs);
    let (model, stream) = (write(&contents).ok()?, noise(inputs, ROWS));
    let task = match name.split_once("-adapt") {
        None => Task::Follow,
        Some((_, kind)) if kind.ends_with("-diagonal") => Task::AdaptDiagonal,
        Some(_) => Task::Adapt,
    };
    Some(Case { name: name.into(), model, inputs, stream, task })
}

/// What is in the model of [`case`], if it is not a latent one.
pub fn contents(name: &str) -> Option<Contents> {
    let mut words = name.split('-');
    let mut next = || words.next();
    let cell = match next()? {
        "elman" => CellKind::Elman(Activation::Tanh),
        "lstm" => CellKind::Lstm,
        "gru" => CellKind::Gru,
        _ => return None,
    };
    let inputs: u16 = next()?.parse().ok()?;
    let units = next()?.parse().ok()?;
    let (format, layout) = match next()? {
        "f32" => (WeightFormat::F32, Layout::Float),
        "int8" => (WeightFormat::Int8, Layout::Float),
        "small" => (WeightFormat::Int8, Layout::Small),
        "fast" => (WeightFormat::Int8, Layout::Fast),
        "mean" => (WeightFormat::Int8, Layout::Mean),
        storage if pruned(storage).is_some() => (WeightFormat::Int8, Layout::Sparse),
        _ => return None,
    };
    let (outputs, target, deterministic) = match next() {
        None => (1, Target::Columns, false),
        Some("next") => (inputs, Target::Next, false),
        Some("outputs16") => (DIMENSIONS, Target::Columns, false),
        Some("deterministic") => (1, Target::Columns, true),
        Some("adapt" | "density" | "following" | "ranges" | WEIGHT_VARIANCE) => (1, Target::Columns, false),
        Some(word) if linear_rows(word).is_some() => (1, Target::Columns, false),
        Some(_) => return None,
    };
    let architecture = Architecture { inputs, outputs, target, ..Architecture::default() };
    let without = Architecture { noise: [UnitNoise::None; 3], mode: OutputMode::MeanOnly, ..architecture };
    let architecture = if deterministic || layout == Layout::Mean { without } else { architecture };
    let architecture = if name.ends_with(WEIGHT_VARIANCE) {
        Architecture { noise: [UnitNoise::None; 3], weight_variance: true, ..architecture }
    } else {
        architecture
    };
    let architecture = Architecture { extensions: extensions(name, target), ..architecture };
    let mut contents = Contents::zeros(architecture.spec(&[(cell, units)], format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new(&seed(name)));
    // Rows are plausible, as nearly all are.
    contents.input_range.iter_mut().for_each(|limit| *limit *= 1e6);
    if let Some(share) = name.split('-').nth(3).and_then(pruned) {
        prune(&mut contents, share, &mut Numbers::new("pruned"));
    }
    Some(contents)
}

/// Share of blocks that are removed where weights are stored as `sparse`, or `sparse50` for another
/// percentage.
fn pruned(storage: &str) -> Option<f64> {
    match storage.strip_prefix("sparse")? {
        "" => Some(0.8),
        percent => percent.parse::<u8>().ok().map(|percent| f64::from(percent.min(100)) / 100.0),
    }
}

/// Rows of the linear part that a word asks for, such as `linear8`.
fn linear_rows(word: &str) -> Option<u16> {
    word.strip_prefix("linear")?.parse().ok()
}

/// What the last word of a name adds to a network.
fn extensions(name: &str, target: Target) -> Extensions {
    let imputation = match target.is_next() {
        true => Imputation::Combined { decay: 0.03, inflation: 1.1 },
        false => Imputation::Conditional,
    };
    let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.0 });
    let anomaly = Some(AnomalySpec { window: 32 });
    let (none, tracking) = (Extensions::default(), Some(TrackingSpec::default()));
    match name.rsplit('-').next() {
        Some("density") => Extensions { density, ..none },
        Some("following") => Extensions { density, tracking, anomaly, ..none },
        Some("ranges") => Extensions { ranges: true, ..none },
        Some(word) => Extensions { linear: linear_rows(word).map(|rows| LinearSpec { rows }), ..none },
        None => none,
    }
}

/// Seed of a model's weights: the name under which it was first measured, so that figures stay comparable.
fn seed(name: &str) -> String {
    name.replace("-deterministic", "-certain").replace("-rollouts", "-fan")
}

/// A reducer of a network by its name.
fn reducer_case(name: &str, network: &str, pooling: &str) -> Option<Case> {
    let pooling = match pooling {
        "" | "-classify" => Pooling::Mean,
        "-sum" => Pooling::Sum,
        "-max" => Pooling::Max,
        "-stochastic" => Pooling::Stochastic,
        _ => return None,
    };
    let network = contents(&format!("{network}-outputs16"))?;
    let inputs = usize::from(network.spec.inputs);
    let spec = ReducerSpec {
        classes: CLASSES,
        classifier: ClassifierSpec::Nearest { prototypes: PROTOTYPES, beta: 1.0, neighbours: 0 },
        threshold: Some(10.0),
        ..ReducerSpec::new(pooling, PoolOver::Outputs)
    };
    let mut contents = ReducerContents::new(spec, network);
    reducer::fill(&mut contents, &mut Numbers::new("prototypes"));
    let (model, stream) = (write_reducer(&contents).ok()?, noise(inputs, ROWS));
    Some(Case { name: name.into(), model, inputs, stream, task: Task::Reduce })
}

/// Draws of each look ahead that a word asks for, such as `draws4`.
fn draw_count(word: &str) -> Option<u16> {
    word.strip_prefix("draws")?.parse().ok()
}

/// A latent model by its name.
fn latent_case(name: &str) -> Option<Case> {
    let mut words: Vec<&str> = name.split('-').collect();
    let recognition = if words.starts_with(&["vosp", "tanh"]) {
        words.remove(1);
        CellKind::Elman(Activation::Tanh)
    } else {
        CellKind::Lstm
    };
    let (family, channels, units, storage, task) = match words[..] {
        [family, channels, units, storage] => (family, channels, units, storage, Task::Follow),
        ["storn", channels, units, storage, "sample"] => ("storn", channels, units, storage, Task::Sample),
        ["storn", channels, units, storage, "rollouts"] => {
            ("storn", channels, units, storage, Task::Rollouts)
        }
        [family, channels, units, storage, draws] if draw_count(draws).is_some() => {
            (family, channels, units, storage, Task::Follow)
        }
        _ => return None,
    };
    let forecast = words.get(4).and_then(|word| draw_count(word)).map(|count| Forecast::Draws { count });
    let (channels, units): (u16, u16) = (channels.parse().ok()?, units.parse().ok()?);
    let (_, format, layout) = STORAGES.into_iter().find(|(suffix, ..)| *suffix == storage)?;
    let (architecture, cell) = match family {
        "vosp" => (LatentArchitecture::vosp(), CellKind::Dense(Activation::Tanh)),
        "storn" => (LatentArchitecture::storn(), CellKind::Lstm),
        _ => return None,
    };
    let architecture = LatentArchitecture {
        spec: LatentSpec {
            latents: channels.div_ceil(2),
            forecast: forecast.unwrap_or(architecture.spec.forecast),
            ..architecture.spec
        },
        channels,
        recognition: &[(recognition, units)],
        generative: &[(cell, units)],
        ..architecture
    };
    let inputs = usize::from(channels);
    let model = architecture.networks(&seed(name), format, layout).write().ok()?;
    Some(Case { name: name.into(), model, inputs, stream: noise(inputs, ROWS), task })
}

/// Rows of noise, for a model whose own data are not at hand.
pub fn noise(inputs: usize, rows: usize) -> Vec<f32> {
    let mut stream = vec![0.0; inputs * rows];
    Numbers::new("noise").fill(&mut stream, -2.0, 2.0);
    stream
}
