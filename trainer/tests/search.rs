//! Searches on the command line: killed, continued, refused.

mod place;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use place::{CONFIG, Place, fails, json, quaver, succeeds};

const SEARCH: &str = "
[search]
training.learning_rate = { log_uniform = [1e-4, 1e-1] }
model.layers = { choice = [[4], [8]] }
halving = { first_epochs = 8, factor = 2 }
";

fn place() -> Place {
    let place = Place::new();
    place.write("search.toml", &(CONFIG.replace("epochs = 4", "epochs = 24\npatience = 0") + SEARCH));
    place
}

fn search(place: &Place, out: &str) -> Vec<String> {
    let arguments =
        ["search", &place.at("search.toml"), "--trials", "5", "--jobs", "2", "--out", &place.at(out)];
    arguments.map(String::from).to_vec()
}

fn run(place: &Place, out: &str) -> String {
    succeeds(&search(place, out).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Starts a search and kills it, without a chance to tidy up, after a number of lines of progress.
fn kill_after(place: &Place, out: &str, lines: usize) {
    let mut child =
        quaver().args(search(place, out)).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let errors = child.stderr.take().expect("a pipe");
    let seen = BufReader::new(errors).lines().take(lines).count();
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert_eq!(seen, lines, "the search ended before it was killed");
}

#[test]
fn a_search_that_was_killed_goes_on_and_ends_the_same() {
    let place = place();
    let printed = run(&place, "whole");
    assert!(printed.contains("quaver export") && printed.contains("importance: "), "{printed}");
    // In the first stage, with trials half done; between stages; in the second. On a busy machine trials that
    // were under way may finish before the next search starts, which leaves it fewer lines.
    for lines in [1, 3, 1] {
        kill_after(&place, "parts", lines);
    }
    run(&place, "parts");
    assert_same(&place);
}

/// Asserts that the search that was stopped and the one that was not have ended alike.
fn assert_same(place: &Place) {
    for file in ["leaderboard.csv", "best/best.state", "best/metrics.csv", "trials/0003/last.state"] {
        let read = |out: &str| fs::read(place.path(out).join(file)).expect("a file of the search");
        assert_eq!(read("whole"), read("parts"), "{file}");
    }
}

/// Ctrl-C in a terminal: an interrupt to the search and to the trials under way, which are of the same
/// process group.
#[cfg(unix)]
#[test]
fn a_search_that_was_interrupted_goes_on_and_ends_the_same() {
    use std::os::unix::process::CommandExt;
    let place = place();
    run(&place, "whole");
    let mut command = quaver();
    let mut child = command
        .args(search(&place, "parts"))
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the binary starts");
    let seen = BufReader::new(child.stderr.take().expect("a pipe")).lines().take(2).count();
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status().expect("kill");
    assert!(sent.success() && seen == 2, "the search ended before it was interrupted");
    assert!(!child.wait().expect("it ends").success());
    run(&place, "parts");
    assert_same(&place);
}

#[test]
fn the_best_run_is_ready_to_export() {
    let place = place();
    let arguments =
        ["search", &place.at("search.toml"), "--trials", "3", "--out", &place.at("out"), "--json"];
    let found = json(&succeeds(&arguments));
    assert_eq!(found["trials"].as_array().expect("a list").len(), 3);
    assert_eq!(found["best"]["trial"], found["trials"][0]["trial"]);
    assert!(found["trials"][0]["values"]["training.learning_rate"].is_number());
    assert_eq!(found["importance"].as_array().expect("a list").len(), 2);
    succeeds(&["export", &place.at("out/best"), "-o", &place.at("model.qvr")]);
    let scores =
        ["eval", &place.at("out/best"), "--data", &place.at("config.toml"), "--split", "valid", "--json"];
    let nll = json(&succeeds(&scores))["nll_standardised"].as_f64().expect("a number");
    let promised = found["trials"][0]["valid_nll"].as_f64().expect("a number");
    // Refitting the noise to the validation data after training can only lower the loss there.
    assert!(nll < promised + 1e-4, "the best run has at most the loss it won with: {nll} against {promised}");
    let page = fs::read_to_string(place.path("out/report.html")).expect("a report");
    assert!(page.contains("Importance of keys") && page.contains("training.learning_rate"));
}

#[test]
fn errors_of_searches_say_what_and_where() {
    let place = place();
    let out = place.at("out");
    let with = |config: &str, names: &[&str]| {
        fails(&["search", &place.at(config), "--trials", "2", "--out", &out], names);
    };
    with("config.toml", &["config.toml", "[search]", "log_uniform"]);
    place.write("typo.toml", &format!("{CONFIG}[search]\nnoise.input_keep = {{ uniform = [1, 0.5] }}\n"));
    with("typo.toml", &["typo.toml:17", "search.noise.input_keep", "below"]);
    place.write("key.toml", &format!("{CONFIG}[search]\nnoise.inputs_keep = {{ uniform = [0.5, 1] }}\n"));
    with("key.toml", &["trial 0", "inputs_keep", "input_keep"]);
    let search = fs::read_to_string(place.path("search.toml")).expect("the config");
    place.write("data.toml", &search.replace("train.csv", "absent.csv"));
    with("data.toml", &["absent.csv"]);
    fails(&["search", &place.at("search.toml"), "--trials", "0", "--out", &out], &["--trials", "1..=9999"]);
    assert!(!place.path("out").exists(), "a search that cannot start leaves nothing behind");
}
