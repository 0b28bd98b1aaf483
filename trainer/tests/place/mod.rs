//! A small experiment in a temporary folder, and the binary that is tried on it.
// Every test file uses its own part of this.
#![allow(dead_code, unused_imports)]

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary under test.
pub(crate) fn quaver() -> Command {
    Command::new(env!("CARGO_BIN_EXE_quaver"))
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    quaver().args(arguments).output().expect("the binary starts")
}

/// Standard output of a call that must succeed.
pub(crate) fn succeeds(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "quaver {}: {errors}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Standard error of a call that must fail, checked for what it names.
pub(crate) fn fails(arguments: &[&str], names: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success(), "quaver {} should fail", arguments.join(" "));
    assert!(!errors.contains("panicked"), "{errors}");
    for name in names {
        assert!(errors.contains(name), "{errors:?} should name {name:?}");
    }
    errors
}

/// A call that reads rows from a pipe while it answers.
pub(crate) struct LivePipe {
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl LivePipe {
    pub(crate) fn open(arguments: &[&str]) -> Self {
        let mut child = quaver()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        LivePipe { child, input, answers }
    }

    /// Writes text, and waits for the next line of the answer: without flushing on the other side this would
    /// hang.
    pub(crate) fn answer(&mut self, text: &str) -> String {
        self.input.write_all(text.as_bytes()).expect("the binary reads");
        self.input.flush().expect("the binary reads");
        self.answers.next().expect("an answer").expect("UTF-8")
    }

    /// Ends the input, and waits for the binary to succeed.
    pub(crate) fn close(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("the binary ends").success());
    }
}

/// A folder with a small experiment: two inputs whose sum, one step late, is the target.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Place { folder: tempfile::tempdir().expect("a temporary folder") };
        for (name, rows) in [("train", 400), ("valid", 120), ("test", 120)] {
            place.write(&format!("{name}.csv"), &rows_of(rows));
        }
        place.write("config.toml", CONFIG);
        place
    }

    /// A folder with a trained run in `run`, exported as `model.qvr`.
    pub(crate) fn with_model(weights: &str) -> Self {
        let place = Place::new();
        place.train();
        place.export(weights, "model.qvr");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a writable folder");
    }

    /// Gives the columns of all recordings other names.
    pub(crate) fn rename_columns(&self, header: &str) {
        for name in ["train.csv", "valid.csv", "test.csv"] {
            let text = fs::read_to_string(self.path(name)).expect("the data");
            let (_, rows) = text.split_once('\n').expect("a header");
            self.write(name, &format!("{header}\n{rows}"));
        }
    }

    /// Asserts that two runs have ended alike, bit for bit.
    pub(crate) fn assert_same_runs(&self, one: &str, other: &str) {
        for file in ["best.state", "last.state", "metrics.csv", "metrics.jsonl", "config.toml"] {
            let read = |run: &str| fs::read(self.path(run).join(file)).expect("a file of the run");
            assert!(read(one) == read(other), "{file} of {one} and {other} differ");
        }
    }

    /// Trains a few epochs into the folder `run`.
    pub(crate) fn train(&self) {
        succeeds(&["train", &self.at("config.toml"), "--out", &self.at("run")]);
    }

    /// Trains again in two parts, and compares every file with that of the run in `run`.
    pub(crate) fn resumes_with_the_same_bits(&self, config: &str) {
        succeeds(&["train", config, "--out", &self.at("parts"), "--set", "training.epochs=2"]);
        succeeds(&["train", config, "--out", &self.at("parts"), "--resume"]);
        for file in ["best.state", "last.state", "metrics.csv", "metrics.jsonl"] {
            let read = |run: &str| fs::read(self.path(run).join(file)).expect("a file of the run");
            assert_eq!(read("run"), read("parts"), "{file}");
        }
    }

    pub(crate) fn export(&self, weights: &str, name: &str) -> String {
        succeeds(&["export", &self.at("run"), "--weights", weights, "-o", &self.at(name)])
    }

    /// Asserts that `model.rs` makes a type of `model.qvr` with this macro, and that its seal is right.
    pub(crate) fn has_type(&self, embed: &str) {
        let constants = fs::read_to_string(self.path("model.rs")).expect("constants next to the model");
        let model = fs::read(self.path("model.qvr")).expect("the model");
        let seal = quaver::checkpoint::seal(&model).expect("a sound model");
        let embedded = format!(r#"pub struct Embedded("model.qvr", seal = {seal:#018x});"#);
        assert!(constants.contains(&format!("quaver::{embed}! {{")), "{constants}");
        assert!(constants.contains(&embedded), "{constants}");
    }
}

/// A config for the recordings of [`Place::new`]: lines of `[data]` and further sections, then the number of
/// epochs.
macro_rules! config {
    ($sections:literal, $epochs:literal) => {
        concat!(
            "\nseed = 3\n[data]\ntrain = 'train.csv'\nvalid = 'valid.csv'\ntest = 'test.csv'\n",
            $sections,
            "[training]\nbatch = 4\nchunk = 40\nlearning_rate = 0.02\nepochs = ",
            $epochs,
            "\n"
        )
    };
}
pub(crate) use config;

pub(crate) const CONFIG: &str = config!("targets = ['sum']\n[model]\ncell = \"tanh\"\nlayers = [6]\n", 4);

fn rows_of(count: usize) -> String {
    let mut text = String::from("a,b,sum\n");
    let value = |t: usize, k: f32| 5.0 + 2.0 * (t as f32 * k).sin();
    let mut last = 10.0;
    for t in 0..count {
        let (a, b) = (value(t, 0.37), value(t, 0.73));
        let a_cell = if t % 17 == 5 { String::new() } else { a.to_string() };
        text += &format!("{a_cell},{b},{last}\n");
        last = a + b;
    }
    text
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
