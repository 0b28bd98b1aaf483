//! Names, cells, settings and sizes that are meant to do harm.

mod place;

use std::fs;
use std::process::{Command, Output};

use crc::{CRC_32_ISO_HDLC, Crc};
use place::{CONFIG, Place, fails, quaver, run, succeeds};

/// Clears the screen of a terminal.
const CLEAR: &str = "\u{1b}[2J";

fn assert_harmless(output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        let acts = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(!text.contains(acts), "{text:?}");
    }
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let place = Place::new();
    let train = |config: &str| {
        let output = run(&["train", &place.at(config), "--out", &place.at("out")]);
        assert!(!output.status.success() && !place.path("out").exists());
        assert_harmless(&output);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let rows = fs::read_to_string(place.path("train.csv")).expect("the data");
    let config = |name: &str, data: &str| {
        place.write("bad.csv", data);
        place.write(name, &CONFIG.replace("train.csv", "bad.csv"));
    };
    for character in ["\u{1b}[2J", "\u{7f}", "\u{9b}2J", "\u{202e}", "\u{7}"] {
        config("name.toml", &rows.replacen("a,b,sum", &format!("a,b{character},sum"), 1));
        let errors = train("name.toml");
        assert!(errors.contains("bad.csv:1: column 2: the control character U+"), "{errors}");
        let cell = format!("a,b,sum\n1,2,3{character}\n");
        config("cell.toml", &cell);
        let errors = train("cell.toml");
        assert!(errors.contains("bad.csv:2: column `sum`: found `3"), "{errors}");
    }
    place.write("file.toml", &CONFIG.replace("'train.csv'", "\"\\u001b[2J.csv\""));
    let errors = train("file.toml");
    assert!(errors.contains("`data.train` has the control character U+001B in a path"), "{errors}");
    let output = run(&["inspect", &format!("{}\n.qvr", place.at(CLEAR))]);
    assert!(!output.status.success());
    assert_harmless(&output);
}

/// A folder with a model whose inputs and target have these names.
fn with_names(inputs: &str, target: &str) -> Place {
    let place = Place::new();
    place.write("config.toml", &CONFIG.replace("'sum'", &format!("'{target}'")));
    place.rename_columns(&format!("{inputs},{target}"));
    place.train();
    place.export("int8", "model.qvr");
    place
}

#[test]
fn a_checkpoint_with_control_characters_in_its_names_is_refused() {
    let place = with_names("a,b", "target");
    let mut bytes = fs::read(place.path("model.qvr")).expect("the checkpoint");
    let at = bytes.windows(6).position(|window| window == b"target").expect("its name");
    bytes[at..at + 4].copy_from_slice(CLEAR.as_bytes());
    let body = bytes.len() - 4;
    let crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&bytes[..body]);
    bytes[body..].copy_from_slice(&crc.to_le_bytes());
    fs::write(place.path("hostile.qvr"), bytes).expect("a writable folder");
    let model = place.at("hostile.qvr");
    let rows = place.at("test.csv");
    let config = place.at("config.toml");
    for arguments in [
        &["inspect", &model][..],
        &["inspect", &model, "--json"],
        &["run", &model, "--input", &rows],
        &["denoise", &model, "--input", &rows],
        &["adapt", &model, "--in", &rows],
        &["eval", &model, "--data", &config],
    ] {
        let output = run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(errors.contains("hostile.qvr is not a usable checkpoint"), "{arguments:?}: {errors}");
        assert_harmless(&output);
    }
}

#[test]
fn a_name_that_is_a_formula_stays_a_name() {
    let place = with_names("-a+1,@b", "=SUM(1+2)");
    let predictions = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("test.csv")]);
    let header = predictions.lines().next().expect("a header");
    assert!(header.starts_with("\"'=SUM(1+2).mean\",\"'=SUM(1+2).std_dev\","), "{header}");
    let first = predictions.lines().nth(1).expect("a row");
    assert!(first.split(',').all(|cell| cell.parse::<f32>().is_ok()), "{first}");
    // The names that were written are the names that are read.
    place.write("again.csv", "\"'-a+1\",\"'@b\"\n1,2\n");
    let again = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("again.csv")]);
    assert_eq!(again.lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn an_export_does_not_write_through_links() {
    let place = Place::new();
    place.train();
    place.write("victim", "precious");
    for name in ["model.qvr", "model.rs"] {
        let link = place.path(&format!(".{name}.tmp"));
        std::os::unix::fs::symlink(place.path("victim"), link).expect("a link");
    }
    place.export("int8", "model.qvr");
    assert_eq!(fs::read_to_string(place.path("victim")).expect("the file"), "precious");
    assert!(fs::symlink_metadata(place.path("model.qvr")).expect("the model").is_file());
}

#[test]
fn a_number_of_threads_is_checked() {
    let place = Place::new();
    let train = |threads: &str, out: &str| {
        let arguments = ["train", &place.at("config.toml"), "--out", &place.at(out)];
        quaver().args(arguments).env("QUAVER_THREADS", threads).output().expect("the binary starts")
    };
    for threads in ["0", "-1", "two", "", "1e3", "1000000", "18446744073709551615", "99999999999999999999"] {
        let output = train(threads, "refused");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{threads}: {errors}");
        assert!(
            errors.contains(&format!("QUAVER_THREADS is `{threads}`: set it to a number from 1 to")),
            "{errors}"
        );
        assert!(!place.path("refused").exists());
    }
    for threads in ["1", "3", "1024"] {
        let output = train(threads, threads);
        assert!(output.status.success(), "{threads}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |run: &str| fs::read(place.path(run).join("last.state")).expect("the state");
        assert!(read("1") == read(threads), "the bits do not depend on the threads");
    }
}

/// Runs `quaver train` with little address space.
#[cfg(target_os = "linux")]
fn train_in_gigabytes(place: &Place, gigabytes: u32, more: &[&str]) -> Output {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", gigabytes << 20);
    command.args(["-c", &script, env!("CARGO_BIN_EXE_quaver"), "train", &place.at("config.toml")]);
    command.args(["--out", &place.at("run")]).args(more).output().expect("a shell")
}

#[cfg(target_os = "linux")]
#[test]
fn a_net_that_does_not_fit_into_memory_is_refused_with_what_it_needs() {
    let place = Place::new();
    let output = train_in_gigabytes(
        &place,
        8,
        &["--set", "model.layers=[4096, 4096, 4096, 4096]", "--set", "model.cell=lstm"],
    );
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("training a model of 469864449 parameters needs about"), "{errors}");
    assert!(errors.contains("GiB are available: lower model.layers"), "{errors}");
    assert!(!place.path("run").exists(), "nothing is left behind");
    assert!(train_in_gigabytes(&place, 8, &[]).status.success(), "a small one fits");
}

#[cfg(target_os = "linux")]
#[test]
fn a_piano_roll_that_does_not_fit_into_memory_is_refused_with_what_it_needs() {
    let place = Place::new();
    let silence = ";".repeat(30 << 20);
    place.write("long.txt", &silence);
    let config = CONFIG.replace("train.csv", "long.txt").replace("targets = ['sum']", "targets = 'next'");
    place.write("config.toml", &config);
    let output = train_in_gigabytes(&place, 8, &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("long.txt: a piano roll of 31457281 steps and 88 keys needs about 10.3 GiB"),
        "{errors}"
    );
}

#[test]
fn settings_that_are_no_toml_are_told_by_name() {
    let place = Place::new();
    fails(
        &["train", &place.at("config.toml"), "--out", &place.at("out"), "--set", "model.cell=\u{9b}"],
        &["U+009B"],
    );
}
