//! `model.linear` as a user types it: a network that begins where ridge regression ends, and ridge regression
//! alone, trained, resumed, exported and streamed.

mod place;

use std::fs;

use place::{CONFIG, Place, config, fails, json, succeeds};
use quaver_trainer::config::Config;
use quaver_trainer::data::{LinearPart, Scaling};
use quaver_trainer::fit::{RunFolder, RunState};
use quaver_trainer::prediction::{predict_by_network, predict_by_runtime};
use serde_json::Value;

/// The target is the sum of the row before, of which one value is missing now and then.
const LINEAR: &str = config!("targets = ['sum']\n[model]\ncell = \"tanh\"\nlayers = [6]\nlinear = 2\n", 4);
const ALONE: &str = config!("targets = ['sum']\n[model]\nlayers = []\nlinear = 2\n", 4);
const NEXT: &str = config!("targets = 'next'\n[model]\ncell = \"gru\"\nlayers = [5]\nlinear = 3\n", 3);

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {value}"))
}

fn baseline(evaluated: &Value, name: &str) -> f64 {
    let all = evaluated["baselines"].as_array().expect("baselines");
    let found = all.iter().find(|baseline| baseline["name"] == name).expect("this baseline");
    number(found, "nll")
}

/// Trains with the noise variance of the training residuals, and returns the validation NLL.
fn valid_nll(text: &str, settings: &[&str]) -> (Place, f64) {
    let place = Place::new();
    place.write("config.toml", text);
    let (config, run) = (place.at("config.toml"), place.at("run"));
    let mut arguments = vec!["train", &config, "--out", &run, "--set", "training.refit_noise=false"];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    succeeds(&arguments);
    let evaluated = json(&succeeds(&["eval", &run, "--split", "valid", "--json"]));
    let nll = number(&evaluated, "nll");
    (place, nll)
}

#[test]
fn a_network_begins_where_ridge_regression_ends() {
    let (place, valid) = valid_nll(LINEAR, &[]);
    let last: RunState = RunState::load(&place.path("run/last.state")).expect("a state");
    let best: RunState = RunState::load(&place.path("run/best.state")).expect("a state");
    let linear = best.scaling.linear.as_ref().expect("a linear part");
    assert_eq!((linear.rows, linear.numbers.len()), (2, 5));
    assert_eq!(last.scaling.linear.as_ref(), Some(linear), "it stays as it was fitted");
    let (_, ridge) = valid_nll(ALONE, &[]);
    assert!(valid <= ridge + 1e-9, "{valid} is above ridge regression's {ridge}");
    let (_, network) = valid_nll(CONFIG, &[]);
    assert!(valid < network - 0.5, "{valid} against {network} of a network alone");
}

#[test]
fn a_start_that_no_epoch_improves_is_kept() {
    // Steps that are far too large.
    let (place, valid) = valid_nll(LINEAR, &["training.learning_rate=2", "training.clip_norm=0"]);
    let last: RunState = RunState::load(&place.path("run/last.state")).expect("a state");
    let best = last.best.expect("a best epoch");
    assert!(best.epoch == 0 && last.epoch == 4, "{best:?}");
    assert_eq!(RunFolder::new(&place.path("run")).start_loss(), Some(best.valid_nll));
    let (_, ridge) = valid_nll(ALONE, &[]);
    assert!((valid - ridge).abs() < 1e-6, "{valid} against {ridge}");
}

/// Such a trial competes with its linear part.
#[test]
fn a_search_counts_starts_that_no_epoch_improves() {
    let place = Place::new();
    let space = "[search]\ntraining.learning_rate = { choice = [2.0, 3.0] }\n";
    place.write("config.toml", &(LINEAR.to_string() + space));
    let out = place.at("search");
    succeeds(&[
        "search",
        &place.at("config.toml"),
        "--trials",
        "2",
        "--out",
        &out,
        "--set",
        "training.clip_norm=0",
    ]);
    let board = fs::read_to_string(place.path("search/leaderboard.csv")).expect("a leaderboard");
    assert!(!board.contains("failed"), "{board}");
    assert!(place.path("search/best/best.state").is_file(), "{board}");
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    let place = Place::new();
    place.write("config.toml", LINEAR);
    place.train();
    place.resumes_with_the_same_bits(&place.at("config.toml"));
}

/// Network and runtime read gaps, starts and ends alike, in f32 and in integers.
#[test]
fn the_trainer_predicts_what_a_device_does() {
    for (text, layouts) in [(LINEAR, &["f32", "int8"][..]), (NEXT, &["f32"]), (ALONE, &["f32", "int8"])] {
        let place = Place::new();
        place.write("config.toml", text);
        place.train();
        let config = Config::load(&place.path("config.toml"), &[]).expect("a config");
        let data = config.load_data().expect("the data");
        let state: RunState = RunState::load(&place.path("run/best.state")).expect("a state");
        let RunState { spec, parameters, scaling, .. } = &state;
        let network = predict_by_network(spec, parameters, scaling, &data.test);
        for weights in layouts {
            place.export(weights, "model.qvr");
            let bytes = fs::read(place.path("model.qvr")).expect("a model");
            let device = predict_by_runtime(&bytes, &data.test).expect("a checkpoint");
            // A model of its own next input imputes by its predictions on a device, by the other channels in
            // training: rows after the first gap differ.
            let until = if text == NEXT { 5 } else { data.test[0].len() };
            let step = |step: usize| {
                let std_dev = f64::from(network[0].variance(step, 0)).sqrt();
                let difference = network[0].mean.row(step)[0] - device[0].mean.row(step)[0];
                (f64::from(difference) / std_dev).abs()
            };
            let most = (0..until).map(step).fold(0.0, f64::max);
            let tolerance = if *weights == "f32" { 1e-3 } else { 0.2 };
            assert!(most < tolerance, "{weights}: {most} standard deviations\n{text}");
        }
    }
}

#[test]
fn ridge_regression_alone_trains_in_no_epoch_and_is_exported() {
    let place = Place::new();
    place.write("config.toml", ALONE);
    place.train();
    let state: RunState = RunState::load(&place.path("run/best.state")).expect("a state");
    assert_eq!((state.epoch, state.best.map(|best| best.epoch)), (0, Some(0)));
    let evaluated = json(&succeeds(&["eval", &place.at("run"), "--split", "valid", "--json"]));
    assert!(number(&evaluated, "nll") < baseline(&evaluated, "training mean") - 1.0, "{evaluated}");
    for weights in ["f32", "int8"] {
        let exported = place.export(weights, "model.qvr");
        // Why it is not another layout is printed where it was not asked for.
        let why = "layout float: in the layout fast the model cannot be stored: ";
        assert_eq!(exported.contains(why), weights == "int8", "{exported}");
        let found = json(&succeeds(&["inspect", &place.at("model.qvr"), "--json"]));
        assert_eq!((&found["layout"], &found["linear_rows"]), (&"float".into(), &2.into()));
        // A ring of two rows of two channels, mean and variance, and two words of its own; four of the
        // output; those of the input density, which imputes missing values.
        assert!(found["arena_words"].as_u64().is_some_and(|words| (14..40).contains(&words)), "{found}");
        let answers = succeeds(&["run", &place.at("model.qvr"), "--in", &place.at("test.csv")]);
        assert_eq!(answers.lines().count(), 121);
    }
    let again = succeeds(&["train", &place.at("config.toml"), "--out", &place.at("run"), "--resume"]);
    assert!(!again.contains("panicked"));
}

#[test]
fn commands_that_read_runs_read_linear_parts() {
    let place = Place::new();
    place.write("config.toml", LINEAR);
    place.train();
    succeeds(&["eval", &place.at("run"), "--mc-draws", "3"]);
    succeeds(&["prune", &place.at("run"), "--keep", "0.5", "--out", &place.at("pruned"), "--epochs", "1"]);
    let pruned: RunState = RunState::load(&place.path("pruned/best.state")).expect("a state");
    assert!(pruned.scaling.linear.is_some(), "pruning leaves the linear part as it is");
    for posterior in ["ropd", "bbb", "vb"] {
        let set = format!("weights.posterior={posterior}");
        let run = place.at(posterior);
        succeeds(&[
            "train",
            &place.at("config.toml"),
            "--out",
            &run,
            "--set",
            &set,
            "--set",
            "training.epochs=2",
        ]);
    }
}

#[test]
fn what_does_not_go_with_a_linear_part_is_refused() {
    let place = Place::new();
    place.write("config.toml", LINEAR);
    let (config, out) = (place.at("config.toml"), place.at("refused"));
    let refused = |settings: &[&str], names: &[&str]| {
        let mut arguments = vec!["train", &config, "--out", &out];
        settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
        fails(&arguments, names);
        assert!(!place.path("refused").exists(), "nothing is written");
    };
    refused(&["model.likelihood=bernoulli"], &["model.linear", "gaussian"]);
    refused(&["data.targets=next", "model.residual=true"], &["model.residual", "model.linear"]);
    refused(&["model.linear=600"], &["model.linear", "600 rows of 2 inputs", "512 or less"]);
    refused(&["model.linear=2000"], &["model.linear", "1024"]);
    refused(&["model.linear=0", "model.layers=[]"], &["model.layers", "model.linear"]);
    refused(&["model.layers=[]", "weights.posterior=ropd"], &["weights.posterior", "model.layers"]);
    refused(&["data.targets=next", "latent.family=storn", "latent.latents=2"], &["model.linear", "latent"]);
}

/// Ridge weights by the normal equations of one unknown, written out.
#[test]
fn weights_solve_the_normal_equations() {
    use quaver_trainer::data::{Rows, Sequence};
    let rows = |values: &[f32]| Rows { channels: 1, values: values.to_vec() };
    let (x, y) = ([1.0, -1.0, 2.0, -2.0, 0.5, -0.5], [2.0, -2.5, 4.0, -3.5, 1.0, -1.0]);
    let train = [Sequence::columns(rows(&x), rows(&y))];
    let scaling = Scaling::fit(&train);
    let fitted = LinearPart::fit(&train, &train, &scaling, 1).expect("a fit");
    let scaled = |values: &[f32], scaler: &quaver_trainer::data::Scaler| -> Vec<f64> {
        values.iter().map(|value| f64::from(scaler.standardise(0, *value))).collect()
    };
    let (x, y) = (scaled(&x, &scaling.inputs), scaled(&y, &scaling.targets));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // Inputs and targets have mean 0, so that the bias is 0.
    let weight = dot(&x, &y) / (dot(&x, &x) + fitted.penalty);
    assert!(fitted.numbers[0].abs() < 1e-6, "{fitted:?}");
    assert!((f64::from(fitted.numbers[1]) - weight).abs() < 1e-6, "{fitted:?} against {weight}");
    let residual: f64 = x.iter().zip(&y).map(|(x, y)| (y - weight * x).powi(2)).sum::<f64>() / 6.0;
    assert!((f64::from(fitted.noise_var[0]) - residual).abs() < 1e-6);
}
