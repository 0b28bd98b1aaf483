//! Rollouts: many sampled futures.

use core::ffi::c_void;

use quaver::{Futures, LatentModel, Sampler};

use super::random::{CallerRng, feed_mode};
use crate::boundary::{Arguments, Handle, Output};
use crate::sizes::QUAVER_ROLLOUTS_WORDS;
use crate::status::Status;
use crate::streams::{QuaverRollouts, QuaverSampler, RolloutStream};

/// Words of an arena for `futures` futures of a sampler, the handle included; 0 if the handle is none.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_arena_words(sampler: Handle<QuaverSampler>, futures: usize) -> usize {
    let words = sampler.enter((), |sampler, ()| {
        let words = futures.checked_mul(sampler.model().future_words()).ok_or(Status::RANGE)?;
        words.checked_add(QUAVER_ROLLOUTS_WORDS).ok_or(Status::RANGE)
    });
    words.unwrap_or(0)
}

/// Starts `futures` futures at the present of a sampler, in an arena of `quaver_rollouts_arena_words`. The
/// sampler may go on observing; its arena must stay where it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_start(
    sampler: Handle<QuaverSampler>,
    futures: usize,
    arena: Output<c_void>,
    arena_words: usize,
    rollouts: Output<Handle<QuaverRollouts>>,
) -> i32 {
    let start = |sampler: &Sampler<'static, 'static>, here, words| {
        Ok(RolloutStream { futures: Futures::start(sampler.model(), words, futures)?, sampler: here })
    };
    Status::of(arena.arena(arena_words).load_from(sampler, rollouts, start))
}

/// Runs a call with futures and their sampler.
fn with_sampler<A: Arguments, R>(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    arguments: A,
    run: impl FnOnce(&mut Futures<'static>, &mut Sampler<'static, 'static>, A::Slices<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    rollouts.check_apart(&arguments)?;
    rollouts.enter((), |rollouts, ()| {
        if !sampler.is_at(rollouts.sampler) {
            return Err(Status::HANDLE);
        }
        sampler.enter(arguments, |sampler, slices| run(&mut rollouts.futures, sampler, slices))
    })
}

/// Takes every future back: the next step is one from the present of the sampler.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_restart(rollouts: Handle<QuaverRollouts>) -> i32 {
    Status::of(rollouts.enter((), |rollouts, ()| {
        rollouts.futures.restart();
        Ok(())
    }))
}

/// Extends every future by one step. `sampler` is the one that the rollouts were started with; it lends its
/// scratch memory, and its stream is unchanged afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_advance(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    next: Option<extern "C" fn(state: *mut c_void) -> u32>,
    state: *mut c_void,
    feed: i32,
) -> i32 {
    Status::of(with_sampler(rollouts, sampler, (), |futures, sampler, ()| {
        let (mut rng, feed) = (CallerRng::new(next, state)?, feed_mode(feed)?);
        futures.advance(sampler, &mut rng, feed);
        Ok(())
    }))
}

/// Number of steps that the futures are ahead; 0 if the handle is none.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_horizon(rollouts: Handle<QuaverRollouts>) -> usize {
    rollouts.enter((), |rollouts, ()| Ok(rollouts.futures.horizon())).unwrap_or(0)
}

/// Writes one number of the futures, if they have been advanced and the channel exists.
fn statistic(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    result: Output<f32>,
    compute: impl FnOnce(&Futures<'static>, &LatentModel<'static>) -> Option<f32>,
) -> i32 {
    Status::of(with_sampler(rollouts, sampler, result.one(), |futures, sampler, result| {
        let value = compute(futures, sampler.model()).ok_or(Status::RANGE)?;
        result.iter_mut().for_each(|result| *result = value);
        Ok(())
    }))
}

/// Mean of a channel over the futures. `QUAVER_ERROR_RANGE` before the first step, or without such a channel.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_mean(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    channel: usize,
    mean: Output<f32>,
) -> i32 {
    statistic(rollouts, sampler, mean, |futures, model| futures.mean(model, channel))
}

/// Standard deviation of a channel over the futures; 0 for one future.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_std_dev(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    channel: usize,
    std_dev: Output<f32>,
) -> i32 {
    statistic(rollouts, sampler, std_dev, |futures, model| futures.std_dev(model, channel))
}

/// Quantile `q`, from 0 to 1, of a channel over the futures.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_quantile(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    channel: usize,
    q: f32,
    quantile: Output<f32>,
) -> i32 {
    statistic(rollouts, sampler, quantile, |futures, model| futures.quantile(model, channel, q))
}

/// The values of a channel, future by future, at most `count` of them.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_rollouts_values(
    rollouts: Handle<QuaverRollouts>,
    sampler: Handle<QuaverSampler>,
    channel: usize,
    values: Output<f32>,
    count: usize,
) -> i32 {
    Status::of(with_sampler(rollouts, sampler, values.many(count), |futures, sampler, values| {
        let mut found = futures.values(sampler.model(), channel);
        let first = found.next().ok_or(Status::RANGE)?;
        let all = core::iter::once(first).chain(found);
        values.iter_mut().zip(all).for_each(|(target, value)| *target = value);
        Ok(())
    }))
}
