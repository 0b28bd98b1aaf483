//! `quaver prune` as a user types it, and what every other command makes of a pruned run.

mod place;

use std::fs;

use place::{Place, config, fails, json, succeeds};
use serde_json::Value;

/// Wide enough that blocks matter, with a variance for every weight.
const WIDE: &str =
    config!("targets = ['sum']\n[model]\ncell = 'lstm'\nlayers = [40]\n[weights]\nposterior = 'ropd'\n", 6);

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is missing in {value}"))
}

#[test]
fn the_curve_begins_with_the_run_as_it_is() {
    let place = Place::new();
    place.train();
    let found = json(&succeeds(&["prune", &place.at("run"), "--json"]));
    let curve = found["curve"].as_array().expect("a curve");
    assert_eq!(
        (curve.len(), &found["criterion"], &found["unit"]),
        (15, &"magnitude".into(), &"weight".into())
    );
    let whole = json(&succeeds(&["eval", &place.at("run"), "--split", "valid", "--json"]));
    assert!((number(&curve[0], "nll") - number(&whole, "nll")).abs() < 1e-9);
    // Two inputs, six units, one output.
    assert_eq!(found["units"], 6 * 8 + 6);
    assert_eq!(curve[5]["weights"]["left"], 27);
    assert!(number(&curve[14], "nll") > number(&curve[0], "nll"));
    let text = succeeds(&["prune", &place.at("run"), "--curve", "0.5", "--keep", "0.25"]);
    for part in
        ["54 weights", "magnitude", "54 of 54", "27 of 54", "chosen: 75 %", "layer0", "calibration error"]
    {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert!(!place.path("pruned").exists(), "nothing is written without --out");
}

#[test]
fn a_pruned_run_trains_evaluates_exports_and_streams() {
    let place = Place::new();
    place.write("config.toml", WIDE);
    place.train();
    let (run, pruned) = (place.at("run"), place.at("pruned"));
    let page = place.at("pruning.html");
    let arguments = ["--blocks", "--keep", "0.2", "--epochs", "3", "--curve", "0,0.8", "--plot", &page];
    let output = place::run(&[&["prune", &run, "--out", &pruned][..], &arguments].concat());
    let [text, notes] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("all epochs are done; best epoch"), "{notes}");
    for part in ["norm over noise", "chosen: 80 %", "after 3 epochs", "the pruned run"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert!(fs::read_to_string(&page).expect("a page").contains("What pruning costs"));

    let trained = json(&succeeds(&["eval", &pruned, "--split", "valid", "--json"]));
    let f32_model = place.at("f32.qvr");
    succeeds(&["export", &pruned, "--weights", "f32", "-o", &f32_model]);
    let config = place.at("config.toml");
    let exported = json(&succeeds(&["eval", &f32_model, "--data", &config, "--split", "valid", "--json"]));
    // The same weights and the same arithmetic, summed in another order.
    assert!((number(&exported, "nll") - number(&trained, "nll")).abs() < 1e-3);

    let (sparse, dense) = (place.at("sparse.qvr"), place.at("dense.qvr"));
    let chosen = json(&succeeds(&["export", &pruned, "-o", &sparse, "--json"]));
    assert_eq!((&chosen["layout"], chosen.get("why_float")), (&"sparse".into(), None));
    succeeds(&["export", &pruned, "--layout", "fast", "-o", &dense]);
    let inspected = json(&succeeds(&["inspect", &sparse, "--json"]));
    assert!((number(&inspected, "pruned") - 0.8).abs() < 0.005, "{inspected}");
    let [left, all] =
        ["multiply_accumulates_left", "multiply_accumulates"].map(|key| number(&inspected, key));
    // Blocks at the edge of the map count as whole ones.
    assert!((0.19..0.22).contains(&(left / all)), "{left} of {all}");
    assert!(fs::metadata(&sparse).unwrap().len() < fs::metadata(&dense).unwrap().len() / 2);
    let test = place.at("test.csv");
    let rows = |model: &str| succeeds(&["run", model, "--in", &test]);
    assert_eq!(rows(&sparse), rows(&dense), "both layouts predict the same");
    succeeds(&["eval", &pruned, "--mc-draws", "3"]);
    succeeds(&["eval", &pruned, "--dynamic", "0.01"]);
}

#[test]
fn a_pruned_run_resumes_with_the_same_bits_and_hands_its_zeros_on() {
    let place = Place::new();
    place.train();
    let (run, config) = (place.at("run"), |run: &str| place.at(&format!("{run}/config.toml")));
    for out in ["one", "two"] {
        succeeds(&["prune", &run, "--keep", "0.5", "--curve", "0", "--out", &place.at(out)]);
    }
    succeeds(&["train", &config("one"), "--out", &place.at("one"), "--resume"]);
    let parts = ["--set", "training.epochs=1"];
    succeeds(&[&["train", &config("two"), "--out", &place.at("two"), "--resume"][..], &parts].concat());
    let whole = ["--set", "training.epochs=4"];
    succeeds(&[&["train", &config("two"), "--out", &place.at("two"), "--resume"][..], &whole].concat());
    place.assert_same_runs("one", "two");
    // A run that starts from a pruned one is pruned as well, and so is one that is pruned further.
    succeeds(&["train", &place.at("config.toml"), "--out", &place.at("tuned"), "--from", &place.at("one")]);
    let left = |run: &str| json(&succeeds(&["prune", &place.at(run), "--curve", "0", "--json"]));
    assert_eq!(left("tuned")["curve"][0]["weights"]["left"], 27);
    succeeds(&["prune", &place.at("one"), "--keep", "0.3", "--curve", "0", "--out", &place.at("further")]);
    assert_eq!(left("further")["curve"][0]["weights"]["left"], 16);
}

#[test]
fn what_cannot_be_pruned_is_refused_and_nothing_is_written() {
    let place = Place::new();
    place.train();
    let (run, out) = (place.at("run"), place.at("pruned"));
    for keep in ["0", "1.5", "-0.1", "nan", "much"] {
        fails(
            &["prune", &run, &format!("--keep={keep}"), "--out", &out],
            &["--keep", "above 0 and at most 1"],
        );
    }
    fails(&["prune", &run, "--out", &out], &["--keep"]);
    fails(&["prune", &run, "--epochs", "3"], &["--out"]);
    fails(&["prune", &run, "--curve", "0.5,1"], &["--curve", "below 1"]);
    let other = ["--set", "model.layers=[7]"];
    fails(&[&["prune", &run, "--keep", "0.5", "--out", &out][..], &other].concat(), &["another network"]);
    fails(&[&["prune", &run, "--curve", "0.5"][..], &other].concat(), &["another network"]);
    assert!(!place.path("pruned").exists());
    fails(&["prune", &run, "--keep", "0.5", "--out", &run], &["already contains a run"]);
    fails(&["prune", &place.at("nothing"), "--keep", "0.5", "--out", &out], &["nothing"]);
}

#[test]
fn latent_models_are_refused() {
    let place = Place::new();
    let latent = config!(
        "targets = 'next'\n[latent]\nfamily = 'storn'\nlatents = 2\n[model]\ncell = 'tanh'\nlayers = [4]\n",
        1
    );
    place.write("config.toml", latent);
    place.train();
    fails(&["prune", &place.at("run"), "--keep", "0.5"], &["latent model", "predictors"]);
}

#[test]
fn models_of_text_are_pruned_too() {
    let place = Place::new();
    place.write("train.txt", &"one two buckle my shoe\nthree four shut the door\n".repeat(20));
    place.write(
        "config.toml",
        "[data]\nformat = 'characters'\ntrain = 'train.txt'\nvalid_fraction = 0.1\ntargets = 'next'\n\
         [model]\nlayers = [16]\nlikelihood = 'categorical'\nembedding = 8\n\
         [training]\nlearning_rate = 0.02\ncarry_state = true\nbatch = 8\nchunk = 16\nepochs = 4\n",
    );
    place.train();
    let (run, pruned) = (place.at("run"), place.at("pruned"));
    let arguments = ["--keep", "0.5", "--epochs", "2", "--curve", "0,0.5", "--out", &pruned];
    let text = succeeds(&[&["prune", &run][..], &arguments].concat());
    assert!(text.contains("perplexity") && !text.contains("90 % interval"), "{text}");
    let evaluated = json(&succeeds(&["eval", &pruned, "--split", "valid", "--json"]));
    let found = json(&succeeds(&["prune", &pruned, "--curve", "0", "--json"]));
    let whole = &found["curve"][0];
    assert!((number(whole, "nll") - number(&evaluated, "nll")).abs() < 1e-9);
    // Sixteen units: four gates over eight numbers of the embedding and sixteen units, and per symbol its
    // eight numbers and a row of the output map.
    let all = 4 * 16 * 24 + (8 + 16) * evaluated["vocabulary"].as_u64().expect("a size");
    assert_eq!((&whole["weights"]["left"], &whole["weights"]["all"]), (&(all / 2).into(), &all.into()));
}
