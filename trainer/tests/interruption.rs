//! Runs that are killed, or that run out of disk, or whose loss is no number any more: nothing is lost but
//! the epoch under way.
#![cfg(unix)]

mod place;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use place::{Place, fails, quaver, succeeds};

/// Arguments of `quaver train`.
fn arguments(place: &Place, out: &str, more: &[&str]) -> Vec<String> {
    let (config, out) = (place.at("config.toml"), place.at(out));
    ["train", &config, "--out", &out].iter().chain(more).map(ToString::to_string).collect()
}

fn train(place: &Place, out: &str, more: &[&str]) {
    succeeds(&arguments(place, out, more).iter().map(String::as_str).collect::<Vec<_>>());
}

/// When a run is killed, without a chance to tidy up.
enum Moment {
    /// So many lines of progress after its start, in the steps of an epoch.
    Learning(usize),
    /// So many microseconds after an epoch was added to the metrics, which happens right before the states
    /// are written.
    Writing(u64),
}

/// Starts a run and kills it.
fn kill_at(place: &Place, out: &str, more: &[&str], moment: &Moment) {
    let mut command = quaver();
    command.args(arguments(place, out, more)).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let errors = BufReader::new(child.stderr.take().expect("a pipe"));
    match moment {
        Moment::Learning(lines) => {
            assert_eq!(errors.lines().take(*lines).count(), *lines, "the run ended before it was killed");
        }
        Moment::Writing(microseconds) => {
            wait_for_growth(&place.path(out).join("metrics.csv"));
            thread::sleep(Duration::from_micros(*microseconds));
        }
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// Returns as soon as a file has become longer.
fn wait_for_growth(path: &Path) {
    let length = || fs::metadata(path).expect("the metrics").len();
    let mut last = length();
    loop {
        let now = length();
        if now > last {
            return;
        }
        last = now;
    }
}

#[test]
fn a_run_that_was_killed_again_and_again_ends_with_the_same_bits() {
    let place = Place::new();
    // A large net and few data, so that much of the time goes into writing states.
    for split in ["train", "valid"] {
        let text = fs::read_to_string(place.path(&format!("{split}.csv"))).expect("the data");
        let few: Vec<&str> = text.lines().take(20).collect();
        place.write(&format!("{split}.csv"), &(few.join("\n") + "\n"));
    }
    let wide = ["--set", "model.layers=[150]", "--set", "training.epochs=16", "--set", "training.patience=0"];
    train(&place, "whole", &wide);
    kill_at(&place, "parts", &wide, &Moment::Learning(1));
    let resume = [&wide[..], &["--resume"]].concat();
    let moments = [0, 50, 100, 200, 400, 800].map(Moment::Writing).into_iter();
    for moment in moments.chain([1, 2, 3].map(Moment::Learning)) {
        kill_at(&place, "parts", &resume, &moment);
    }
    train(&place, "parts", &resume);
    place.assert_same_runs("whole", "parts");
}

#[test]
fn a_run_that_was_killed_before_its_first_state_begins_again() {
    let place = Place::new();
    place.train();
    train(&place, "parts", &["--set", "training.epochs=1"]);
    fs::remove_file(place.path("parts").join("last.state")).expect("the state");
    train(&place, "parts", &["--resume"]);
    place.assert_same_runs("run", "parts");
    fails(
        &["train", &place.at("config.toml"), "--out", &place.at("nowhere"), "--resume"],
        &["nowhere", "no run to continue"],
    );
}

/// Runs `quaver train` where no file may grow beyond a few kilobytes: writing more fails, as it does on a
/// full disk.
fn train_with_little_room(place: &Place, out: &str, more: &[&str]) -> Output {
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_quaver")]).args(arguments(place, out, more));
    command.output().expect("a shell")
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let place = Place::new();
    let wide = &["--set", "model.layers=[40]"][..];
    train(&place, "whole", wide);
    let errors_of = |output: &Output| {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !errors.contains("panicked"), "{errors}");
        assert!(errors.contains(".state`: there is no space left"), "{errors}");
        errors
    };
    // The first state does not fit.
    errors_of(&train_with_little_room(&place, "first", wide));
    train(&place, "first", &[wide, &["--resume"]].concat());
    place.assert_same_runs("whole", "first");
    // The third does not.
    train(&place, "third", &[wide, &["--set", "training.epochs=2"]].concat());
    let kept = fs::read(place.path("third").join("last.state")).expect("the state");
    let errors = errors_of(&train_with_little_room(&place, "third", &[wide, &["--resume"]].concat()));
    assert!(errors.contains("intact up to epoch 2") && errors.contains("--resume"), "{errors}");
    assert_eq!(fs::read(place.path("third").join("last.state")).expect("the state"), kept);
    let hidden = fs::read_dir(place.path("third")).expect("the folder").filter_map(Result::ok);
    let left_over = hidden.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(left_over.count(), 0, "half a file is left behind");
    train(&place, "third", &[wide, &["--resume"]].concat());
    place.assert_same_runs("whole", "third");
}

/// Looks into a model that comes with the runtime.
fn inspect() -> Command {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples/grip_force.qvr");
    let mut command = quaver();
    command.arg("inspect").arg(model).arg("--json").stderr(Stdio::piped());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_does_not_fit_on_the_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
    let output = inspect().stdout(full).output().expect("the binary starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: cannot write the result to standard output: No space"), "{errors}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = inspect().stdout(writer).output().expect("the binary starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}

#[test]
fn a_loss_that_is_no_number_is_explained_and_the_last_state_kept() {
    let place = Place::new();
    let (config, out) = (place.at("config.toml"), place.at("run"));
    let diverging = ["model.cell=relu", "training.learning_rate=1e30", "training.clip_norm=0"];
    let mut arguments = vec!["train", &config, "--out", &out];
    diverging.iter().for_each(|set| arguments.extend(["--set", set]));
    let names = ["so training has stopped", "run/last.state` holds", "training.learning_rate"];
    fails(&arguments, &names);
    assert!(place.path("run").join("last.state").is_file());
}
