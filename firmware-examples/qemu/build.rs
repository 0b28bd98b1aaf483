//! Chooses the memory map for the core, and what the images embed.
//!
//! `QUAVER_MODEL` names a checkpoint and `QUAVER_STREAM` a file of rows for it: little-endian f32, row after row, NaN
//! for a missing value. `QUAVER_CASE` names a built-in model instead: a golden case, or a benchmark such as
//! `lstm-16-64-int8`. With none of them the image holds the gait model.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use quaver::Model;
use quaver_tests::{Case, bench, gait, golden};

/// Rows of noise for a model that comes without a stream.
const NOISE_ROWS: usize = 16;

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    link(&out);
    let mut source = String::new();
    embed_group(&mut source, &out, "CHOSEN", &[chosen_case()]);
    embed_group(&mut source, &out, "GOLDEN", &golden::cases());
    fs::write(out.join("embedded.rs"), source).expect("OUT_DIR can be written");
}

fn link(out: &Path) {
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let map = match target.as_str() {
        "thumbv6m-none-eabi" => "microbit",
        "thumbv7m-none-eabi" | "thumbv7em-none-eabihf" => "mps2",
        "thumbv8m.main-none-eabihf" => "mps2-an505",
        "riscv32imac-unknown-none-elf" => "virt",
        other => panic!("no memory map for {other}: add one to memory/ and name it here"),
    };
    fs::copy(format!("memory/{map}.x"), out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    // The smallest core has 256 KB of flash at address 0: no room for padding to pages.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rerun-if-changed=memory");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The value of an environment variable on which the image depends.
fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok()
}

fn read(path: &str) -> Vec<u8> {
    println!("cargo::rerun-if-changed={path}");
    fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}; give an absolute path to a readable file"))
}

fn chosen_case() -> Case {
    let (model, name) = (variable("QUAVER_MODEL"), variable("QUAVER_CASE"));
    let stream = variable("QUAVER_STREAM");
    let mut case = match (model, name) {
        (Some(_), Some(_)) => panic!("QUAVER_MODEL and QUAVER_CASE are both set: keep one"),
        (Some(path), None) => case_from_file(&path),
        (None, Some(name)) => built_in(&name),
        (None, None) => gait::case(),
    };
    if let Some(path) = stream {
        case.stream = numbers(&path, case.inputs);
    }
    case
}

fn built_in(name: &str) -> Case {
    let golden = || golden::cases().into_iter().find(|case| case.name == name);
    bench::case(name).or_else(golden).unwrap_or_else(|| {
        panic!(
            "QUAVER_CASE: there is no {name:?}; take a name from tests/golden/streams.txt, or lstm-16-64-int8"
        )
    })
}

fn case_from_file(path: &str) -> Case {
    let bytes = read(path);
    let model = Model::load(&bytes).unwrap_or_else(|error| panic!("QUAVER_MODEL {path}: {error}"));
    let inputs = usize::from(model.spec().inputs);
    let name = Path::new(path).file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    Case { name, inputs, stream: bench::noise(inputs, NOISE_ROWS), model: bytes }
}

fn numbers(path: &str, inputs: usize) -> Vec<f32> {
    let bytes = read(path);
    assert!(
        bytes.len().is_multiple_of(4 * inputs),
        "QUAVER_STREAM {path}: {} bytes are not whole rows of {inputs} four-byte numbers",
        bytes.len()
    );
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Writes the files of some cases and the source that includes them, with the memory that suffices for all.
fn embed_group(source: &mut String, out: &Path, group: &str, cases: &[Case]) {
    let words = |case: &Case| Model::load(&case.model).expect("a case loads").spec().arena_words();
    let arena = cases.iter().map(words).max().unwrap_or(0);
    let row = cases.iter().map(|case| case.inputs).max().unwrap_or(0);
    let count = cases.len();
    let mut line = |text: String| writeln!(source, "{text}").expect("a string can be written");
    line(format!("/// Arena words that suffice for [`{group}`].\npub const {group}_ARENA: usize = {arena};"));
    line(format!("/// Channels of the widest row of [`{group}`].\npub const {group}_ROW: usize = {row};"));
    line(format!("/// Embedded by the build script.\npub static {group}: [Job; {count}] = ["));
    for case in cases {
        line(job(out, group, case));
    }
    line("];".into());
}

fn job(out: &Path, group: &str, case: &Case) -> String {
    let file = |extension: &str, bytes: &[u8]| {
        let path = out.join(format!("{group}-{}.{extension}", case.name));
        fs::write(&path, bytes).expect("OUT_DIR can be written");
        path
    };
    let stream: Vec<u8> = case.stream.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (model, stream) = (file("qvr", &case.model), file("f32", &stream));
    let (name, inputs) = (&case.name, case.inputs);
    format!(
        "    Job {{ name: {name:?}, inputs: {inputs}, model: quaver::include_checkpoint!({model:?}), \
         stream: include_bytes!({stream:?}) }},"
    )
}
