//! Results over semihosting, and the end of the emulation.

use core::fmt::Display;

use quaver::moments::Scalar;
use quaver::{Denoiser, Error, Known, KnownLatent, Model, Predictor, Sampler};
use quaver_streams::fingerprint::Fingerprint;
use quaver_streams::replay::{
    replay, replay_adaptive, replay_denoiser, replay_known, replay_reducer, replay_sampler, replay_text,
};
use semihosting::{eprintln, print, println, process};

use crate::jobs::{ALIGNMENT_WORDS, Job};

/// Ends the emulation with success.
pub fn done() -> ! {
    process::exit(0)
}

/// Prints the reason on the host's standard error and ends the emulation with failure.
pub fn fail(reason: impl Display) -> ! {
    eprintln!("{reason}");
    process::exit(1)
}

/// Replays every job in turn and prints a fingerprint of its predictions.
pub fn print_fingerprints<const ARENA: usize, const FUTURES: usize, const ROW: usize>(jobs: &[Job]) {
    jobs.iter().for_each(|job| print_fingerprint::<ARENA, FUTURES, ROW>(job, job.model));
}

/// Replays a job with this model, and prints a fingerprint of its predictions.
pub fn print_fingerprint<const ARENA: usize, const FUTURES: usize, const ROW: usize>(
    job: &Job,
    model: &[u8],
) {
    let fingerprint = fingerprint::<ARENA, FUTURES, ROW>(job, model);
    println!("{} steps={} hash={fingerprint:016X}", job.name, job.steps());
}

/// Like [`print_fingerprints`], for models that learn.
pub fn print_adaptive_fingerprints<const ARENA: usize, const ROW: usize>(jobs: &[Job]) {
    for job in jobs {
        let Some(options) = job.task.adaptation() else { fail("a model that is not to learn") };
        let mut arena = [0.0; ARENA];
        print_replayed(job, replay_adaptive(job.model, options, job.rows::<ROW>(), &mut arena));
    }
}

/// Like [`print_fingerprints`], for models of text.
pub fn print_text_fingerprints<const ARENA: usize, const ROW: usize>(jobs: &[Job]) {
    for job in jobs {
        let mut arena = [0.0; ARENA];
        print_replayed(job, replay_text(job.model, job.rows::<ROW>(), &mut arena));
    }
}

/// Like [`print_fingerprints`], for reducers.
pub fn print_reducer_fingerprints<const ARENA: usize, const TAUGHT: usize, const ROW: usize>(jobs: &[Job]) {
    for job in jobs {
        let (mut arena, mut taught) = ([0.0; ARENA], [0.0; TAUGHT]);
        print_replayed(job, replay_reducer(job.model, job.rows::<ROW>(), &mut arena, &mut taught));
    }
}

/// Replays a job with its model as it is known while compiling, and prints a fingerprint of its predictions.
pub fn print_known_fingerprint<K: Known, const ROW: usize>(job: &Job, stream: Predictor<'static, '_, K>) {
    print_replayed(job, Ok(replay_known(stream, job.rows::<ROW>())));
}

/// The same for a denoiser.
pub fn print_known_denoiser<K: KnownLatent, const ROW: usize>(
    job: &Job,
    mut stream: Denoiser<'static, '_, K>,
) {
    print_replayed(job, Ok(replay_denoiser(&mut stream, job.rows::<ROW>())));
}

/// The same for a sampler.
pub fn print_known_sampler<K: KnownLatent, const FUTURES: usize, const ROW: usize>(
    job: &Job,
    mut stream: Sampler<'static, '_, K>,
) {
    print_replayed(job, replay_sampler(&mut stream, job.task, job.rows::<ROW>(), &mut [0.0; FUTURES]));
}

fn print_replayed(job: &Job, replayed: Result<Fingerprint, Error>) {
    match replayed {
        Ok(fingerprint) => println!("{} steps={} hash={:016X}", job.name, job.steps(), fingerprint.value()),
        Err(error) => fail(error),
    }
}

/// Copies the model of a job to addresses 0 to 3 bytes behind a multiple of four, replays it there, and
/// prints whether it is accelerated at each. Fails unless all predictions are the same.
#[inline(never)] // the copy's stack frame is free again for what follows
pub fn print_acceleration<const ARENA: usize, const FUTURES: usize, const ROW: usize>(job: &Job) {
    let expected = fingerprint::<ARENA, FUTURES, ROW>(job, job.model);
    let mut memory = [[0_u8; 4]; ALIGNMENT_WORDS];
    let bytes = memory.as_flattened_mut();
    let start = bytes.as_ptr().align_offset(4);
    print!("# accelerated at offsets 0 to 3:");
    for offset in 0..4 {
        let Some(copy) = bytes.get_mut(start + offset..).and_then(|rest| rest.get_mut(..job.model.len()))
        else {
            fail("the model has no room at another address")
        };
        copy.copy_from_slice(job.model);
        match Model::load(copy) {
            Ok(model) => print!(" {}", model.is_accelerated()),
            Err(error) => fail(error),
        }
        if fingerprint::<ARENA, FUTURES, ROW>(job, copy) != expected {
            fail("predictions depend on the address of the model");
        }
    }
    println!();
}

#[inline(never)] // the arena's stack frame is free again for the next case
fn fingerprint<const ARENA: usize, const FUTURES: usize, const ROW: usize>(job: &Job, model: &[u8]) -> u64 {
    let (mut arena, mut futures) = ([0.0; ARENA], [0.0; FUTURES]);
    match replay(model, job.task, job.rows::<ROW>(), &mut arena, &mut futures) {
        Ok(fingerprint) => fingerprint.value(),
        Err(error) => fail(error),
    }
}

/// Compares square roots as the runtime computes them with those of `libm`, bit for bit: of zero, of
/// subnormal numbers, and of others up to infinity.
pub fn check_square_roots() {
    for bits in (0..=f32::INFINITY.to_bits()).step_by(0xFFF1) {
        let x = f32::from_bits(bits);
        let (root, expected) = (Scalar::sqrt(x), libm::sqrtf(x));
        if root.to_bits() != expected.to_bits() {
            fail(format_args!("the square root of {x} is {expected}, not {root}"));
        }
    }
}
