//! Latent models on the command line.

mod place;

use std::fs;

use place::{Place, config, fails, json, succeeds};

const STORN: &str = config!(
    r#"inputs = ["a", "b"]
targets = "next"
[latent]
family = "storn"
latents = 2
warm_up = 2
[model]
cell = "tanh"
layers = [6]
"#,
    4
);

#[test]
fn from_rows_to_a_likelihood() {
    let place = Place::new();
    place.write("storn.toml", STORN);
    let (config, run) = (place.at("storn.toml"), place.at("run"));
    succeeds(&["train", &config, "--out", &run]);
    let evaluated = |more: &[&str]| succeeds(&[&["eval", &run, "--data", &config], more].concat());
    let found = json(&evaluated(&["--json", "--draws", "20"]));
    let number = |key: &str| found[key]["raw"].as_f64().expect("a number");
    let parts = number("reconstruction") + found["divergence"].as_f64().expect("a number");
    assert!((parts - number("bound")).abs() < 1e-9);
    let error = found["standard_error"].as_f64().expect("a number");
    assert!(number("importance") < number("bound") + 3.0 * error, "{found}");
    assert_eq!((&found["draws"], &found["n"]), (&20.into(), &120.into()));
    assert_eq!(found["one_step"].as_array().expect("a list").len(), 3);
    assert!(found["one_step"][0]["sse_per_step"].is_number() && found["baselines"][2]["nll"].is_number());
    let (text, page) =
        (evaluated(&["--draws", "5", "--plot", &place.at("page.html")]), place.path("page.html"));
    assert!(text.contains("NLL, importance-sampled") && text.contains("latents by moments"), "{text}");
    assert!(fs::read_to_string(page).expect("the page").contains("<h2>Calibration</h2>"));
}

#[test]
fn a_model_goes_to_a_device() {
    let place = Place::new();
    place.write("storn.toml", STORN);
    succeeds(&["train", &place.at("storn.toml"), "--out", &place.at("run")]);
    for weights in ["f32", "int8"] {
        let printed = place.export(weights, "model.qvr");
        assert!(printed.contains("bytes of flash") && printed.contains("against f32"), "{printed}");
        let constants = fs::read_to_string(place.path("model.rs")).expect("constants next to the model");
        assert!(
            constants.contains("FUTURE_WORDS") && constants.contains(r#"CHANNELS: [&str; 2] = ["a", "b"];"#),
            "{constants}"
        );
        place.has_type("embed_sampler");
    }
    let evaluated = |evaluated: &str| {
        json(&succeeds(&[
            "eval",
            &place.at(evaluated),
            "--data",
            &place.at("storn.toml"),
            "--json",
            "--draws",
            "1",
        ]))
    };
    let (runtime, net) = (evaluated("model.qvr"), evaluated("run"));
    // One of the three ways to feed latent variables is the checkpoint's.
    let costs = (0..3)
        .map(|way| (runtime["nll"].as_f64().unwrap() - net["one_step"][way]["nll"].as_f64().unwrap()).abs());
    assert!(costs.fold(f64::INFINITY, f64::min) < 0.2, "{}", runtime["nll"]);
    let output = place.at("other.qvr");
    fails(&["export", &place.at("run"), "--calibrate", "-o", &output], &["--calibrate is for predictors"]);
}

#[test]
fn missing_channels_and_faults_are_those_of_a_device() {
    let place = Place::new();
    place.write("storn.toml", STORN);
    let (config, run) = (place.at("storn.toml"), place.at("run"));
    let train = |family: &str, cell: &str| {
        let sets =
            [format!("latent.family={family}"), format!("model.cell={cell}"), "training.epochs=1".into()];
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments = ["train", &config, "--out", &run].into_iter().chain(sets);
        succeeds(&arguments.collect::<Vec<_>>());
    };
    for (family, cell) in [("storn", "tanh"), ("vosp", "dense-tanh")] {
        train(family, cell);
        place.export("f32", "model.qvr");
        for model in [&run, &place.at("model.qvr")] {
            let arguments = ["eval", model, "--data", &config, "--missing", "1", "--faults", "--json"];
            let found = json(&succeeds(&arguments));
            assert_eq!(found["missing"][1]["groups"][0]["group"], "affected-channels", "{found}");
            assert!(found["faults"]["faults"][0]["detection"][0]["auroc"].is_number(), "{found}");
        }
        fs::remove_dir_all(&run).expect("the run");
    }
    train("vrae", "tanh");
    fails(&["eval", &run, "--missing", "1"], &["--missing", "as a device does", "reads the whole sequence"]);
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let place = Place::new();
    place.write("storn.toml", STORN);
    let config = place.at("storn.toml");
    succeeds(&["train", &config, "--out", &place.at("run")]);
    place.resumes_with_the_same_bits(&config);
}

#[test]
fn a_model_that_reads_both_ways_has_a_likelihood_and_no_prediction() {
    let place = Place::new();
    place.write("vrae.toml", &STORN.replace("storn", "vrae"));
    let (config, run) = (place.at("vrae.toml"), place.at("run"));
    succeeds(&["train", &config, "--out", &run, "--set", "latent.prior=wiener"]);
    let text = succeeds(&["eval", &run, "--data", &config, "--draws", "5"]);
    assert!(text.contains("one step ahead: not available"), "{text}");
    fails(&["eval", &run, "--data", &config, "--draws", "0"], &["--draws"]);
}

#[test]
fn a_search_tries_latent_models() {
    let place = Place::new();
    let search = "\n[search]\nlatent.latents = { integer = [1, 3] }\nhalving = { first_epochs = 2 }\n";
    place.write("storn.toml", &(STORN.to_string() + search));
    succeeds(&["search", &place.at("storn.toml"), "--trials", "2", "--out", &place.at("search")]);
    let board = fs::read_to_string(place.path("search").join("leaderboard.csv")).expect("a leaderboard");
    assert!(board.contains("latent.latents"), "{board}");
    assert!(place.path("search").join("best").join("best.state").is_file());
}
