//! Checkpoints of the past, with what they answered: `tests/fixtures`. They load and give the same bits for
//! ever.
//!
//! A fixture is a checkpoint, `NAME.qvr`, and a text, `NAME.txt`: lines of a row and of the outputs after it,
//! as bits of f32. The binary `fixtures` adds those that are missing and never changes one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, Error, LatentModel, Model, Prediction, Predictor, Reducer, ReducerModel, Sampler};

/// The checkpoints of all fixtures.
///
/// # Errors
/// If the folder cannot be read.
pub fn paths() -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let mut paths: Vec<_> =
        paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "qvr")).collect();
    paths.sort();
    Ok(paths)
}

/// Loads a fixture and compares its answers with those of the past; the number of steps.
///
/// # Errors
/// Names the file that does not load, or answers with other bits.
pub fn verify(path: &Path) -> Result<usize, String> {
    let named = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let model = fs::read(path).map_err(|error| named(&error))?;
    let recorded = fs::read_to_string(path.with_extension("txt")).map_err(|error| named(&error))?;
    let steps = parse(&recorded).ok_or_else(|| named(&"not a fixture"))?;
    let rows: Vec<_> = steps.iter().map(|step| step.row.clone()).collect();
    let replayed = replay(&model, &rows).map_err(|error| named(&error))?;
    if text(&replayed) == recorded { Ok(steps.len()) } else { Err(named(&"other answers than in the past")) }
}

/// A row, and the bits of means, epistemic and aleatoric variances after it; of a reducer, of its embedding
/// and classification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The values of the row.
    pub row: Vec<u32>,
    /// The answer.
    pub outputs: Vec<u32>,
}

/// What a model answers to rows.
///
/// # Errors
/// If it does not load.
pub fn replay(model: &[u8], rows: &[Vec<u32>]) -> Result<Vec<Step>, Error> {
    let floats = |row: &Vec<u32>| row.iter().map(|bits| f32::from_bits(*bits)).collect::<Vec<f32>>();
    let step = |row: &Vec<u32>, outputs: Vec<u32>| Step { row: row.clone(), outputs };
    if Kind::of(model) == Some(Kind::Predictor) {
        let mut words = vec![0.0; Model::load(model)?.spec().arena_words()];
        let mut predictor = Predictor::load_in(model, &mut words)?;
        let steps = rows.iter().map(|row| {
            let outputs = bits(&predictor.step(&floats(row)));
            // Any truth will do; only models that follow it take it in.
            predictor.observe(&floats(row));
            step(row, outputs)
        });
        return Ok(steps.collect());
    }
    if Kind::of(model) == Some(Kind::Reducer) {
        let mut words = vec![0.0; ReducerModel::load(model)?.arena_words()];
        let mut reducer = Reducer::load_in(model, &mut words)?;
        return Ok(rows.iter().map(|row| step(row, reduced(&mut reducer, &floats(row)))).collect());
    }
    let latent = LatentModel::load(model)?;
    let mut words = vec![0.0; latent.arena_words()];
    Ok(match latent.spec().family {
        Family::Vosp => {
            let mut denoiser = Denoiser::load_in(model, &mut words)?;
            rows.iter().map(|row| step(row, bits(&denoiser.step(&floats(row))))).collect()
        }
        Family::Storn => {
            let mut sampler = Sampler::load_in(model, &mut words)?;
            rows.iter().map(|row| step(row, bits(&sampler.observe(&floats(row))))).collect()
        }
    })
}

fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let parts = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
    parts.into_iter().flatten().map(|value| value.to_bits()).collect()
}

/// Bits of the embedding after a row, of its probabilities and its novelty.
fn reduced(reducer: &mut Reducer<'_, '_>, row: &[f32]) -> Vec<u32> {
    reducer.step(row);
    let mut numbers = Vec::new();
    if let Some(embedding) = reducer.embedding() {
        numbers.extend(embedding.mean.iter().chain(embedding.var));
    }
    if let Some(class) = reducer.classify() {
        numbers.extend(class.probabilities);
        numbers.push(class.novelty);
    }
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// The text of a fixture.
pub fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for Step { row, outputs } in steps {
        for (word, list) in [("row", row), ("outputs", outputs)] {
            let numbers: Vec<String> = list.iter().map(|bits| format!("{bits:08x}")).collect();
            writeln!(text, "{word} {}", numbers.join(" ")).expect("a string can be written to");
        }
    }
    text
}

/// The steps in the text of a fixture; `None` if it is none.
pub fn parse(text: &str) -> Option<Vec<Step>> {
    let numbers = |line: &str, word: &str| -> Option<Vec<u32>> {
        let rest = line.strip_prefix(word)?;
        rest.split_whitespace().map(|bits| u32::from_str_radix(bits, 16).ok()).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    lines
        .chunks(2)
        .map(|pair| {
            let [row, outputs] = pair else { return None };
            Some(Step { row: numbers(row, "row ")?, outputs: numbers(outputs, "outputs ")? })
        })
        .collect()
}
