//! Replaying a case: from a checkpoint and its rows to a fingerprint.

use quaver::checkpoint::{ClassifierSpec, Family, Kind};
use quaver::{
    AdaptOptions, AdaptivePredictor, Covariance, Denoiser, Error, FeedMode, Known, KnownLatent, LatentModel,
    Model, Predictor, Reducer, ReducerModel, Rollouts, Sampler,
};

use crate::fingerprint::Fingerprint;
use crate::numbers::Numbers;

/// What a model does with its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Read every row.
    Follow,
    /// Sample after the last row, then read one more.
    Sample,
    /// Rollouts after the last row.
    Rollouts,
    /// To learn from every row as the label of the prediction before it, and to take it in.
    Adapt,
    /// The same with a diagonal covariance.
    AdaptDiagonal,
    /// To read the row's channel that is 1 as a token, and to draw tokens after the last row.
    Text,
    /// To reduce the rows to a point and its class after every one, to be taught two examples of a new class
    /// where that is possible, and to begin a second sequence in the middle.
    Reduce,
}

impl Task {
    /// How a model is to learn, if that is its task: fast, so that few rows show it.
    pub fn adaptation(self) -> Option<AdaptOptions> {
        let options = |covariance| AdaptOptions {
            covariance,
            forgetting: 0.95,
            correlation: 4.0,
            ..Default::default()
        };
        match self {
            Task::Adapt => Some(options(Covariance::Full)),
            Task::AdaptDiagonal => Some(options(Covariance::Diagonal)),
            Task::Follow | Task::Sample | Task::Rollouts | Task::Text | Task::Reduce => None,
        }
    }
}

/// Futures of a rollouts.
pub const FUTURES: usize = 5;
/// Steps by itself, of each kind.
const AHEAD: usize = 6;
/// Prototypes that are taught, and after which rows.
const TAUGHT: usize = 2;
const LESSONS: [usize; TAUGHT] = [8, 14];
/// Rows before a second sequence begins.
const SECOND: usize = 25;

/// Words of memory for a stream of this model, and for its rollouts or what it is taught.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn words(model: &[u8], task: Task) -> Result<[usize; 2], Error> {
    if let Some(options) = task.adaptation() {
        return Ok([AdaptivePredictor::arena_words(&Model::load(model)?, &options), 0]);
    }
    if Kind::of(model) == Some(Kind::Latent) {
        let model = LatentModel::load(model)?;
        return Ok([model.arena_words(), FUTURES * model.future_words()]);
    }
    if Kind::of(model) == Some(Kind::Reducer) {
        let model = ReducerModel::load(model)?;
        return Ok([model.arena_words(), model.classes() + 1 + TAUGHT * (model.dimensions() + 1)]);
    }
    Ok([Model::load(model)?.spec().arena_words(), 0])
}

/// Fingerprint of all predictions of a model that does not learn, for some rows.
///
/// # Errors
/// If the model does not load or there is too little memory.
pub fn replay(
    model: &[u8],
    task: Task,
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
    futures: &mut [f32],
) -> Result<Fingerprint, Error> {
    if Kind::of(model) == Some(Kind::Predictor) {
        return Ok(replay_known(Predictor::load_in(model, arena)?, rows));
    }
    match family(model)? {
        Family::Vosp => loaded_denoiser(model, rows, arena),
        Family::Storn => loaded_sampler(model, task, rows, arena, futures),
    }
}

// A latent model takes more than a kilobyte of stack: the smallest core has no room for several at once.

#[inline(never)]
fn family(model: &[u8]) -> Result<Family, Error> {
    LatentModel::load(model).map(|model| model.spec().family)
}

#[inline(never)]
fn loaded_denoiser(
    model: &[u8],
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut denoiser = Denoiser::load_in(model, arena)?;
    Ok(replay_denoiser(&mut denoiser, rows))
}

#[inline(never)]
fn loaded_sampler(
    model: &[u8],
    task: Task,
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
    futures: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut sampler = Sampler::load_in(model, arena)?;
    replay_sampler(&mut sampler, task, rows, futures)
}

/// Fingerprint of all estimates of a denoiser for some rows, whether it was loaded or is known while
/// compiling.
#[inline(never)]
pub fn replay_denoiser<K: KnownLatent>(
    denoiser: &mut Denoiser<'_, '_, K>,
    rows: impl Iterator<Item: AsRef<[f32]>>,
) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    rows.for_each(|row| fingerprint.add(&denoiser.step(row.as_ref())));
    fingerprint
}

/// Fingerprint of all predictions of a sampler for some rows, or of what it samples after them, whether it
/// was loaded or is known while compiling.
///
/// # Errors
/// If there is too little memory for futures.
#[inline(never)]
pub fn replay_sampler<K: KnownLatent>(
    sampler: &mut Sampler<'_, '_, K>,
    task: Task,
    rows: impl Iterator<Item: AsRef<[f32]>>,
    futures: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut fingerprint = Fingerprint::default();
    for row in rows {
        let prediction = sampler.observe(row.as_ref());
        if task == Task::Follow {
            fingerprint.add(&prediction);
        }
    }
    match task {
        Task::Follow | Task::Adapt | Task::AdaptDiagonal | Task::Text | Task::Reduce => {}
        Task::Sample => sample(sampler, &mut fingerprint),
        Task::Rollouts => rollouts(&mut Rollouts::new_in(sampler, futures)?, &mut fingerprint),
    }
    Ok(fingerprint)
}

/// Fingerprint of all predictions of one network for some rows, whether it was loaded or is known while
/// compiling.
pub fn replay_known<K: Known>(
    mut predictor: Predictor<'_, '_, K>,
    rows: impl Iterator<Item: AsRef<[f32]>>,
) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    for row in rows {
        fingerprint.add(&predictor.step(row.as_ref()));
        // Any truth will do; only models that follow it take it in.
        predictor.observe(row.as_ref());
    }
    fingerprint
}

/// Everything that a model says to some rows while it learns from each as the label of the prediction before
/// it, as sixty-four bits. A function of its own, because the smallest core has no room for all code at once.
///
/// # Errors
/// If the model does not load, cannot learn, or there is too little memory.
pub fn replay_adaptive(
    model: &[u8],
    options: AdaptOptions,
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut fingerprint = Fingerprint::default();
    let mut predictor = AdaptivePredictor::load_in(model, arena, options)?;
    for row in rows {
        predictor.learn(row.as_ref());
        fingerprint.add(&predictor.step(row.as_ref()));
    }
    Ok(fingerprint)
}

/// Fingerprint of all predictions of a model of text: for some one-hot rows, read as tokens, a token that is
/// not in the vocabulary, and tokens drawn at several temperatures, each of which is read.
///
/// # Errors
/// If the model does not load or there is too little memory.
pub fn replay_text(
    model: &[u8],
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut fingerprint = Fingerprint::default();
    let mut predictor = Predictor::load_in(model, arena)?;
    let token = |row: &[f32]| row.iter().position(|value| *value == 1.0).unwrap_or(usize::MAX);
    for row in rows {
        fingerprint.add(&predictor.step_token(token(row.as_ref())));
    }
    fingerprint.add(&predictor.step_token(usize::MAX));
    let mut chance = Numbers::new("text");
    for temperature in [1.0, 0.7, 2.5, 0.0] {
        for _ in 0..AHEAD {
            let token = predictor.prediction().draw_class_at(temperature, &mut chance);
            fingerprint.add(&predictor.step_token(token));
        }
    }
    Ok(fingerprint)
}

/// Fingerprint of all embeddings and classifications of a reducer for some rows.
///
/// # Errors
/// If the model does not load or there is too little memory.
pub fn replay_reducer(
    model: &[u8],
    rows: impl Iterator<Item: AsRef<[f32]>>,
    arena: &mut [f32],
    taught: &mut [f32],
) -> Result<Fingerprint, Error> {
    let mut fingerprint = Fingerprint::default();
    let mut reducer = Reducer::load_in(model, arena)?;
    if matches!(reducer.model().spec().classifier, ClassifierSpec::Nearest { .. }) {
        reducer = reducer.teach_in(taught, 1)?;
    }
    let new_class = reducer.model().classes();
    for (index, row) in rows.enumerate() {
        if index == SECOND {
            reducer.begin();
        }
        reducer.step(row.as_ref());
        if LESSONS.contains(&index) {
            reducer.teach(new_class);
        }
        if let Some(embedding) = reducer.embedding() {
            fingerprint.add_words(embedding.mean.iter().chain(embedding.var).copied());
        }
        if let Some(class) = reducer.classify() {
            let known = if class.known { 1.0 } else { 0.0 };
            let scores = [class.class as f32, class.novelty, known].into_iter().chain(class.distance);
            fingerprint.add_words(scores.chain(class.probabilities.iter().copied()));
        }
    }
    Ok(fingerprint)
}

fn sample(sampler: &mut Sampler<'_, '_, impl KnownLatent>, fingerprint: &mut Fingerprint) {
    let mut chance = Numbers::new("sample");
    for feed_mode in [FeedMode::Draw, FeedMode::Mean] {
        for _ in 0..AHEAD {
            fingerprint.add_words(sampler.sample(&mut chance, feed_mode).iter().copied());
        }
    }
    fingerprint.add(&sampler.observe(&[0.5, f32::NAN, -0.25]));
}

fn rollouts<K: KnownLatent>(rollouts: &mut Rollouts<'_, '_, '_, FUTURES, K>, fingerprint: &mut Fingerprint) {
    let mut chance = Numbers::new("fan");
    for _ in 0..AHEAD {
        rollouts.advance(&mut chance, FeedMode::Draw);
        for channel in 0..3 {
            let quantiles = [0.1, 0.5, 0.9].map(|q| rollouts.quantile(channel, q));
            let statistics = [rollouts.mean(channel), rollouts.std_dev(channel)].into_iter().chain(quantiles);
            fingerprint.add_words(statistics.map(|value| value.unwrap_or(f32::NAN)));
        }
    }
}
