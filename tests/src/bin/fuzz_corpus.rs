//! Adds seeds to `fuzz/corpus`, a folder for each fuzz target: golden models, streams that they saved, the
//! configs of this repository and small recordings. `cargo xtask fuzz` starts it, and keeps what it finds in
//! the same folders.

use std::path::Path;
use std::{fs, io};

use quaver::checkpoint::Kind;
use quaver_tests::attack::rows::garbage;
use quaver_tests::stream::Stream;
use quaver_tests::{Case, fixtures, golden, golden_latent, golden_reducer, signing};

/// Folders with configs, from the root of the repository.
const CONFIGS: [&str; 2] = ["trainer/examples", "benchmarks"];
/// Files of tests that are seeds, from the root of the repository, with their targets.
const FILES: [(&str, &str); 3] = [
    ("bag", "trainer/tests/bags/robot_zstd.mcap"),
    ("safetensors", "trainer/tests/pytorch/gru_1.safetensors"),
    ("safetensors", "trainer/tests/pytorch/scaled_lstm_1.safetensors"),
];
/// Small files of other formats: target, name and contents.
const TEXTS: [(&str, &str, &str); 9] = [
    ("csv", "header", "time,a,b\n0,1.5,-2e3\n1,,nan\n\n0,\"3\",4\n"),
    ("csv", "numbers", "0;1\n2;3\n"),
    ("piano_roll", "two-pieces", "60 64 67\n60\n\n\n62 65\n"),
    ("run_texts", "range", "10%..80%"),
    ("run_texts", "single", "7"),
    (
        "run_texts",
        "metrics",
        "{\"epoch\":1,\"train_nll\":0.5,\"valid_nll\":0.25,\"gradient_norm\":1.0,\"clipped\":0,\"best\":true}\n",
    ),
    ("telemetry", "lines", "\u{5}booting\r\n>force:51.7\n>force:20:51.7§N|g\n"),
    ("survey", "cells", "1,5\n2026-11-17T10:00:00.25+01:00\n10:00\nnull\nrest\nforce [N]\n"),
    ("config", "settings", "[data]\nfiles = [\"a.csv\"]\n\0model.cell=gru\ntraining.epochs=3"),
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = root.join("fuzz/corpus");
    write_models(&corpus.join("checkpoint"), &golden::cases())?;
    write_models(&corpus.join("latent"), &golden_latent::cases())?;
    write_models(&corpus.join("reducer"), &golden_reducer::cases())?;
    write_models(&corpus.join("signed"), &sealed())?;
    write_states(&corpus.join("state"))?;
    for folder in CONFIGS {
        copy_configs(&root.join(folder), &corpus.join("config"))?;
    }
    for (target, file) in FILES {
        let name = file.rsplit('/').next().unwrap_or(file);
        write_file(&corpus.join(target), name, &fs::read(root.join(file))?)?;
    }
    write_file(&corpus.join("npy"), "matrix", &npy())?;
    write_file(&corpus.join("telemetry"), "frame", &frame())?;
    TEXTS.iter().try_for_each(|(target, name, text)| write_file(&corpus.join(target), name, text.as_bytes()))
}

fn write_models(folder: &Path, cases: &[Case]) -> io::Result<()> {
    cases.iter().try_for_each(|case| write_file(folder, &case.name, &case.model))?;
    println!("{} models in {}", cases.len(), folder.display());
    Ok(())
}

/// Small models in envelopes.
fn sealed() -> Vec<Case> {
    let mut cases = golden::cases();
    cases.retain(|case| case.model.len() < 1000);
    cases.iter_mut().for_each(|case| case.model = signing::sealed(&case.model, 1));
    cases
}

/// The frame in the specification of the line protocol, behind the length of a chunk.
fn frame() -> Vec<u8> {
    let page = include_str!("../../../docs/reference/line-protocol.md");
    let example =
        page.split("<!-- frame").nth(1).and_then(|rest| rest.split("```").nth(1)).unwrap_or_default();
    let bytes = example.split_whitespace().filter_map(|byte| u8::from_str_radix(byte, 16).ok());
    [3].into_iter().chain(bytes).collect()
}

/// Saved streams of all fixtures, each behind every number of a model: the target chooses by the first byte.
fn write_states(folder: &Path) -> io::Result<()> {
    for path in fixtures::paths()? {
        let model = fs::read(&path)?;
        // Streams of reducers are saved and restored by their own target.
        if Kind::of(&model) == Some(Kind::Reducer) {
            continue;
        }
        let state = saved(&model).map_err(|error| io::Error::other(error.to_string()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        for first in 0..8 {
            write_file(folder, &format!("{name}-{first}"), &[&[first], &state[..]].concat())?;
        }
    }
    Ok(())
}

fn saved(model: &[u8]) -> Result<Vec<u8>, quaver::Error> {
    let mut words = garbage(Stream::arena_words(model)?);
    let mut stream = Stream::load(model, &mut words)?;
    stream.step(&[0.5, -1.0, 0.25]);
    let mut state = garbage(stream.saved_words());
    stream.save(&mut state)?;
    Ok(state.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn copy_configs(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            write_file(to, &name, &fs::read(&path)?)?;
        }
    }
    Ok(())
}

/// Two rows of two numbers.
fn npy() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    bytes.extend([1.0_f32, 2.0, f32::NAN, -4.0].iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(name), bytes)
}
