//! What an accepted file of a latent model has to stand.

use quaver::checkpoint::Family;
use quaver::{Denoiser, FeedMode, LatentModel, Rollouts, Sampler};

use super::dice::Dice;
use super::latent_spec::Latent;
use super::rows::{bits, check, garbage, masked, refused, row, same, same_as_missing, same_state, vars};
use super::trial::Outcome;

/// Rows before a stream is saved, and after it is restored.
const ROWS: [usize; 2] = [4, 2];
/// Futures of the rollouts.
const FUTURES: usize = 3;

/// Loads a file of a latent model and, if it is accepted, steps it.
///
/// # Errors
/// Says which promise was broken.
pub fn run(bytes: &[u8], dice: &mut Dice) -> Result<Outcome, String> {
    let Ok(model) = LatentModel::load(bytes) else { return Ok(Outcome::Refused) };
    let written = Latent::decode(bytes).map(|latent| latent.encode());
    if written.as_deref() != Some(bytes) {
        return Err("what was read is written as other bytes".into());
    }
    match model.spec().family {
        Family::Vosp => denoise(bytes, &model, dice)?,
        Family::Storn => sample(bytes, &model, dice)?,
    }
    Ok(Outcome::Stepped(1 + ROWS.iter().sum::<usize>() as u64))
}

fn denoise(bytes: &[u8], model: &LatentModel<'_>, dice: &mut Dice) -> Result<(), String> {
    let [mut words, mut other] = [garbage(model.arena_words()), garbage(model.arena_words())];
    let mut denoiser = Denoiser::load_in(bytes, &mut words).map_err(|error| error.to_string())?;
    check(&denoiser.prediction())?;
    for _ in 0..ROWS[0] {
        let (row, vars) = (row(model.channels(), dice), vars(model.channels(), dice));
        check(&denoiser.step_uncertain(&row, &vars)).map_err(|error| format!("{error} after {row:?}"))?;
        if dice.once_in(2) {
            check(&denoiser.expected())?;
        }
    }
    let [mut saved, mut again] = [garbage(model.saved_words()), garbage(model.saved_words())];
    denoiser.check_state().map_err(|error| format!("check_state: {error}"))?;
    denoiser.save(&mut saved).map_err(|error| format!("save: {error}"))?;
    let mut restored = Denoiser::load_in(bytes, &mut other).map_err(|error| error.to_string())?;
    restored.restore(&saved).map_err(|error| refused(error, &saved))?;
    restored.save(&mut again).map_err(|error| format!("save again: {error}"))?;
    same_state(&saved, &again)?;
    for _ in 0..ROWS[1] {
        let row = row(model.channels(), dice);
        let (first, second) = (bits(&denoiser.step(&row)), bits(&restored.step(&row)));
        same(&first, &second, "a restored denoiser continues with other bits")?;
    }
    let row = row(model.channels(), dice);
    let (masked, channels) = masked(&row, model.recognition().ranges());
    same_as_missing(&denoiser.step(&row), &channels, &restored.step(&masked))?;
    Ok(())
}

fn sample(bytes: &[u8], model: &LatentModel<'_>, dice: &mut Dice) -> Result<(), String> {
    let [mut words, mut other] = [garbage(model.arena_words()), garbage(model.arena_words())];
    let mut futures = garbage(FUTURES * model.future_words());
    let mut sampler = Sampler::load_in(bytes, &mut words).map_err(|error| error.to_string())?;
    for _ in 0..ROWS[0] {
        let (row, vars) = (row(model.channels(), dice), vars(model.channels(), dice));
        check(&sampler.observe_uncertain(&row, &vars)).map_err(|error| format!("{error} after {row:?}"))?;
        let feed = dice.pick(&[FeedMode::Draw, FeedMode::Mean]);
        if dice.once_in(2) && !sampler.sample(dice.numbers(), feed).iter().all(|value| value.is_finite()) {
            return Err("a sampled row is not finite".into());
        }
        if dice.once_in(2) {
            roll_out(&mut sampler, &mut futures, feed, dice)?;
        }
        check(&sampler.prediction())?;
    }
    let [mut saved, mut again] = [garbage(model.saved_words()), garbage(model.saved_words())];
    sampler.check_state().map_err(|error| format!("check_state: {error}"))?;
    sampler.save(&mut saved).map_err(|error| format!("save: {error}"))?;
    let mut restored = Sampler::load_in(bytes, &mut other).map_err(|error| error.to_string())?;
    restored.restore(&saved).map_err(|error| refused(error, &saved))?;
    restored.save(&mut again).map_err(|error| format!("save again: {error}"))?;
    same_state(&saved, &again)?;
    for _ in 0..ROWS[1] {
        let row = row(model.channels(), dice);
        let (first, second) = (bits(&sampler.observe(&row)), bits(&restored.observe(&row)));
        same(&first, &second, "a restored sampler continues with other bits")?;
    }
    let row = row(model.channels(), dice);
    let (masked, channels) = masked(&row, model.recognition().ranges());
    same_as_missing(&sampler.observe(&row), &channels, &restored.observe(&masked))?;
    Ok(())
}

fn roll_out(
    sampler: &mut Sampler<'_, '_>,
    futures: &mut [f32],
    feed: FeedMode,
    dice: &mut Dice,
) -> Result<(), String> {
    let channels = sampler.model().channels();
    let mut rollouts = Rollouts::<FUTURES>::new_in(sampler, futures).map_err(|error| error.to_string())?;
    for _ in 0..2 {
        rollouts.advance(dice.numbers(), feed);
        for channel in 0..channels {
            let statistics =
                [rollouts.mean(channel), rollouts.std_dev(channel), rollouts.quantile(channel, 0.3)];
            if !statistics.iter().all(|value| value.is_some_and(f32::is_finite)) {
                return Err(format!("mean, standard deviation and quantile of rollouts are {statistics:?}"));
            }
        }
    }
    Ok(())
}
