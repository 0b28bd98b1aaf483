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
        assert!(found["coverage_std_error"][percent].as_f64().is_some_and(|error| error < 0.2));
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
fn monte_carlo_is_scored_next_to_moments() {
    let place = Place::new();
    let (run, config, model) = (place.at("drawn"), place.at("config.toml"), place.at("drawn.qvr"));
    let small =
        ["--set", "training.epochs=2", "--set", "weights.posterior=bbb", "--set", "weights.sharpen=true"];
    succeeds(&[&["train", &config, "--out", &run][..], &small].concat());
    let evaluated = ["eval", &run, "--no-baselines", "--mc-draws", "20"];
    let found = json(&succeeds(&[&evaluated[..], &["--sharpened", "--json"]].concat()));
    let both = &found["monte_carlo"];
    assert_eq!(both["draws"], 20);
    assert_eq!(both["moments"]["nll"], found["nll"]);
    for key in ["nll", "nll_standardised", "rmse", "epistemic", "aleatoric"] {
        let [moments, drawn] =
            ["moments", "monte_carlo"].map(|way| both[way][key].as_f64().expect("a number"));
        // Few draws of an untrained network: the same order of magnitude.
        assert!((moments - drawn).abs() < 0.5 * (1.0 + moments.abs()), "{key}: {both}");
    }
    let bound = |key: &str| found["sharpened"][key].as_f64().expect("a number");
    let parts = bound("nll_standardised") + bound("divergence");
    assert!((bound("bound_standardised") - parts).abs() < 1e-9 && bound("divergence") >= 0.0, "{found}");
    let again = |seed: &str| succeeds(&[&evaluated[..], &["--mc-seed", seed]].concat());
    assert_eq!(again("3"), again("3"), "draws depend on the seed alone");
    assert_ne!(again("3"), again("4"));
    assert!(again("3").contains("Monte Carlo, 20 draws"));
    let text = succeeds(&["eval", &run, "--no-baselines", "--sharpened"]);
    assert!(text.contains("an upper bound"), "{text}");
    succeeds(&["export", &run, "-o", &model]);
    fails(&["eval", &model, "--data", &config, "--mc-draws", "2"], &["run folder"]);
    place.train();
    fails(&["eval", &place.at("run"), "--sharpened"], &["weights.sharpen = true"]);
}

#[test]
fn a_trained_posterior_is_sharpened_with_the_rates_that_the_user_sets() {
    let place = Place::new();
    let (config, drawn, sharpened) = (place.at("config.toml"), place.at("drawn"), place.at("sharpened"));
    let small = ["--set", "training.epochs=1", "--set", "weights.posterior=bbb"];
    succeeds(&[&["train", &config, "--out", &drawn][..], &small].concat());
    let more = ["--from", &drawn, "--set", "weights.sharpen=true", "--set", "init.sharpen_rate=0.5"];
    succeeds(&[&["train", &config, "--out", &sharpened][..], &small, &more].concat());
    let found = json(&succeeds(&["eval", &sharpened, "--no-baselines", "--sharpened", "--json"]));
    // Rates of zero would shift nothing.
    assert!(found["sharpened"]["divergence"].as_f64().is_some_and(|nats| nats > 1e-6), "{found}");
}

/// Targets four times as far from the predictions as in training: intervals that follow them cover more of
/// them, and the more often they are told the truth, the more.
#[test]
fn error_bars_follow_the_truth_in_an_evaluation() {
    let place = Place::new();
    place.train();
    let (run, tracked, config) = (place.at("run"), place.at("tracked.qvr"), place.at("config.toml"));
    place.export("int8", "model.qvr");
    succeeds(&["export", &run, "--track", "0.2", "-o", &tracked]);
    let coverage = |observe: &[&str]| {
        let evaluated = ["eval", &tracked, "--data", &config, "--json", "--no-baselines"];
        json(&succeeds(&[&evaluated[..], observe].concat()))["coverage"]["90"].as_f64().expect("a number")
    };
    let far = |line: &str| {
        let (inputs, sum) = line.rsplit_once(',').expect("a target");
        let shown = sum.parse().map_or(sum.to_string(), |sum: f32| (10.0 + 4.0 * (sum - 10.0)).to_string());
        format!("{inputs},{shown}\n")
    };
    let recorded = fs::read_to_string(place.path("test.csv")).expect("the recording");
    place.write("test.csv", &recorded.lines().map(far).collect::<String>());
    let [never, sometimes, always] = [&[][..], &["--observe", "4"], &["--observe"]].map(coverage);
    assert!(never < sometimes && sometimes < always, "{never} {sometimes} {always}");
    let refused = |model: &str, names: &[&str]| {
        fails(&["eval", model, "--data", &config, "--observe"], names);
    };
    refused(&run, &["--track"]);
    refused(&place.at("model.qvr"), &["--track"]);
}

#[test]
fn missing_channels_are_scored_next_to_stand_ins() {
    let place = Place::with_model("int8");
    let (config, page) = (place.at("config.toml"), place.at("page.html"));
    let evaluated = |model: &str, more: &[&str]| {
        succeeds(&[&["eval", &place.at(model), "--data", &config, "--rate-hz", "10"], more].concat())
    };
    let cases = ["--missing", "1,a,a+b,bursts:1s@20%", "--missing-lengths", "2,20"];
    for model in ["run", "model.qvr"] {
        let found = json(&evaluated(model, &[&cases[..], &["--json", "--plot", &page]].concat()));
        let missing = found["missing"].as_array().expect("a list");
        let named = |case: &str, reads: &str| -> &serde_json::Value {
            let found = missing.iter().find(|entry| entry["case"] == case && entry["reads"] == reads);
            &found.unwrap_or_else(|| panic!("{case}, {reads}: {missing:?}"))["groups"][0]
        };
        let bursts = "bursts of 10 rows, 20 % of the time";
        for (case, reads) in [("1 of 2", "a gap"), ("a + b", "training mean"), (bursts, "last value")] {
            let scores = named(case, reads);
            for key in ["rmse", "coverage", "coverage_std_error", "width"] {
                assert!(scores[key].is_number(), "{case}, {reads}: {scores}");
            }
        }
        assert_eq!(named("1 of 2", "a gap")["runs"][0]["rmse"], named("a", "a gap")["rmse"]);
        assert!(named("1 of 2", "a gap")["worst"]["name"].is_string());
        assert_eq!(named("rows 3 to 20 of a gap", "a gap")["n"], 2 * 18, "row 102 to 119 of two channels");
        let rmse = |case: &str| named(case, "a gap")["rmse"].as_f64().expect("a number");
        let whole = named("none", "everything")["rmse"].as_f64().expect("a number");
        assert!(whole < rmse("a") && rmse("a") < rmse("a + b"), "{missing:?}");
    }
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("Coverage with missing channels") && page.contains("90 % promised"));
    let text = evaluated("run", &["--missing", "1"]);
    assert!(text.contains("1 of 2") && text.contains("training mean") && text.contains(" ± "), "{text}");
    fails(&["eval", &place.at("run"), "--missing", "c"], &["no such input", "a, b"]);
    fails(&["eval", &place.at("run"), "--missing", "bursts:1s@20%"], &["--rate-hz"]);
    fails(&["eval", &place.at("run"), "--missing-lengths", "1000"], &["120 rows"]);
}

/// A recording of rising ramps, which fall when it is played backwards.
#[test]
fn a_recording_played_backwards_has_a_larger_entropy_or_nll() {
    let place = Place::new();
    let (config, run) = (place.at("config.toml"), place.at("run"));
    let sets = ["--set", "data.targets=next", "--set", "data.inputs=[\"a\",\"b\"]"];
    for (name, rows) in [("train", 400), ("valid", 120), ("test", 120)] {
        let ramp = |row: i32| format!("{},{},0\n", row % 8, (row + 3) % 8);
        place.write(&format!("{name}.csv"), &format!("a,b,sum\n{}", (0..rows).map(ramp).collect::<String>()));
    }
    succeeds(&[&["train", &config, "--out", &run], &sets[..]].concat());
    let arguments = ["eval", &run, "--reversed", "--reversed-window", "20"];
    let found = json(&succeeds(&[&arguments[..], &["--json"]].concat()));
    let number = |direction: &str, key: &str| found[direction][key].as_f64().expect("a number");
    assert!(number("reversed", "nll") > number("regular", "nll"), "{found}");
    assert_eq!((found["windows"].as_u64(), found["regular"]["n"].as_u64()), (Some(6), Some(120)));
    let gap = number("reversed", "entropy") - number("regular", "entropy");
    assert!((found["entropy_gap"].as_f64().expect("a number") - gap).abs() < 1e-12);
    assert_eq!(found["auroc_nll"], 1.0, "every window of falling ramps is a surprise");
    let text = succeeds(&arguments);
    assert!(text.contains("entropy gap") && text.contains("AUROC"), "{text}");
    fails(&["eval", &run, "--reversed-window", "20"], &["--reversed"]);
    fails(&["eval", &run, "--reversed", "--faults"], &["cannot be used with"]);
}

/// Targets that moved away from those of training.
#[test]
fn a_network_that_learns_while_it_is_evaluated_follows_a_shift() {
    let place = Place::with_model("int8");
    let (run, config) = (place.at("run"), place.at("config.toml"));
    let shifted = |line: &str| {
        let (inputs, sum) = line.rsplit_once(',').expect("a target");
        let shown = sum.parse().map_or(sum.to_string(), |sum: f32| (sum + 5.0).to_string());
        format!("{inputs},{shown}\n")
    };
    let recorded = fs::read_to_string(place.path("test.csv")).expect("the recording");
    place.write("test.csv", &recorded.lines().map(shifted).collect::<String>());
    let arguments = ["eval", &run, "--dynamic", "0.01", "--dynamic-window", "4"];
    let found = json(&succeeds(&[&arguments[..], &["--json"]].concat()));
    let mse = |key: &str| found[key]["mse"].as_f64().expect("a number");
    assert!(mse("dynamic") < 0.9 * mse("as_trained"), "{found}");
    assert_eq!(found["updates"], 30);
    let text = succeeds(&arguments);
    assert!(text.contains("dynamic evaluation") && text.contains("µs per step"), "{text}");
    let model = place.at("model.qvr");
    fails(&["eval", &model, "--data", &config, "--dynamic", "0.1"], &["run folder", "quaver adapt"]);
    for rate in ["0", "-1", "inf", "fast"] {
        fails(&["eval", &run, &format!("--dynamic={rate}")], &["learning rate above 0"]);
    }
}

#[test]
fn faults_are_scored_and_detected() {
    let place = Place::new();
    let (config, run, page) = (place.at("config.toml"), place.at("run"), place.at("page.html"));
    let sets = ["--set", "data.targets=next", "--set", "data.inputs=[\"a\",\"b\"]"];
    succeeds(&[&["train", &config, "--out", &run], &sets[..]].concat());
    let arguments = ["eval", &run, "--faults", "--rate-hz", "10", "--fault-rows", "10", "--plot", &page];
    let found = json(&succeeds(&[&arguments[..], &["--json"]].concat()));
    let faults = found["faults"]["faults"].as_array().expect("a list");
    assert_eq!(faults.len(), 18, "all but the swap half way round, which two channels do not have");
    let spikes = faults.iter().find(|fault| fault["fault"] == "spikes" && fault["strength"] == "±10 σ");
    let spikes = spikes.expect("spikes");
    assert_eq!(spikes["detection"][0]["score"], "surprise");
    assert!(spikes["detection"][0]["auroc"].as_f64().expect("a number") > 0.95, "{spikes}");
    assert_eq!(spikes["groups"][0]["group"], "affected-channels");
    // 12 seconds are too short for an hour, and 120 rows may have too few peaks to extrapolate.
    let source = found["faults"]["scores"][0]["source"].as_str().expect("a source");
    assert!(["extrapolated", "largest-sound"].contains(&source), "{source}");
    let text = succeeds(&["eval", &run, "--faults"]);
    assert!(text.contains("surprise: AUROC") && text.contains("add --rate-hz"), "{text}");
    assert!(fs::read_to_string(page).expect("the page").contains("How well scores detect faults"));
}

#[test]
fn calibrated_error_bars_fit_the_validation_data() {
    let place = Place::new();
    place.train();
    place.export("int8", "plain.qvr");
    let printed = succeeds(&["export", &place.at("run"), "--calibrate", "-o", &place.at("model.qvr")]);
    assert!(printed.contains("by the factors sum ") && printed.contains("sum, conformal"), "{printed}");
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
    let exported = json(&succeeds(&arguments));
    let factor = exported["calibration"][0].as_f64().expect("a factor");
    // An interval of a validation quantile covers that much of the validation data.
    let quantiles = &exported["conformal"]["outputs"][0];
    assert_eq!((&quantiles["n"], &exported["conformal"]["levels"][2]), (&120.into(), &0.9.into()));
    let curve = calibrated["coverage"]["90"].as_f64().expect("a share");
    let quantile = quantiles["quantiles"][2].as_f64().expect("a quantile");
    assert_eq!(curve >= 109.0 / 120.0, quantile <= 1.644_854, "109 of 120 are within the quantile");
    let expected = number(&plain, "nll") - 0.5 * (factor - 1.0 - factor.ln());
    assert!((number(&calibrated, "nll") - expected).abs() < 1e-4, "{} against {expected}", calibrated["nll"]);
}

#[test]
fn binary_outputs_cannot_be_calibrated() {
    let place = Place::new();
    for split in ["train.csv", "valid.csv", "test.csv"] {
        place.write(split, &format!("a,b,sum\n{}", "0,1,1\n1,1,0\n".repeat(60)));
    }
    let (config, run) = (place.at("config.toml"), place.at("run"));
    succeeds(&["train", &config, "--out", &run, "--set", "model.likelihood=bernoulli"]);
    fails(&["export", &run, "--calibrate", "-o", &place.at("model.qvr")], &["--calibrate", "normal"]);
    assert!(!place.path("model.qvr").exists());
}
