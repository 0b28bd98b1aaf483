//! What Miri runs of this crate; started by `cargo xtask miri`. A program and not a test: tests would have
//! Miri build the trainer, and Burn with it.
//!
//! Arguments: numbers of fixtures, of damaged checkpoints and of crafted ones. Prints progress, and fails at
//! the first promise that is broken; undefined behaviour is reported by Miri.

use std::env::args;
use std::process::ExitCode;

use quaver::checkpoint::{Activation, CellKind, Contents, WeightFormat, write};
use quaver::{Error, Model};
use quaver_tests::attack::campaign::{attack, file};
use quaver_tests::damage::mend;
use quaver_tests::fixtures;
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;

/// Largest crafted checkpoint that is tried.
const MOST_BYTES: usize = 1024;

fn main() -> ExitCode {
    let arguments: Vec<usize> = args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let [fixtures, damaged, crafted] = arguments[..] else {
        eprintln!("usage: interpreted FIXTURES DAMAGED CRAFTED");
        return ExitCode::FAILURE;
    };
    let done =
        replay_fixtures(fixtures).and_then(|()| load_damaged(damaged)).and_then(|()| load_crafted(crafted));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Evenly spread over all there are: one of every layout and cell, or nearly so.
fn replay_fixtures(count: usize) -> Result<(), String> {
    let paths = fixtures::paths().map_err(|error| error.to_string())?;
    let mut steps = 0;
    for path in spread(&paths, count) {
        steps += fixtures::verify(path)?;
    }
    println!("{} fixtures, {steps} steps: the bits of the past", count.min(paths.len()));
    Ok(())
}

fn spread<T>(all: &[T], count: usize) -> impl Iterator<Item = &T> {
    let count = count.min(all.len());
    (0..count).map(move |index| &all[index * all.len() / count])
}

/// Truncations and changed bytes of a small checkpoint.
fn load_damaged(count: usize) -> Result<(), String> {
    let architecture = Architecture { weight_variance: true, ..Architecture::default() };
    let layers = [(CellKind::Elman(Activation::Tanh), 3)];
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::Int8));
    randomise(&mut contents, &mut Numbers::new("interpreted"));
    let model = write(&contents).map_err(|error| error.to_string())?;
    let places: Vec<usize> = (0..model.len() - 4).collect();
    for place in spread(&places, count) {
        if Model::load(&model[..*place]).is_ok() {
            return Err(format!("{place} of {} bytes load", model.len()));
        }
        let mut damaged = model.clone();
        damaged[*place] ^= 0x81;
        mend(&mut damaged);
        step(&damaged).or_else(refused)?;
    }
    println!("{} damaged checkpoints", 2 * count.min(places.len()));
    Ok(())
}

/// An error of the reader is as it should be.
fn refused(_: Error) -> Result<(), String> {
    Ok(())
}

fn step(bytes: &[u8]) -> Result<(), Error> {
    let model = Model::load(bytes)?;
    let mut words = vec![f32::NAN; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    model.step(&mut state, &[1.0, f32::NAN, -3.0]);
    Ok(())
}

/// Small ones alone: a step of a large one takes Miri minutes.
fn load_crafted(count: usize) -> Result<(), String> {
    let is_small = |index: &u64| file(0, *index).0.len() <= MOST_BYTES;
    let mut steps = 0;
    for index in (0..).filter(is_small).take(count) {
        steps += attack(0, index).map_err(|finding| format!("file {index}: {}", finding.what))?.steps;
    }
    println!("{count} crafted checkpoints, {steps} steps");
    Ok(())
}
