//! Chooses the memory map for the core, and what the images embed.
//!
//! The memory map is that of the machine that the target's runner starts; `QUAVER_MEMORY` names another file
//! of `memory/`.
//!
//! `QUAVER_MODEL` names a checkpoint and `QUAVER_STREAM` a file of rows for it: little-endian f32, row after
//! row, NaN for a missing value. `QUAVER_CASE` names a built-in model instead: a golden case, or a benchmark
//! such as `lstm-16-64-int8` or `vosp-16-64-fast`; several, with commas between them, for the image `bench`.
//! With none of them the image holds the gait model.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use quaver::checkpoint::{Family, Kind, Layout, Likelihood, Target};
use quaver::{LatentModel, Model, ReducerModel};
use quaver_tests::replay::{self, Task};
use quaver_tests::{
    Case, bench, gait, golden, golden_adaptive, golden_latent, golden_pruned, golden_reducer, golden_text,
    signing,
};

/// The golden case that is replayed at several addresses.
const MOVED: &str = "lstm-fast";

/// Golden cases of one network are shared out among these images' lists.
const GOLDEN_GROUPS: [&str; 9] = [
    "GOLDEN", "GOLDEN_2", "GOLDEN_3", "GOLDEN_4", "GOLDEN_5", "GOLDEN_6", "GOLDEN_7", "GOLDEN_8", "GOLDEN_9",
];
/// Most bytes of models in one of them: what the smallest core has left of its flash.
const GOLDEN_BYTES: usize = 75_000;

/// The same for latent models.
const LATENT_GROUPS: [&str; 2] = ["GOLDEN_LATENT", "GOLDEN_LATENT_2"];

/// Golden cases that are also replayed as types, known while compiling: every cell, layout and optional part.
const KNOWN: [&str; 10] = [
    "elman-tanh-fast",
    "lstm-fast",
    "gru-fast",
    "wide-fast",
    "gru-wide-fast",
    "two-layers-small",
    "pruned-lstm-sparse",
    "weight-variance-lstm-fast",
    "following-density-fast",
    "linear-fast",
];

/// The same for latent models: every forecast, prior and likelihood, with and without ranges.
const KNOWN_LATENT: [&str; 7] = [
    "denoiser-follow-fast",
    "denoiser-draws-follow-small",
    "denoiser-fitted-means-follow-fast",
    "ranges-denoiser-fitted-follow-fast",
    "sampler-sample-fast",
    "sampler-residuals-rollouts-fast",
    "sampler-means-sample-mean",
];

/// Golden cases that are signed, the smallest first: it is tampered with.
const SIGNED: [&str; 3] = ["elman-tanh-f32", "lstm-fast", "denoiser-follow-fast"];
/// The counter that they are signed with.
const SIGNED_COUNTER: u32 = 7;

/// Rows of noise for a model that comes without a stream.
const NOISE_ROWS: usize = 16;

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    link(&out);
    let mut embedded = Embedded { out, source: String::new(), constants: BTreeMap::new() };
    let cases = chosen_cases();
    let chosen = &cases[0];
    embedded.line(chosen_stream(chosen));
    embedded.line(measured_work(chosen));
    embedded.signed_model("CHOSEN_SIGNED", &chosen.model);
    embedded.group("REDUCER", &[reducer_case(chosen)]);
    embedded.known_stream(&known_case(chosen).model);
    embedded.group("CHOSEN", &cases);
    let golden = golden::cases();
    let moved =
        golden.iter().find(|case| case.name == MOVED).expect("the case that is moved is a golden one");
    // Three bytes at most before the model, and as many behind it.
    embedded.line(format!(
        "/// Words of memory in which the model of [`ALIGNMENT`] can be moved.\n\
         pub const ALIGNMENT_WORDS: usize = {};",
        moved.model.len().div_ceil(4) + 2
    ));
    embedded.group("ALIGNMENT", std::slice::from_ref(moved));
    let networks = [golden, golden_pruned::cases()].concat();
    if has_feature("QUANTIZED") {
        embedded.known_group("GOLDEN_KNOWN", &KNOWN, &networks);
        embedded.known_group("GOLDEN_KNOWN_LATENT", &KNOWN_LATENT, &golden_latent::cases());
    }
    let networks = shared_out::<{ GOLDEN_GROUPS.len() }>(networks);
    let latent = shared_out::<{ LATENT_GROUPS.len() }>(golden_latent::cases());
    for (group, cases) in GOLDEN_GROUPS.iter().zip(&networks).chain(LATENT_GROUPS.iter().zip(&latent)) {
        embedded.group(group, cases);
    }
    embedded.group("GOLDEN_ADAPTIVE", &golden_adaptive::cases());
    embedded.group("GOLDEN_TEXT", &golden_text::cases());
    embedded.group("GOLDEN_REDUCER", &golden_reducer::cases());
    embedded.group("TEXT", &[text_case()]);
    embedded.group("LATENT", &golden_latent::by_hand());
    embedded.known_latent();
    embedded.signed_group("SIGNED", &signed_cases());
    let Embedded { out, source, .. } = embedded;
    fs::write(out.join("embedded.rs"), source).expect("OUT_DIR can be written");
}

/// The golden cases that are signed, in order.
fn signed_cases() -> Vec<Case> {
    let mut cases: Vec<Case> = golden::cases().into_iter().chain(golden_latent::cases()).collect();
    cases.retain(|case| SIGNED.contains(&case.name.as_str()));
    cases.sort_by_key(|case| case.model.len());
    assert_eq!(cases.len(), SIGNED.len(), "the cases that are signed are golden ones");
    cases
}

/// Puts each case into the shortest list, the largest first, so that every list has models of every layout,
/// and its image the kernels that are checked.
fn shared_out<const LISTS: usize>(mut cases: Vec<Case>) -> [Vec<Case>; LISTS] {
    cases.sort_by_key(|case| Reverse(case.model.len()));
    let mut lists = [const { Vec::new() }; LISTS];
    let bytes = |list: &Vec<Case>| list.iter().map(|case| case.model.len()).sum::<usize>();
    for case in cases {
        let list = lists.iter_mut().min_by_key(|list| bytes(list)).expect("there are images");
        assert!(bytes(list) + case.model.len() <= GOLDEN_BYTES, "the golden cases need one more image");
        list.push(case);
    }
    lists
}

fn link(out: &Path) {
    println!("cargo::rerun-if-changed=memory");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(armv8m_main)");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target.starts_with("thumbv8m.main") {
        println!("cargo::rustc-cfg=armv8m_main");
    }
    let map = match target.as_str() {
        "thumbv6m-none-eabi" => "microbit",
        "thumbv7m-none-eabi" | "thumbv7em-none-eabi" | "thumbv7em-none-eabihf" => "mps2",
        "thumbv8m.base-none-eabi" | "thumbv8m.main-none-eabi" | "thumbv8m.main-none-eabihf" => "mps2-an505",
        "riscv32imac-unknown-none-elf" => "virt",
        other if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") => return link_on_host(other),
        other => panic!("no memory map for {other}: add one to memory/ and name it here"),
    };
    let map = variable("QUAVER_MEMORY").unwrap_or_else(|| map.into());
    println!("cargo::rustc-check-cfg=cfg(ram_16k)");
    if map == "microbit" {
        println!("cargo::rustc-cfg=ram_16k");
    }
    fs::copy(format!("memory/{map}.x"), out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    // The smallest core has 256 KB of flash at address 0: no room for padding to pages.
    println!("cargo::rustc-link-arg-bins=--nmagic");
}

/// Images that begin at `_start` and have nothing of the host but copying of memory.
fn link_on_host(target: &str) {
    assert!(target.ends_with("linux-gnu"), "images can be linked for Linux with glibc, not for {target}");
    println!("cargo::rustc-link-arg-bins=-nostartfiles");
    println!("cargo::rustc-link-arg-bins=-lc");
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

/// The chosen case; of benchmarks maybe several, for one kind of stream.
fn chosen_cases() -> Vec<Case> {
    let (model, name) = (variable("QUAVER_MODEL"), variable("QUAVER_CASE"));
    let stream = variable("QUAVER_STREAM");
    let mut cases = match (model, name) {
        (Some(_), Some(_)) => panic!("QUAVER_MODEL and QUAVER_CASE are both set: keep one"),
        (Some(path), None) => vec![case_from_file(&path)],
        (None, Some(names)) => names.split(',').map(built_in).collect(),
        (None, None) => vec![gait::case()],
    };
    if let Some(path) = stream {
        cases.iter_mut().for_each(|case| case.stream = numbers(&path, case.inputs));
    }
    cases
}

/// The model that the image `text` writes with: that of `QUAVER_MODEL` if it is one of text, or the built-in
/// one.
fn text_case() -> Case {
    let chosen = variable("QUAVER_MODEL").map(|path| case_from_file(&path));
    let is_text = |case: &Case| {
        Model::load(&case.model).is_ok_and(|model| {
            let (spec, names) = (model.spec(), model.checkpoint());
            spec.target == Target::Next
                && spec.likelihood == Likelihood::Categorical
                && names.output_names().next().is_some()
        })
    };
    chosen.filter(is_text).unwrap_or_else(golden_text::example)
}

/// The model of the image `reducer_only`: the chosen one if it is a reducer, or a golden one.
fn reducer_case(chosen: &Case) -> Case {
    let golden = || golden_reducer::cases().swap_remove(0);
    if chosen.task == Task::Reduce { chosen.clone() } else { golden() }
}

/// The model of the image `static_only`: the chosen one if it can be known while compiling and its backend is
/// built in, or a golden one.
fn known_case(chosen: &Case) -> Case {
    let golden = || golden::cases().into_iter().find(is_built_in).expect("a golden case of every backend");
    if is_built_in(chosen) { chosen.clone() } else { golden() }
}

/// Whether the backends of a predictor or of a latent model are built in.
fn is_built_in(case: &Case) -> bool {
    let layouts = match LatentModel::load(&case.model) {
        Ok(model) => [model.recognition(), model.generative()].map(|network| network.spec().layout).to_vec(),
        Err(_) => Model::load(&case.model).map_or(Vec::new(), |model| vec![model.spec().layout]),
    };
    let feature = |layout: &Layout| if layout.is_quantized() { "QUANTIZED" } else { "FLOAT" };
    !layouts.is_empty() && layouts.iter().all(|layout| has_feature(feature(layout)))
}

/// The type that runs a model, the method with which it reads a row, and the macro that makes a type of it.
fn kind_of(model: &[u8]) -> [&'static str; 3] {
    match LatentModel::load(model).map(|model| model.spec().family) {
        Ok(Family::Vosp) => ["Denoiser", "step", "embed_denoiser"],
        Ok(Family::Storn) => ["Sampler", "observe", "embed_sampler"],
        Err(_) => ["Predictor", "step", "embed_model"],
    }
}

/// Whether a feature of this crate is on.
fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn built_in(name: &str) -> Case {
    let others = || {
        let cases = golden_latent::cases().into_iter().chain(golden_adaptive::cases());
        cases.chain(golden_pruned::cases()).chain(golden_text::cases()).chain(golden_reducer::cases())
    };
    let golden = || golden::cases().into_iter().chain(others()).find(|case| case.name == name);
    bench::case(name).or_else(golden).unwrap_or_else(|| {
        panic!(
            "QUAVER_CASE: there is no {name:?}; take a name from tests/golden/streams.txt, or lstm-16-64-int8"
        )
    })
}

fn case_from_file(path: &str) -> Case {
    let bytes = read(path);
    let inputs = match Kind::of(&bytes) {
        Some(Kind::Latent) => LatentModel::load(&bytes).map(|model| model.channels()),
        Some(Kind::Reducer) => ReducerModel::load(&bytes).map(|model| model.network().spec().inputs.into()),
        _ => Model::load(&bytes).map(|model| model.spec().inputs.into()),
    };
    let inputs = inputs.unwrap_or_else(|error| panic!("QUAVER_MODEL {path}: {error}"));
    let name = Path::new(path).file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    let task = if Kind::of(&bytes) == Some(Kind::Reducer) { Task::Reduce } else { Task::Follow };
    Case { name, inputs, stream: bench::noise(inputs, NOISE_ROWS), model: bytes, task }
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

/// Whether a case is a latent model that samples.
fn is_sampler(case: &Case) -> bool {
    LatentModel::load(&case.model).is_ok_and(|model| model.spec().family == Family::Storn)
}

/// Begins the documentation of a function that loads a model.
const LOADS: &str = "/// Loads [`CHOSEN`].\n\
     pub fn load<'m, 'a, const WORDS: usize>(\n    model: &'m [u8],\n    arena: &'a mut quaver::Arena<WORDS>,\n\
     ) -> Result<Chosen<'m, 'a>, quaver::Error> {";

/// The type that runs the chosen reducer; it has read some rows, so that there is something to classify.
fn chosen_reducer() -> String {
    format!(
        "/// What runs [`CHOSEN`].\n\
         pub type Chosen<'m, 'a> = quaver::Reducer<'m, 'a>;\n\
         {LOADS}\n    \
             let mut stream = Chosen::load(model, arena)?;\n    \
             (0..3).for_each(|_| stream.step(&[0.5; CHOSEN_ROW]));\n    \
             Ok(stream)\n\
         }}"
    )
}

/// The same as a type that is known while compiling: nothing is loaded.
fn known_stream() -> String {
    "/// What runs [`CHOSEN`].\n\
     pub type Chosen<'m, 'a> = quaver::Predictor<'m, 'a, Known>;\n\
     /// Begins a stream of [`CHOSEN`].\n\
     pub fn load<'a, const WORDS: usize>(\n    \
         _: &'static [u8],\n    \
         arena: &'a mut quaver::Arena<WORDS>,\n\
     ) -> Result<Chosen<'static, 'a>, quaver::Error> {\n    \
         Ok(quaver::Predictor::embedded(Known, arena))\n\
     }\n\
     /// Shows a row to [`CHOSEN`].\n\
     pub fn step<'s>(stream: &'s mut Chosen<'_, '_>, row: &[f32]) -> quaver::Prediction<'s> {\n    \
         stream.step(row)\n\
     }\n\
     /// Tells [`CHOSEN`] the truth about its last prediction, if it can follow it.\n\
     pub fn follow(stream: &mut Chosen<'_, '_>, truth: &[f32]) {\n    \
         stream.observe(truth);\n\
     }"
    .into()
}

/// The type that runs the chosen model, and how it takes in a row.
fn chosen_stream(case: &Case) -> String {
    if case.task == Task::Reduce {
        return chosen_reducer();
    }
    let family = LatentModel::load(&case.model).map(|model| model.spec().family);
    let (stream, step) = match family {
        Ok(Family::Vosp) => ("Denoiser", "step"),
        Ok(Family::Storn) => ("Sampler", "observe"),
        Err(_) if case.task.adaptation().is_some() => ("AdaptivePredictor", "learn(row);\n    stream.step"),
        Err(_) => ("Predictor", "step"),
    };
    let follow = if stream == "Predictor" { "stream.observe(truth);" } else { "" };
    // As a type, known while compiling, if that is what is to be measured.
    if stream == "Predictor" && variable("QUAVER_KNOWN").is_some() {
        return known_stream();
    }
    let options = match case.task.adaptation() {
        Some(_) => format!(", Task::{:?}.adaptation().unwrap_or_default()", case.task),
        None => String::new(),
    };
    format!(
        "/// What runs [`CHOSEN`].\n\
         pub type Chosen<'m, 'a> = quaver::{stream}<'m, 'a>;\n\
         {LOADS}\n    \
             Chosen::load(model, arena{options})\n\
         }}\n\
         /// Shows a row to [`CHOSEN`].\n\
         pub fn step<'s>(stream: &'s mut Chosen<'_, '_>, row: &[f32]) -> quaver::Prediction<'s> {{\n    \
             stream.{step}(row)\n\
         }}\n\
         /// Tells [`CHOSEN`] the truth about its last prediction, if it can follow it.\n\
         #[allow(unused_variables)] // not every kind of stream can\n\
         pub fn follow(stream: &mut Chosen<'_, '_>, truth: &[f32]) {{\n    \
             {follow}\n\
         }}"
    )
}

/// What is measured of the chosen model, and the memory that it takes in addition to its arena.
fn measured_work(case: &Case) -> String {
    const ROLLOUTS: usize = bench::ROLLOUTS;
    let step = if is_sampler(case) { "observe_uncertain" } else { "step_uncertain" };
    let (words, work) = match case.task {
        Task::Text => (0, "black_box(stream.step_token(black_box(0)));".into()),
        Task::Reduce if case.name.ends_with(bench::CLASSIFY) => {
            (0, "black_box(stream.classify().is_some());".into())
        }
        Task::Reduce => (0, "stream.step_uncertain(black_box(row), black_box(vars));".into()),
        Task::Follow => (0, format!("black_box(stream.{step}(black_box(row), black_box(vars)));")),
        Task::Adapt | Task::AdaptDiagonal if case.name.contains(bench::UNLABELLED) => {
            (0, "black_box(stream.step(black_box(row)));".into())
        }
        Task::Adapt | Task::AdaptDiagonal => (
            0,
            "black_box(stream.step(black_box(row)));\n    black_box(stream.learn(black_box(row)));".into(),
        ),
        Task::Sample => (0, "black_box(stream.sample(rng, quaver::FeedMode::Draw));".into()),
        Task::Rollouts => {
            let words =
                ROLLOUTS * LatentModel::load(&case.model).expect("rollouts are of a sampler").future_words();
            let rollouts = format!(
                "let Ok(mut rollouts) = quaver::Rollouts::<{ROLLOUTS}>::new(stream, futures) else {{ return }};"
            );
            (
                words,
                format!(
                    "{rollouts}\n    rollouts.advance(rng, quaver::FeedMode::Draw);\n    black_box(rollouts.mean(0));"
                ),
            )
        }
    };
    format!(
        "/// Words of the futures that [`work`] shows.\npub const ROLLOUT_WORDS: usize = {words};\n\
         /// Whether [`work`] reads rows.\npub const READS_ROWS: bool = {};\n\
         /// Does once what is measured of [`CHOSEN`].\n\
         #[allow(unused_variables)] // each kind of work needs some\n\
         #[inline(always)] // nothing is measured but the work\n\
         pub fn work(\n    stream: &mut Chosen<'_, '_>,\n    row: &[f32],\n    vars: &[f32],\n    futures: &mut quaver::Arena<ROLLOUT_WORDS>,\n    \
             rng: &mut Numbers,\n) {{\n    {work}\n}}",
        matches!(case.task, Task::Follow | Task::Adapt | Task::AdaptDiagonal | Task::Reduce)
    )
}

/// Writes the files that cases are made of, each once, and the source that includes them.
struct Embedded {
    out: PathBuf,
    source: String,
    /// The constants that hold bytes which have been written.
    constants: BTreeMap<Vec<u8>, String>,
}

impl Embedded {
    fn line(&mut self, text: String) {
        writeln!(self.source, "{text}").expect("a string can be written");
    }

    /// The source of a model as a type, as `quaver export` writes it.
    fn known_model(&self, visibility: &str, name: &str, model: &[u8]) -> String {
        let path = self.out.join(name);
        fs::write(&path, model).expect("OUT_DIR can be written");
        let seal = quaver::checkpoint::seal(model).expect("a checkpoint of a predictor or latent model");
        let [_, _, embed] = kind_of(model);
        format!(
            "quaver::{embed}! {{\n    /// A model that is known while compiling.\n    \
             {visibility}struct {name}({path:?}, seal = {seal:#x});\n}}\n"
        )
    }

    /// Adds a model as the type `Known`, and how its stream takes in a row.
    fn known_stream(&mut self, model: &[u8]) {
        self.line(self.known_model("pub ", "Known", model));
        let [stream, step, _] = kind_of(model);
        let follow = if stream == "Predictor" { "stream.observe(truth);" } else { "" };
        self.line(format!(
            "/// A stream of [`Known`].\n\
             pub type KnownStream<'a> = quaver::{stream}<'static, 'a, Known>;\n\
             /// Shows a row to [`Known`].\n\
             #[inline(always)] // its size is counted\n\
             pub fn step_known<'s>(stream: &'s mut KnownStream<'_>, row: &[f32]) -> quaver::Prediction<'s> {{\n    \
                 stream.{step}(row)\n\
             }}\n\
             /// Tells [`Known`] the truth about its last prediction, if it can follow it.\n\
             #[allow(unused_variables)] // not every kind of stream can\n\
             #[inline(always)]\n\
             pub fn follow_known(stream: &mut KnownStream<'_>, truth: &[f32]) {{\n    \
                 {follow}\n\
             }}"
        ));
    }

    /// Adds a denoiser and a sampler as types.
    fn known_latent(&mut self) {
        for (name, case) in [("KnownDenoiser", "denoiser-follow"), ("KnownSampler", "sampler-follow")] {
            let found = golden_latent::cases()
                .into_iter()
                .find(|golden| golden.name.starts_with(case) && is_built_in(golden));
            let found = found.expect("a golden case of every backend");
            self.line(self.known_model("pub ", name, &found.model));
        }
    }

    /// Adds the golden cases of these names. A file of its own has them as types and a function that replays
    /// them: compiling each of them takes as long as a loaded model, so that only their image includes it.
    fn known_group(&mut self, group: &str, names: &[&str], cases: &[Case]) {
        let known: Vec<Case> = cases.iter().filter(|case| names.contains(&&*case.name)).cloned().collect();
        assert_eq!(known.len(), names.len(), "the cases that are known are golden ones");
        self.group(group, &known);
        let (mut types, mut replays) = (String::new(), String::new());
        for (index, case) in known.iter().enumerate() {
            let [stream, ..] = kind_of(&case.model);
            let name = format!("Known{stream}{index}");
            types += &self.known_model("", &name, &case.model);
            let print = match stream {
                "Denoiser" => format!("print_known_denoiser::<_, {{ jobs::{group}_ROW }}>"),
                "Sampler" => {
                    format!("print_known_sampler::<_, {{ jobs::{group}_FUTURES }}, {{ jobs::{group}_ROW }}>")
                }
                _ => format!("print_known_fingerprint::<_, {{ jobs::{group}_ROW }}>"),
            };
            writeln!(
                replays,
                "    let mut arena = {name}::arena();\n    \
                 quaver_qemu::{print}(&jobs::{group}[{index}], {name}::start(&mut arena));"
            )
            .expect("a string can be written");
        }
        let source = format!(
            "{types}/// Replays the golden cases as types.\nfn replay() {{\n    use quaver_qemu::jobs;\n{replays}}}\n"
        );
        let file = format!("{}.rs", group.to_lowercase());
        fs::write(self.out.join(file), source).expect("OUT_DIR can be written");
    }

    /// Adds a model in a signed envelope.
    fn signed_model(&mut self, name: &str, model: &[u8]) {
        let envelope = signing::sealed(model, SIGNED_COUNTER);
        let file = self.constant("quaver::include_checkpoint", &envelope);
        self.line(format!("/// A model in an envelope that is signed with [`SIGNED_KEY`].\npub static {name}: &[u8] = {file};"));
    }

    /// Like [`group`](Self::group), with every model in a signed envelope, and what it takes to open them.
    fn signed_group(&mut self, group: &str, cases: &[Case]) {
        let envelopes: Vec<Vec<u8>> =
            cases.iter().map(|case| signing::sealed(&case.model, SIGNED_COUNTER)).collect();
        let jobs = cases.iter().zip(&envelopes).map(|(case, envelope)| self.job(case, envelope)).collect();
        self.jobs(group, cases, jobs);
        let smallest = envelopes.first().map_or(0, Vec::len);
        for (what, item) in [
            ("Public key of", format!("KEY: [u8; 32] = {:?}", signing::public_key().as_bytes())),
            ("Counter of", format!("COUNTER: u32 = {SIGNED_COUNTER}")),
            ("Bytes of the first, smallest one of", format!("BYTES: usize = {smallest}")),
        ] {
            self.line(format!("/// {what} [`{group}`].\npub const {group}_{item};"));
        }
    }

    /// Adds some cases, with the memory that suffices for all.
    fn group(&mut self, group: &str, cases: &[Case]) {
        let jobs = cases.iter().map(|case| self.job(case, &case.model)).collect();
        self.jobs(group, cases, jobs);
    }

    fn jobs(&mut self, group: &str, cases: &[Case], jobs: Vec<String>) {
        let words = cases.iter().map(|case| replay::words(&case.model, case.task).expect("a case loads"));
        let [arena, futures] =
            words.fold([0, 0], |[arena, futures], words| [arena.max(words[0]), futures.max(words[1])]);
        let row = cases.iter().map(|case| case.inputs).max().unwrap_or(0);
        let sizes = [
            ("Arena words that suffice for", "ARENA", arena),
            ("Words that suffice for the rollouts of", "FUTURES", futures),
            ("Channels of the widest row of", "ROW", row),
        ];
        for (what, name, size) in sizes {
            self.line(format!("/// {what} [`{group}`].\npub const {group}_{name}: usize = {size};"));
        }
        let count = cases.len();
        self.line(format!("/// Embedded by the build script.\npub static {group}: [Job; {count}] = ["));
        jobs.into_iter().for_each(|job| self.line(job));
        self.line("];".into());
    }

    /// A case with a file for its model.
    fn job(&mut self, case: &Case, model: &[u8]) -> String {
        let stream: Vec<u8> = case.stream.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (model, stream) =
            (self.constant("quaver::include_checkpoint", model), self.constant("include_bytes", &stream));
        let (name, inputs, task) = (&case.name, case.inputs, case.task);
        let [arena, _] = replay::words(&case.model, task).expect("a case loads");
        format!(
            "    Job {{ name: {name:?}, inputs: {inputs}, arena: {arena}, model: {model}, stream: {stream}, \
             task: Task::{task:?} }},"
        )
    }

    /// The constant that holds some bytes, included by the macro `include`.
    fn constant(&mut self, include: &str, bytes: &[u8]) -> String {
        if let Some(name) = self.constants.get(bytes) {
            return name.clone();
        }
        let name = format!("FILE_{}", self.constants.len());
        let path = self.out.join(&name);
        fs::write(&path, bytes).expect("OUT_DIR can be written");
        self.line(format!("const {name}: &[u8] = {include}!({path:?});"));
        self.constants.insert(bytes.into(), name.clone());
        name
    }
}
