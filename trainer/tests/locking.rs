//! Two processes in one run folder: the second is refused while the first is there, and nothing is mixed.
#![cfg(unix)]

mod place;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use place::{Place, fails, quaver, succeeds};

/// Long enough to be met under way.
const LONG: [&str; 4] = ["--set", "training.epochs=60", "--set", "training.patience=0"];

fn arguments(place: &Place, out: &str, more: &[&str]) -> Vec<String> {
    let (config, out) = (place.at("config.toml"), place.at(out));
    ["train", &config, "--out", &out].iter().chain(&LONG).chain(more).map(ToString::to_string).collect()
}

fn text(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Starts a run and returns when its first epoch is done.
fn start(place: &Place, out: &str, more: &[&str]) -> Child {
    let mut child =
        quaver().args(arguments(place, out, more)).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let lines = BufReader::new(child.stderr.as_mut().expect("a pipe")).lines();
    let first = lines.map_while(Result::ok).find(|line| line.starts_with("epoch "));
    assert!(first.is_some(), "the run ended before its first epoch");
    child
}

#[test]
fn a_second_run_in_the_folder_is_refused_and_a_killed_one_leaves_no_lock() {
    let place = Place::new();
    succeeds(&text(&arguments(&place, "whole", &[])));
    let mut first = start(&place, "run", &[]);
    let holder = format!("run` is in use by process {} on ", first.id());
    fails(&text(&arguments(&place, "run", &["--resume"])), &[&holder, "wait until it ends"]);
    fails(&text(&arguments(&place, "run", &[])), &[&holder]);
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    assert!(place.path("run/lock").is_file(), "what is left of the lock is a file that says who had it");
    succeeds(&text(&arguments(&place, "run", &["--resume"])));
    place.assert_same_runs("whole", "run");
}

#[test]
fn two_that_start_at_once_leave_the_files_of_one() {
    let place = Place::new();
    succeeds(&text(&arguments(&place, "whole", &[])));
    for attempt in 0..3 {
        let out = format!("run{attempt}");
        for resume in [&[][..], &["--resume"]] {
            if !resume.is_empty() {
                fs::remove_dir_all(place.path(&out)).expect("the run");
                let mut begun = start(&place, &out, &[]);
                begun.kill().expect("it can be killed");
                begun.wait().expect("it ends");
            }
            let spawn = || {
                let mut command = quaver();
                command
                    .args(arguments(&place, &out, resume))
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("the binary starts")
            };
            let ended = [spawn(), spawn()].map(|mut child| child.wait().expect("it ends").success());
            assert!(ended.contains(&true), "one of them trains");
            place.assert_same_runs("whole", &out);
        }
    }
}

#[test]
fn changed_data_are_noticed_and_named() {
    let place = Place::new();
    place.train();
    let (config, out) = (place.at("config.toml"), place.at("run"));
    let more = ["train", &config, "--out", &out, "--resume", "--set", "training.epochs=6"];
    // A target of the validation data: neither the scale of the data nor the density of the inputs changes.
    let valid = fs::read_to_string(place.path("valid.csv")).expect("the data");
    let (rows, _) = valid.trim_end().rsplit_once(',').expect("a last target");
    place.write("valid.csv", &format!("{rows},10.5\n"));
    let before = fs::read(place.path("run/last.state")).expect("the state");
    fails(&more, &["valid.csv` has changed", "run` started", "--force"]);
    assert_eq!(fs::read(place.path("run/last.state")).expect("the state"), before);
    succeeds(&[&more[..], &["--force"]].concat());
    succeeds(&more);
    place.write("valid.csv", &valid);
    fails(&more, &["valid.csv` has changed"]);
}
