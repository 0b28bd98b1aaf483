//! The exported model on an emulated Cortex-M4F, compared with this machine bit for bit.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use quaver::{Model, Prediction, Reducer, ReducerModel};

use crate::data::Rows;
use crate::files;

/// The emulated core, and the program that emulates it.
const TARGET: &str = "thumbv7em-none-eabihf";
const EMULATOR: &str = "qemu-system-arm";

/// What came of the emulation.
pub(super) enum Emulation {
    /// Every bit of every row agreed.
    Equal { rows: usize, words: usize },
    /// The first row that differed.
    Different { row: usize },
    /// It was not run, and why.
    Skipped(String),
}

impl Emulation {
    pub(super) fn in_words(&self) -> String {
        match self {
            Emulation::Equal { rows, words } => {
                format!("{rows} rows, {words} numbers: the same bits as on this machine")
            }
            Emulation::Different { row } => format!("row {row} differs from this machine"),
            Emulation::Skipped(why) => format!("skipped: {why}"),
        }
    }

    pub(super) fn verdict(&self) -> &'static str {
        match self {
            Emulation::Equal { .. } => "same bits in every prediction",
            Emulation::Different { .. } => "DIFFERENT bits",
            Emulation::Skipped(_) => "not compared (no emulation)",
        }
    }

    /// A difference is a failure of the demo; a missing emulator is not.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Emulation::Different { row } => {
                bail!("the emulated Cortex-M4F differs from this machine at row {row}")
            }
            Emulation::Equal { .. } | Emulation::Skipped(_) => Ok(()),
        }
    }
}

/// Replays rows on an emulated Cortex-M4F, if the firmware's source is there and the emulator is or may be
/// installed.
pub(super) fn replay(out: &Path, model: &Path, rows: Rows) -> Result<Emulation> {
    replay_with("bits", out, model, &rows, on_this_machine)
}

/// Likewise, for a model that classifies: embedding and class after every row.
pub(super) fn replay_classes(out: &Path, model: &Path, rows: Rows) -> Result<Emulation> {
    replay_with("class_bits", out, model, &rows, classes_on_this_machine)
}

/// Replays rows with an image of the firmware that prints words, and compares them with those of the host.
fn replay_with(
    image: &str,
    out: &Path,
    model: &Path,
    rows: &Rows,
    on_this_machine: impl Fn(&[u8], &Rows) -> Result<Vec<Vec<u32>>>,
) -> Result<Emulation> {
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-examples/qemu");
    if !firmware.is_dir() {
        let how = "the firmware's source is not here; in a clone of the repository, type: cargo quaver demo";
        return Ok(Emulation::Skipped(how.into()));
    }
    if let Err(missing) = set_up(&firmware) {
        return Ok(Emulation::Skipped(missing));
    }
    let stream = out.join("data/emulated.f32");
    let bytes: Vec<u8> = rows.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    files::replace(&stream, &bytes)?;
    let output = cargo(&firmware)
        .args(["run", "--quiet", "--release", "--bin", image])
        .env("QUAVER_MODEL", model)
        .env("QUAVER_STREAM", &stream)
        .output()
        .context("cannot start cargo to build the firmware")?;
    if !output.status.success() {
        return Ok(Emulation::Skipped(format!("the firmware failed: {}", last_line(&output.stderr))));
    }
    let device: Vec<Vec<u32>> =
        String::from_utf8_lossy(&output.stdout).lines().map(parse).collect::<Result<_>>()?;
    compare(&on_this_machine(&fs::read(model)?, rows)?, &device)
}

/// Makes sure of an emulator and a compiler for the core; otherwise one line says what is missing and what to
/// type.
fn set_up(firmware: &Path) -> Result<(), String> {
    if on_path(EMULATOR) && compiles_for(TARGET, firmware) {
        return Ok(());
    }
    eprintln!("     preparing the emulation: cargo xtask setup --target {TARGET}");
    // It may ask a question on standard error; standard output has nothing but the result.
    let mut setup = cargo(&firmware.join("../.."));
    setup.args(["xtask", "setup", "--target", TARGET]).stdin(Stdio::inherit()).stderr(Stdio::inherit());
    match setup.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(in_one_line(&output.stdout)),
        Err(error) => Err(format!("cannot start cargo ({error}); type: cargo xtask setup")),
    }
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}

fn on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder: PathBuf| folder.join(program).is_file())
}

/// Whether the compiler used in a folder has libraries for the target.
fn compiles_for(target: &str, folder: &Path) -> bool {
    let arguments = ["--print", "target-libdir", "--target", target];
    let output = Command::new("rustc").args(arguments).current_dir(folder).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// What `cargo xtask setup` found missing.
fn in_one_line(stdout: &[u8]) -> String {
    match String::from_utf8_lossy(stdout).trim() {
        "" => "the setup failed; to see why, type: cargo xtask setup".into(),
        missing => missing.replace('\n', "; "),
    }
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_string()
}

/// One row of the firmware's output: words of eight hexadecimal digits.
fn parse(line: &str) -> Result<Vec<u32>> {
    let word =
        |word: &str| u32::from_str_radix(word, 16).with_context(|| format!("the firmware printed {word:?}"));
    line.split_whitespace().map(word).collect()
}

fn on_this_machine(model: &[u8], rows: &Rows) -> Result<Vec<Vec<u32>>> {
    let model = Model::load(model)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    Ok(rows.iter().map(|row| bits(&model.step(&mut state, row))).collect())
}

fn classes_on_this_machine(model: &[u8], rows: &Rows) -> Result<Vec<Vec<u32>>> {
    let mut words = vec![0.0; ReducerModel::load(model)?.arena_words()];
    let mut reducer = Reducer::load_in(model, &mut words)?;
    let mut bits = Vec::new();
    for row in rows.iter() {
        reducer.step(row);
        let embedding = reducer.embedding().context("a row was read")?;
        let mut words = [embedding.mean, embedding.var].concat();
        let found = reducer.classify().context("the model has a classifier")?;
        words.extend(found.probabilities);
        words.extend([found.novelty, found.class as f32]);
        bits.push(words.into_iter().map(f32::to_bits).collect());
    }
    Ok(bits)
}

/// The words of a prediction in the firmware's order: moments, then the surprise, the distance from the
/// training rows and the anomaly score, each if the model has it.
fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let mut words = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()].concat();
    if let Some(surprise) = prediction.surprise() {
        words.push(surprise.nll);
        words.extend(surprise.z);
    }
    words.extend(prediction.novelty().map(|novelty| novelty.distance));
    words.extend(prediction.anomaly().map(|anomaly| anomaly.score));
    words.into_iter().map(f32::to_bits).collect()
}

fn compare(host: &[Vec<u32>], device: &[Vec<u32>]) -> Result<Emulation> {
    if host.len() != device.len() {
        bail!("the firmware printed {} rows, {} were replayed", device.len(), host.len());
    }
    match host.iter().zip(device).position(|(host, device)| host != device) {
        Some(row) => Ok(Emulation::Different { row }),
        None => Ok(Emulation::Equal { rows: host.len(), words: host.iter().map(Vec::len).sum() }),
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{CellKind, Contents, ModelSpec, Target, write};

    use super::*;
    use crate::nn::test_spec;

    #[test]
    fn a_single_bit_makes_the_difference() {
        let host = vec![vec![1, 2], vec![3, 4]];
        assert!(matches!(compare(&host, &host), Ok(Emulation::Equal { rows: 2, words: 4 })));
        let device = vec![vec![1, 2], vec![3, 5]];
        assert!(matches!(compare(&host, &device), Ok(Emulation::Different { row: 1 })));
        assert!(compare(&host, &device[..1]).is_err());
    }

    #[test]
    fn the_surprise_of_a_model_that_has_one_is_compared_too() {
        let words = |target: Target| {
            let spec = ModelSpec { target, ..test_spec(2, 2, &[(CellKind::Lstm, 3)]) };
            let model = write(&Contents::zeros(spec)).unwrap();
            on_this_machine(&model, &Rows { channels: 2, values: vec![0.5; 6] }).unwrap()
        };
        // Mean and two variances of two outputs; the score of the row, and a residual for each channel.
        assert!(words(Target::Columns).iter().all(|row| row.len() == 6));
        assert!(words(Target::Next).iter().all(|row| row.len() == 6 + 3));
    }

    #[test]
    fn whatever_the_setup_prints_becomes_one_line() {
        assert_eq!(in_one_line(b"no target\nno QEMU; type: this\n"), "no target; no QEMU; type: this");
        assert!(in_one_line(b"\n").contains("cargo xtask setup"));
    }

    #[test]
    fn rows_of_hexadecimal_words_are_read() {
        assert_eq!(parse("3F800000 00000000 ").unwrap(), [0x3f80_0000, 0]);
        assert!(parse("panicked at").is_err());
    }
}
