//! Many crafted files, and what is found.

use std::ops::AddAssign;
use std::panic::{AssertUnwindSafe, catch_unwind};

use quaver::checkpoint::Kind;

use super::dice::Dice;
use super::frame::mend;
use super::latent_spec::Latent;
use super::network::Network;
use super::reducer_spec::CraftedReducer;
use super::spec;
use super::trial::Outcome;
use super::{adaptive_trial, latent_trial, reducer_trial, trial};

/// Numbers of files and steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files made.
    pub files: u64,
    /// Files that were accepted.
    pub accepted: u64,
    /// Steps of accepted files.
    pub steps: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.accepted += other.accepted;
        self.steps += other.steps;
    }
}

/// A file that broke a promise.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which promise, and how.
    pub what: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// File `index` of a seed, with the choices that are left for its rows.
pub fn file(seed: u64, index: u64) -> (Vec<u8>, Dice) {
    let mut dice = Dice::new(seed, index);
    let mut bytes = match dice.below(8) {
        0 | 1 => Latent::craft(&mut dice).encode(),
        2 | 3 => CraftedReducer::craft(&mut dice).encode(),
        _ => {
            let spec = spec::craft(&mut dice);
            let names = [spec::names(spec.inputs, &mut dice), spec::names(spec.outputs, &mut dice)];
            Network::craft(spec, names, &mut dice).encode()
        }
    };
    if dice.once_in(20) {
        let place = dice.below(bytes.len());
        bytes[place] = dice.pick(&[0x00, 0x01, 0x7F, 0x80, 0xFF]);
        mend(&mut bytes);
    }
    if dice.once_in(50) {
        bytes = overlong(&bytes);
    }
    (bytes, dice)
}

/// The file with its first number below 128 in two bytes: the same value, in more bytes than it needs.
pub fn overlong(bytes: &[u8]) -> Vec<u8> {
    let Some((version, header, payload)) = super::frame::parts(bytes) else { return bytes.to_vec() };
    let kind = Kind::of(bytes).unwrap_or(Kind::Predictor);
    let place = match kind {
        Kind::Predictor => 0,
        Kind::Latent => 2,
        Kind::Reducer => return bytes.to_vec(),
    };
    let mut longer = header.to_vec();
    if longer.get(place).is_some_and(|byte| *byte < 0x80) {
        longer[place] |= 0x80;
        longer.insert(place + 1, 0);
    }
    super::frame::framed(kind, version, &longer, payload)
}

/// Loads and steps one file.
///
/// # Errors
/// The promise that it broke; a panic is one.
pub fn try_file(bytes: &[u8], dice: &mut Dice) -> Result<Counts, String> {
    let outcomes = caught(|| outcomes(bytes, dice))?;
    let steps = |outcome: &Outcome| if let Outcome::Stepped(steps) = outcome { *steps } else { 0 };
    let accepted = outcomes.iter().any(|outcome| *outcome != Outcome::Refused);
    Ok(Counts { files: 1, accepted: accepted.into(), steps: outcomes.iter().map(steps).sum() })
}

/// The result of a trial, with a panic as an error like any other.
///
/// # Errors
/// That of the trial, or the text of the panic.
pub fn caught<T>(trial: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(trial)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("panic: {text}"))
    })
}

fn outcomes(bytes: &[u8], dice: &mut Dice) -> Result<Vec<Outcome>, String> {
    match Kind::of(bytes) {
        Some(Kind::Latent) => return Ok(vec![latent_trial::run(bytes, dice)?]),
        Some(Kind::Reducer) => return Ok(vec![reducer_trial::run(bytes, dice)?]),
        Some(Kind::Predictor) | None => {}
    }
    let mut outcomes = vec![trial::run(bytes, dice)?];
    if dice.once_in(4) {
        outcomes.push(adaptive_trial::run(bytes, dice)?);
    }
    Ok(outcomes)
}

/// Makes and tries file `index` of a seed.
///
/// # Errors
/// What was found, with the file.
pub fn attack(seed: u64, index: u64) -> Result<Counts, Finding> {
    let (bytes, mut dice) = file(seed, index);
    try_file(&bytes, &mut dice).map_err(|what| Finding { what, bytes })
}
