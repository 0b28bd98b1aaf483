//! `quaver fit`, `quaver init` and `quaver boards`: files as people have them, budgets, interruptions.

#[path = "fit/files.rs"]
mod files;
mod place;
#[path = "fit/small_system.rs"]
mod small_system;

use std::fmt::Write;
use std::fs;

use place::{Place, fails, json, run, succeeds};
use small_system::{csv, plain};

#[test]
fn what_cannot_fit_is_never_trained() {
    let place = Place::new();
    place.write("rows.csv", &csv("a,b,force", 300, plain));
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let fit = |options: &[&str], names: &[&str]| {
        let arguments: Vec<&str> = ["fit", &rows, "--target", "force", "--out", &out]
            .into_iter()
            .chain(options.iter().copied())
            .collect();
        fails(&arguments, names)
    };
    fit(&["--flash", "200"], &["nothing fits the budget", "The smallest of", "too much", "Give more flash"]);
    // Less flash than the code takes.
    fit(&["--board", "bluepill", "--flash", "24K"], &["nothing fits bluepill", "of 24.0 KiB (too much)"]);
    fit(
        &["--rate", "100kHz", "--core", "M0", "--clock", "16MHz", "--flash", "1M"],
        &["nothing fits", "CPU", "--rate"],
    );
    fit(&["--board", "toaster"], &["no board `toaster`; there are", "rp2040-pico"]);
    assert!(!place.path("fitted/search").exists(), "nothing was trained");
    let limited = succeeds(&["fit", &rows, "--target", "force", "--dry-run", "--flash", "2K", "--ram", "1K"]);
    assert!(limited.contains("architectures fit"), "{limited}");
    let small = succeeds(&["fit", &rows, "--target", "force", "--dry-run", "--board", "bluepill"]);
    assert!(small.contains("of 64.0 KiB") && !small.contains("too much"), "{small}");
    let riscv = succeeds(&["fit", &rows, "--target", "force", "--dry-run", "--board", "esp32-c3"]);
    assert!(riscv.contains("esp32-c3 (RV32, 160 MHz)"), "{riscv}");
}

#[test]
fn a_file_and_a_board_become_a_model() {
    let place = Place::new();
    place.write(
        "rows.csv",
        &csv("time,a,b,force", 1200, |t, row| format!("{},{}", 0.01 * t as f64, plain(t, row))),
    );
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let arguments =
        ["fit", &rows, "--target", "force", "--board", "rp2040-pico", "--time", "8s", "--out", &out];
    let printed = succeeds(&arguments);
    for part in [
        "verdict: ",
        "ridge regression",
        "90 % interval covers",
        "with channels missing",
        "int8 costs",
        "flash",
        "CPU",
        "next:",
    ] {
        assert!(printed.contains(part), "{part:?} is missing in\n{printed}");
    }
    for file in
        ["model.qvr", "model.rs", "model.h", "report.html", "config.toml", "fit.json", "run/best.state"]
    {
        assert!(place.path("fitted").join(file).is_file(), "{file}");
    }
    let found = json(&fs::read_to_string(place.path("fitted/fit.json")).expect("results"));
    assert_eq!(found["fits"], true);
    let r2 = found["scores"]["test"]["r2"].as_f64().expect("a number");
    assert!(r2 > 0.3, "the force follows from the sensors, but R² is {r2}");
    let page = fs::read_to_string(place.path("fitted/report.html")).expect("a page");
    assert!(page.contains("Verdict: ") && page.contains("time (s)"));
    // The commands that it prints work.
    let model = place.at("fitted/model.qvr");
    assert!(succeeds(&["run", &model, "--input", &rows]).starts_with("force.mean,"));
    let config = place.at("fitted/config.toml");
    succeeds(&["train", &config, "--out", &place.at("again"), "--set", "training.epochs=1"]);
    // Time is up, so that the same command only repeats the end, with the same bits.
    let before = fs::read(place.path("fitted/model.qvr")).expect("a model");
    succeeds(&arguments);
    assert_eq!(fs::read(place.path("fitted/model.qvr")).expect("a model"), before);
    fails(&["fit", &rows, "--next", "--time", "8s", "--out", &out], &["contains another fit", "--out"]);
}

/// Rows of a linear system with noise, one of whose channels matters a row later.
fn linear_rows() -> String {
    let mut state = 1_u64;
    let mut noise = || {
        // Marsaglia's xorshift; its upper half, in -1..1.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from((state >> 32) as u32) / f64::from(1_u32 << 31) - 1.0
    };
    let (mut last, mut text) = (0.0, String::from("a,b,out\n"));
    for _ in 0..1500 {
        let (a, b, out) = (noise(), noise(), noise());
        writeln!(text, "{a:.4},{b:.4},{:.4}", 2.0 * a - 1.5 * last + 0.2 * out)
            .expect("a string takes any text");
        last = b;
    }
    text
}

/// What was exported is ridge regression: checkpoint, run and config.
fn exported_ridge(place: &Place) {
    let model = json(&succeeds(&["inspect", &place.at("fitted/model.qvr"), "--json"]));
    assert_eq!(model["layers"].as_array().map(Vec::len), Some(0), "{model}");
    assert!(model["linear_rows"].as_u64().is_some_and(|rows| rows >= 2), "{model}");
    let config = fs::read_to_string(place.path("fitted/config.toml")).expect("a config");
    assert!(config.contains("layers = []") && config.contains("linear = "), "{config}");
    // The config makes the same model again, and the run is its run.
    succeeds(&["train", &place.at("fitted/config.toml"), "--out", &place.at("again")]);
    for run in ["fitted/run", "again"] {
        let output = place.at("again.qvr");
        succeeds(&["export", &place.at(run), "-o", &output]);
        let [before, again] =
            ["fitted/model.qvr", "again.qvr"].map(|file| fs::read(place.path(file)).expect("a model"));
        assert!(before == again, "{run} is another model");
    }
}

#[test]
fn ridge_regression_is_exported_unless_a_network_is_clearly_better() {
    let place = Place::new();
    place.write("rows.csv", &linear_rows());
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let printed =
        succeeds(&["fit", &rows, "--target", "out", "--board", "rp2040-pico", "--time", "8s", "--out", &out]);
    assert!(printed.contains("verdict: use ridge regression"), "{printed}");
    assert!(printed.contains("The exported model is ridge regression"), "{printed}");
    let found = json(&fs::read_to_string(place.path("fitted/fit.json")).expect("results"));
    assert_eq!((&found["verdict"]["kind"], &found["fits"]), (&"use-rival".into(), &true.into()));
    assert_eq!(found["scores"]["test"], found["scores"]["ridge"]["test"]);
    assert!(found["scores"]["network"]["test"]["nll"].is_number(), "{found}");
    assert!(found["exported"].as_str().is_some_and(|name| name.starts_with("ridge")), "{found}");
    exported_ridge(&place);
}

#[test]
fn a_budget_for_ridge_regression_alone_trains_no_network() {
    let place = Place::new();
    place.write("rows.csv", &linear_rows());
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let printed =
        succeeds(&["fit", &rows, "--target", "out", "--flash", "330", "--time", "60s", "--out", &out]);
    assert!(printed.contains("there is no net to compare; ridge regression is worth it"), "{printed}");
    assert!(!place.path("fitted/search/bracket-00").exists(), "nothing was trained");
    exported_ridge(&place);
}

/// Where nothing is linear, the network is exported, and ridge regression is what it is compared with.
#[test]
fn a_network_that_is_better_is_exported() {
    let place = Place::new();
    let line = |t: usize, _: [f64; 3]| {
        let a = (t as f64 * 0.37).sin() + (t as f64 * 0.081).cos();
        format!("{a:.4},{:.4}", a.abs() + 0.01 * (t as f64 * 1.7).sin())
    };
    place.write("rows.csv", &csv("a,out", 2000, line));
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let found = json(&succeeds(&["fit", &rows, "--target", "out", "--time", "12s", "--out", &out, "--json"]));
    assert_eq!(found["verdict"]["kind"], "worth-it", "{}", found["verdict"]);
    let model = json(&succeeds(&["inspect", &place.at("fitted/model.qvr"), "--json"]));
    assert!(model["layers"].as_array().is_some_and(|layers| !layers.is_empty()), "{model}");
    assert_eq!(found["scores"]["test"], found["scores"]["network"]["test"]);
}

/// Noisy and clean columns that were recorded together.
#[test]
fn a_denoiser_learns_from_columns_of_truth() {
    let place = Place::new();
    let line = |t: usize, _: [f64; 3]| {
        let (a, b) = ((t as f64 * 0.05).sin(), (t as f64 * 0.031).cos());
        let noise = |k: usize| ((t * t * k) as f64 * 0.7).sin();
        format!("{:.4},{:.4},{a:.4},{b:.4}", a + 0.5 * noise(3), b + 0.5 * noise(7))
    };
    place.write("rows.csv", &csv("b_in,a_in,a,b", 1500, line).replacen("b_in,a_in", "a_in,b_in", 1));
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let asked = ["fit", &rows, "--clean", "--truth", "b,a", "--inputs", "b_in,a_in"];
    let printed = succeeds(&[&asked[..], &["--dry-run"]].concat());
    assert!(printed.contains("remove noise from 2 inputs: b_in to b, a_in to a"), "{printed}");
    let found = json(&succeeds(&[&asked[..], &["--time", "6s", "--out", &out, "--json"]].concat()));
    let methods = found["scores"]["denoising"].as_array().expect("a list");
    let snr = |name: &str| {
        let method = methods.iter().find(|method| method["name"] == name).expect("a method");
        method["snr_db"].as_f64().expect("a number")
    };
    // Paired the wrong way round, the noisy rows would have next to no signal.
    assert!(snr("noisy rows") > 3.0, "{methods:?}");
    assert!(snr("this model") > snr("noisy rows") + 2.0, "{methods:?}");
    let config = fs::read_to_string(place.path("fitted/config.toml")).expect("a config");
    assert!(config.contains("targets = [\"b\", \"a\"]"), "{config}");
    fails(&["fit", &rows, "--clean", "--truth", "b", "--dry-run"], &["--truth names 1 columns", "--inputs"]);
    fails(&["fit", &rows, "--truth", "b", "--dry-run"], &["--clean"]);
}

#[test]
fn some_columns_of_the_next_row_are_predicted() {
    let place = Place::new();
    place.write("rows.csv", &csv("a,b,force", 300, plain));
    let rows = place.at("rows.csv");
    let printed = succeeds(&["fit", &rows, "--next=force", "--dry-run"]);
    assert!(printed.contains("predict force 1 row ahead from 3 inputs"), "{printed}");
    assert!(succeeds(&["fit", "--dry-run", "--next", &rows]).contains("the next row of 3 inputs"));
    fails(&["fit", &rows, "--next=torque", "--dry-run"], &["--next: ", "torque"]);
    fails(&["fit", &rows, "--next=force", "--exclude", "force", "--dry-run"], &["--next=force", "no input"]);
    let config = place.at("own.toml");
    succeeds(&["init", &rows, "--next=force", "-o", &config]);
    succeeds(&["train", &config, "--out", &place.at("run"), "--set", "training.epochs=1"]);
}

#[test]
fn classes_are_told_and_exported() {
    let place = Place::new();
    let wave = |t: usize, class: usize| (t as f64 * [0.2, 0.9, 1.7][class]).sin() * [0.3, 1.0, 1.5][class];
    let line = |t: usize, _: [f64; 3]| {
        let class = t / 50 % 3;
        format!("{:.4},{:.4},{}", wave(t, class), wave(t + 3, class), ["rest", "fist", "wave"][class])
    };
    place.write("rows.csv", &csv("x,y2,gesture", 3000, line));
    let out = place.at("fitted");
    let printed = succeeds(&[
        "fit",
        &place.at("rows.csv"),
        "--label",
        "gesture",
        "--time",
        "6s",
        "--out",
        &out,
        "--json",
    ]);
    let found = json(&printed);
    let accuracy = found["scores"]["test"]["accuracy"].as_f64().expect("a number");
    assert!(accuracy > 0.6, "three waves are easily told apart, but {accuracy} are right");
    assert!(
        found["verdict"]["text"].as_str().expect("a verdict").contains("LDA")
            || !found["rivals"].as_array().expect("a list").is_empty()
    );
    assert!(place.path("fitted/model.h").is_file());
}

/// Ctrl-C in a terminal: an interrupt to the search and to the trial under way.
#[cfg(unix)]
#[test]
fn an_interrupted_fit_ends_with_the_best_so_far_and_goes_on() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let place = Place::new();
    place.write("rows.csv", &csv("a,b,force", 600, plain));
    let (rows, out) = (place.at("rows.csv"), place.at("fitted"));
    let arguments = |time: &'static str| {
        ["fit", &rows, "--target", "force", "--time", time, "--out", &out].map(String::from)
    };
    let mut child = place::quaver()
        .args(arguments("60s"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("trial 1.")), "the search has come to its first bracket");
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill").success());
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().expect("it ends").success(), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("stopped; the same command continues")), "{rest:?}");
    assert!(place.path("fitted/model.qvr").is_file());
    let seconds = || {
        let state = fs::read_to_string(place.path("fitted/search/state.json")).expect("a state");
        json(&state)["seconds"].as_f64().expect("a number")
    };
    let first = fs::read(place.path("fitted/search/bracket-00/trials/0000/last.state")).expect("a state");
    let before = seconds();
    assert!(before < 60.0, "{before}");
    // Three more seconds.
    let total = format!("{:.3}s", before + 3.0);
    let output = run(&["fit", &rows, "--target", "force", "--time", &total, "--out", &out]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("time is up"), "{errors}");
    assert!(seconds() >= before + 3.0);
    let again = fs::read(place.path("fitted/search/bracket-00/trials/0000/last.state")).expect("a state");
    assert!(first == again, "the default was trained once");
}

#[test]
fn init_writes_a_config_that_trains() {
    let place = Place::new();
    place.write("rows.csv", &csv("a,b,force", 300, plain));
    let config = place.at("own.toml");
    let arguments = ["init", &place.at("rows.csv"), "--target", "force", "-o", &config];
    assert!(succeeds(&arguments).contains("quaver train"));
    let text = fs::read_to_string(place.path("own.toml")).expect("a config");
    assert!(text.contains("# ") && text.contains("targets = [\"force\"]"), "{text}");
    succeeds(&["train", &config, "--out", &place.at("run"), "--set", "training.epochs=1"]);
    fails(&arguments, &["exists", "--force"]);
}

#[test]
fn boards_are_listed_and_added() {
    let place = Place::new();
    assert!(succeeds(&["boards"]).contains("nrf52840-dk"));
    place.write(
        "lab.toml",
        "[[board]]\nname = 'lab'\ncore = 'M33'\nclock_mhz = 48\nflash_kib = 300\nram_kib = 40\n",
    );
    let found = json(&succeeds(&["boards", "--boards", &place.at("lab.toml"), "--json"]));
    let boards = found["boards"].as_array().expect("a list");
    assert!(boards.iter().any(|board| board["name"] == "lab" && board["flash_kib"] == 300));
    place.write("bad.toml", "[[board]]\nname = 'lab'\n");
    fails(&["boards", "--boards", &place.at("bad.toml")], &["bad.toml", "[[board]]"]);
}
