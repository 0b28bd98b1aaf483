//! Scores, baselines and calibration on the command line.

mod place;

use std::fs;

use place::{Place, fails, json, succeeds};

#[test]
fn an_evaluation_says_whether_the_net_is_worth_it() {
    let place = Place::new();
    place.train();
    let (run, config, page) = (place.at("run"), place.at("config.toml"), place.at("page.html"));
    let found = json(&succeeds(&["eval", &run, "--data", &config, "--json", "--plot", &page]));
    for key in ["nll", "nll_standardised", "mse", "sse_per_step", "r2", "crps", "epistemic", "aleatoric"] {
        assert!(
            found[key].is_number() && (key == "sse_per_step" || found["per_output"][0][key].is_number()),
            "{key}"
        );
    }
    for percent in ["50", "90", "95"] {
        assert!(found["coverage"][percent].is_number() && found["width"][percent].is_number());
    }
    assert_eq!(found["calibration"].as_array().expect("a curve").len(), 19);
    let names: Vec<&str> =
        found["baselines"].as_array().expect("a list").iter().filter_map(|b| b["name"].as_str()).collect();
    assert_eq!(names, ["training mean", "persistence", "ridge regression"]);
    assert_eq!(found["baselines"][1]["sees_targets"], true, "the net never sees its targets");
    let page = fs::read_to_string(&page).expect("the page");
    assert!(page.contains("<h2>Calibration</h2>") && page.contains("ridge regression"));
    let text = succeeds(&["eval", &run, "--data", &config]);
    assert!(text.contains("NLL in nats") && text.contains("This model is"), "{text}");
    let text = succeeds(&["eval", &run, "--data", &config, "--no-baselines"]);
    assert!(!text.contains("persistence"), "{text}");
}

#[test]
fn calibrated_error_bars_fit_the_validation_data() {
    let place = Place::new();
    place.train();
    place.export("int8", "plain.qvr");
    let printed = succeeds(&["export", &place.at("run"), "--calibrate", "-o", &place.at("model.qvr")]);
    assert!(printed.contains("by the factors sum "), "{printed}");
    let scores = |model: &str| {
        let arguments =
            ["eval", &place.at(model), "--data", &place.at("config.toml"), "--split", "valid", "--json"];
        json(&succeeds(&arguments))
    };
    let (plain, calibrated) = (scores("plain.qvr"), scores("model.qvr"));
    let number = |scores: &serde_json::Value, key: &str| scores[key].as_f64().expect("a number");
    assert_eq!(plain["mse"], calibrated["mse"], "means stay as they are");
    assert!(number(&calibrated, "nll") <= number(&plain, "nll") + 1e-6);
    // With factor c, ln c + (mean z²)/c is least at c = mean z²: then every value costs ½ on average beyond
    // its ½ ln 2πv.
    let arguments = ["export", &place.at("run"), "--calibrate", "-o", &place.at("again.qvr"), "--json"];
    let factor = json(&succeeds(&arguments))["calibration"][0].as_f64().expect("a factor");
    let expected = number(&plain, "nll") - 0.5 * (factor - 1.0 - factor.ln());
    assert!((number(&calibrated, "nll") - expected).abs() < 1e-4, "{} against {expected}", calibrated["nll"]);
}

#[test]
fn binary_outputs_cannot_be_calibrated() {
    let place = Place::new();
    place.write("keys.csv", &format!("a,b,sum\n{}", "0,1,1\n1,1,0\n".repeat(60)));
    let keys = |split: &str| format!("data.{split}=\"keys.csv\"");
    let (config, run) = (place.at("config.toml"), place.at("run"));
    let [train, valid, test] = ["train", "valid", "test"].map(keys);
    let mut arguments = vec!["train", &config, "--out", &run, "--set", "model.likelihood=bernoulli"];
    for set in [&train, &valid, &test] {
        arguments.extend(["--set", set]);
    }
    succeeds(&arguments);
    fails(&["export", &run, "--calibrate", "-o", &place.at("model.qvr")], &["--calibrate", "normal"]);
    assert!(!place.path("model.qvr").exists());
}
