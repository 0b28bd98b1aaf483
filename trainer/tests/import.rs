//! `quaver import` as a user types it: outputs are those of PyTorch, and every other command takes the run.
//!
//! `tests/pytorch/make.py` has made the networks, the rows and the outputs. `cargo xtask bindings` makes
//! others, where there is PyTorch, and names their folder in `QUAVER_PYTORCH`.

mod place;

use std::path::{Path, PathBuf};
use std::{env, fs};

use place::{Place, fails, json, succeeds};
use serde_json::Value;

/// PyTorch computes in f32 as well, in another order: outputs are compared to this part of the larger of
/// their magnitude and 1.
const TOLERANCE: f64 = 1e-5;

fn fixtures() -> PathBuf {
    let committed = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pytorch");
    env::var_os("QUAVER_PYTORCH").map_or_else(committed, PathBuf::from)
}

fn fixture(name: &str) -> String {
    fixtures().join(name).display().to_string()
}

/// A folder with a config for a network.
fn place(cell: &str, layers: usize) -> Place {
    let place = Place::new();
    let layers = vec!["5"; layers].join(", ");
    let rows = fixture("rows.csv");
    place.write(
        "config.toml",
        &format!(
            "[data]\ntrain = '{rows}'\nvalid_fraction = 0.5\ntargets = ['y', 'z']\n\
             [model]\ncell = '{cell}'\nlayers = [{layers}]\n[training]\nepochs = 3\nbatch = 4\n"
        ),
    );
    place
}

/// Imports a network into `run`.
fn import(place: &Place, case: &str, more: &[&str]) -> Value {
    let (weights, config, run) =
        (fixture(&format!("{case}.safetensors")), place.at("config.toml"), place.at("run"));
    json(&succeeds(&[&["import", &weights, "--like", &config, "--out", &run, "--json"], more].concat()))
}

/// The numbers of some columns of a CSV text.
fn columns(text: &str, names: &[&str]) -> Vec<f64> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let places: Vec<usize> =
        names.iter().map(|name| header.iter().position(|own| own == name).expect("the column")).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places.iter().map(|&place| cells[place].parse().expect("a number")).collect::<Vec<f64>>()
    };
    lines.flat_map(row).collect()
}

/// Asserts that the runtime predicts what PyTorch does; returns the largest error.
fn compare(place: &Place, case: &str) -> f64 {
    succeeds(&["export", &place.at("run"), "--weights", "f32", "-o", &place.at("model.qvr")]);
    let found = succeeds(&["run", &place.at("model.qvr"), "--in", &fixture("rows.csv")]);
    let found = columns(&found, &["y.mean", "z.mean"]);
    let expected =
        columns(&fs::read_to_string(fixture(&format!("{case}.csv"))).expect("outputs"), &["y", "z"]);
    assert_eq!((found.len(), expected.len()), (120, 120));
    let errors = found
        .iter()
        .zip(&expected)
        .map(|(found, expected)| (found - expected).abs() / expected.abs().max(1.0));
    let largest = errors.fold(0.0, f64::max);
    assert!(largest < TOLERANCE, "{case}: off by {largest:e}\n{found:?}\n{expected:?}");
    largest
}

#[test]
fn outputs_are_those_of_pytorch() {
    for cell in ["tanh", "relu", "lstm", "gru"] {
        for layers in [1, 2] {
            let (place, case) = (place(cell, layers), format!("{cell}_{layers}"));
            let imported = import(&place, &case, &[]);
            assert_eq!(imported["tensors"], 4 * layers + 2);
            println!("{case}: {:e}", compare(&place, &case));
        }
    }
}

#[test]
fn networks_of_scaled_rows_and_of_other_floats_predict_in_raw_units() {
    for (cell, case) in [("lstm", "scaled_lstm_1"), ("gru", "short_gru_1")] {
        let place = place(cell, 1);
        import(&place, case, &[]);
        println!("{case}: {:e}", compare(&place, case));
    }
}

#[test]
fn noise_is_the_error_on_validation_rows_and_nothing_else_is_uncertain() {
    let place = place("lstm", 1);
    let imported = import(&place, "lstm_1", &[]);
    let evaluated = json(&succeeds(&["eval", &place.at("run"), "--split", "valid", "--json"]));
    for (output, scored) in
        imported["outputs"].as_array().unwrap().iter().zip(evaluated["per_output"].as_array().unwrap())
    {
        let number = |value: &Value| value.as_f64().expect("a number");
        // The most likely variance of normal errors is their mean square, which the search finds to 1e-5.
        let ratio = number(&output["noise_std_dev"]) / number(&output["rmse"]);
        assert!((ratio - 1.0).abs() < 1e-4, "{output}");
        assert_eq!(number(&output["epistemic_std_dev"]), 0.0);
        assert!((number(&scored["mse"]).sqrt() / number(&output["rmse"]) - 1.0).abs() < 1e-6, "{scored}");
    }
    assert!((imported["nll"].as_f64().unwrap() - evaluated["nll"].as_f64().unwrap()).abs() < 1e-9);
}

#[test]
fn dropout_of_the_config_is_variance_and_leaves_the_mean_of_a_linear_map() {
    let place = place("gru", 2);
    let imported = import(&place, "gru_2", &["--set", "noise.output_keep=0.8"]);
    assert!(imported["outputs"][0]["epistemic_std_dev"].as_f64().unwrap() > 0.0);
    compare(&place, "gru_2");
}

#[test]
fn every_other_command_takes_an_imported_run() {
    let place = place("lstm", 2);
    import(&place, "lstm_2", &[]);
    let (run, config) = (place.at("run"), place.at("config.toml"));
    for arguments in [
        &["eval", &run, "--split", "valid"][..],
        &["export", &run, "-o", &place.at("int8.qvr")],
        &["prune", &run, "--keep", "0.5", "--out", &place.at("pruned")],
        &["train", &config, "--out", &place.at("tuned"), "--from", &run],
        &["train", &config, "--out", &run, "--resume"],
        &["inspect", &place.at("int8.qvr")],
    ] {
        succeeds(arguments);
    }
    let metrics = fs::read_to_string(place.path("run/metrics.csv")).expect("metrics");
    assert_eq!(metrics.lines().count(), 4, "three epochs behind a header:\n{metrics}");
}

#[test]
fn nothing_is_written_without_out_nor_where_something_does_not_fit() {
    let place = place("lstm", 2);
    let (weights, config, run) = (fixture("lstm_2.safetensors"), place.at("config.toml"), place.at("run"));
    let text = succeeds(&["import", &weights, "--like", &config]);
    for part in ["10 tensors, 452 numbers", "inputs: a, b, c", "no better than by its mean", "without --out"]
    {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    let import = |weights: &str, more: &[&str], names: &[&str]| {
        fails(&[&["import", weights, "--like", &config, "--out", &run], more].concat(), names);
        assert!(!place.path("run").exists(), "half a run is left");
    };
    import(
        &weights,
        &["--set", "model.cell=gru"],
        &["lstm_2.safetensors: `body.weight_ih_l0` has the shape [20, 3]"],
    );
    import(&weights, &["--set", "model.layers=[5]"], &["`body` has 2 layers", "model.layers has 1"]);
    import(&weights, &["--set", "data.inputs=['a']"], &["expected [20, 1]", "data.inputs"]);
    import(&config, &[], &["config.toml: this is not a safetensors file"]);
    import(&place.at("absent"), &[], &["cannot read", "absent"]);
    succeeds(&["import", &weights, "--like", &config, "--out", &run]);
    fails(&["import", &weights, "--like", &config, "--out", &run], &["already contains a run"]);
}
