//! Replaying a case: from a checkpoint and its rows to a fingerprint.

use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, Error, FeedMode, LatentModel, Model, Predictor, Rollouts, Sampler};

use crate::fingerprint::Fingerprint;
use crate::numbers::Numbers;

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// To take in every row.
    Follow,
    /// To go on by itself after the last row, and to take in one more.
    Sample,
    /// To show many futures after the last row.
    Rollouts,
}

/// Futures of a fan.
pub const FUTURES: usize = 5;
/// Steps by itself, of each kind.
const AHEAD: usize = 6;

/// Words of memory for a stream of this model, and for a fan of it.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn words(model: &[u8]) -> Result<[usize; 2], Error> {
    if Kind::of(model) == Some(Kind::Latent) {
        let model = LatentModel::load(model)?;
        return Ok([model.arena_words(), FUTURES * model.future_words()]);
    }
    Ok([Model::load(model)?.spec().arena_words(), 0])
}

/// Everything that a model says to some rows, as sixty-four bits.
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
    let mut fingerprint = Fingerprint::default();
    if Kind::of(model) == Some(Kind::Predictor) {
        let mut predictor = Predictor::load_in(model, arena)?;
        for row in rows {
            fingerprint.add(&predictor.step(row.as_ref()));
            // Any truth will do; only models that follow it take it in.
            predictor.observe(row.as_ref());
        }
        return Ok(fingerprint);
    }
    if LatentModel::load(model)?.spec().family == Family::Vosp {
        let mut denoiser = Denoiser::load_in(model, arena)?;
        rows.for_each(|row| fingerprint.add(&denoiser.step(row.as_ref())));
        return Ok(fingerprint);
    }
    let mut sampler = Sampler::load_in(model, arena)?;
    for row in rows {
        let prediction = sampler.observe(row.as_ref());
        if task == Task::Follow {
            fingerprint.add(&prediction);
        }
    }
    match task {
        Task::Follow => {}
        Task::Sample => sample(&mut sampler, &mut fingerprint),
        Task::Rollouts => fan(&mut Rollouts::new_in(&mut sampler, futures)?, &mut fingerprint),
    }
    Ok(fingerprint)
}

fn sample(sampler: &mut Sampler<'_, '_>, fingerprint: &mut Fingerprint) {
    let mut chance = Numbers::new("sample");
    for feedback in [FeedMode::Draw, FeedMode::Mean] {
        for _ in 0..AHEAD {
            fingerprint.add_words(sampler.sample(&mut chance, feedback).iter().copied());
        }
    }
    fingerprint.add(&sampler.observe(&[0.5, f32::NAN, -0.25]));
}

fn fan(fan: &mut Rollouts<'_, '_, '_, FUTURES>, fingerprint: &mut Fingerprint) {
    let mut chance = Numbers::new("fan");
    for _ in 0..AHEAD {
        fan.advance(&mut chance, FeedMode::Draw);
        for channel in 0..3 {
            let quantiles = [0.1, 0.5, 0.9].map(|q| fan.quantile(channel, q));
            let said = [fan.mean(channel), fan.std_dev(channel)].into_iter().chain(quantiles);
            fingerprint.add_words(said.map(|value| value.unwrap_or(f32::NAN)));
        }
    }
}
