//! Plausible ranges on the command line: chosen, shown, and reported where values lie outside.

mod place;

use std::fs;

use place::{Place, config, fails, json, run, succeeds};

/// Standard output and standard error of a call that must succeed.
fn outputs(arguments: &[&str]) -> [String; 2] {
    let output = run(arguments);
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert!(output.status.success(), "quaver {}: {errors}", arguments.join(" "));
    [out, errors]
}

/// The test rows of a place, with garbage in three values of two rows, or with nothing there.
fn with_garbage(place: &Place) -> [String; 2] {
    let rows = fs::read_to_string(place.path("test.csv")).expect("the data");
    let changed = |first: [&str; 2], second: &str| {
        let mut lines: Vec<String> = rows.lines().map(String::from).collect();
        lines[31] = format!("{},{},10", first[0], first[1]);
        lines[61] = format!("{second},5,10");
        lines.join("\n") + "\n"
    };
    [changed(["32767", "-1e30"], "1e9"), changed(["", ""], "")]
}

#[test]
fn garbage_is_treated_as_missing_and_reported() {
    let place = Place::with_model("int8");
    let (model, config) = (place.at("model.qvr"), place.at("config.toml"));
    let shown = json(&succeeds(&["inspect", &model, "--json"]));
    // Inputs are 3 to 7, the margin is half of that range.
    let [low, high] = [0, 1].map(|side| shown["ranges"][1][side].as_f64().expect("a limit"));
    assert!((low - 1.0).abs() < 0.05 && (high - 9.0).abs() < 0.05, "{low} {high}");
    assert!(shown["extensions"].to_string().contains("plausible ranges"), "{shown}");
    assert!(succeeds(&["inspect", &model]).contains("plausible from"));

    for (name, text) in ["garbage.csv", "missing.csv"].into_iter().zip(with_garbage(&place)) {
        place.write(name, &text);
    }
    let [garbage, told] = outputs(&["run", &model, "--input", &place.at("garbage.csv")]);
    let [missing, silent] = outputs(&["run", &model, "--input", &place.at("missing.csv")]);
    assert_eq!(garbage, missing);
    assert_eq!(silent, "");
    assert_eq!(told, "3 implausible values in 2 of 120 rows, treated as missing (a 2, b 1)\n");

    fs::copy(place.path("garbage.csv"), place.path("test.csv")).expect("a writable folder");
    let [printed, told] = outputs(&["eval", &model, "--data", &config, "--json"]);
    let counts = serde_json::json!({"values": 3, "rows": 2, "of_rows": 120, "channels": {"a": 2, "b": 1}});
    assert_eq!(json(&printed)["implausible"], counts);
    assert!(told.contains("3 implausible values"), "{told}");
    let [printed, _] = outputs(&["eval", &model, "--data", &config, "--json", "--split", "valid"]);
    assert!(json(&printed)["implausible"].is_null());
    let [_, told] = outputs(&["adapt", &model, "--data", &config]);
    assert!(told.contains("3 implausible values"), "{told}");
}

#[test]
fn ranges_are_chosen_by_margin_by_hand_or_not_at_all() {
    let place = Place::new();
    place.train();
    let (run, model) = (place.at("run"), place.at("model.qvr"));
    let export = |more: &[&str]| succeeds(&[&["export", &run, "-o", &model], more].concat());
    let ranges = || json(&succeeds(&["inspect", &model, "--json"]))["ranges"].clone();
    let printed = export(&["--range", "a=0:6.5", "--range", "b=4:"]);
    assert_eq!(ranges(), serde_json::json!([[0.0, 6.5], [4.0, null]]));
    assert!(printed.contains("2 of 2 inputs have plausible ranges"), "{printed}");
    assert!(printed.contains("implausible values in") && printed.contains("of 120 rows"), "{printed}");
    let found = json(&export(&["--range", "a=0:6.5", "--json"]));
    assert!(found["implausible"]["channels"]["a"].as_u64().is_some_and(|count| count > 0), "{found}");

    let printed = export(&["--range-margin", "0.1"]);
    let low = ranges()[0][0].as_f64().expect("a limit");
    assert!((low - 2.6).abs() < 0.05, "{low}");
    assert!(printed.contains("none of the validation values is"), "{printed}");
    export(&["--range-margin", "inf", "--range", "b=:9"]);
    assert_eq!(ranges(), serde_json::json!([[null, null], [null, 9.0]]));
    for none in [&["--no-ranges"][..], &["--range-margin", "inf"]] {
        let printed = export(none);
        assert_eq!(ranges(), serde_json::json!([]));
        assert!(!printed.contains("plausible"), "{printed}");
        let bytes = fs::read(&model).expect("the model");
        assert_eq!(bytes[4], 3, "the version of checkpoints without ranges");
    }

    let wrong = |more: &[&str], names: &[&str]| {
        fails(&[&["export", &run, "-o", &place.at("wrong.qvr")], more].concat(), names);
        assert!(!place.path("wrong.qvr").exists());
    };
    wrong(&["--range", "c=0:1"], &["--range", "no input `c`", "a, b"]);
    wrong(&["--range", "a=0:1", "--range", "a=0:2"], &["`a` is given twice"]);
    wrong(&["--range", "a=2:1"], &["lower limit of a, 2, is not below the upper one, 1"]);
    wrong(&["--range", "a=1"], &["expected CHANNEL=LOW:HIGH", "\"a=1\""]);
    wrong(&["--range-margin=-1"], &["--range-margin", "multiple of the training range"]);
    wrong(&["--no-ranges", "--range", "a=0:1"], &["--no-ranges", "cannot be used with"]);
}

const VOSP: &str = config!(
    "inputs = ['a', 'b']\ntargets = 'next'\n[latent]\nfamily = 'vosp'\nlatents = 2\n[model]\ncell = 'dense-tanh'\nlayers = [6]\n",
    3
);

#[test]
fn a_denoiser_treats_garbage_as_missing() {
    let place = Place::new();
    place.write("config.toml", VOSP);
    place.train();
    let printed = place.export("int8", "model.qvr");
    assert!(printed.contains("2 of 2 inputs have plausible ranges"), "{printed}");
    let model = place.at("model.qvr");
    let shown = json(&succeeds(&["inspect", &model, "--json"]));
    assert_eq!(shown["recognition"]["ranges"].as_array().map(Vec::len), Some(2));
    assert!(succeeds(&["inspect", &model]).contains("plausible from"));
    let truth = place.at("truth.csv");
    fs::copy(place.path("test.csv"), &truth).expect("a writable folder");
    for (name, text) in ["garbage.csv", "missing.csv"].into_iter().zip(with_garbage(&place)) {
        place.write(name, &text);
    }
    let [garbage, told] = outputs(&["denoise", &model, "--input", &place.at("garbage.csv")]);
    let [missing, silent] = outputs(&["denoise", &model, "--input", &place.at("missing.csv")]);
    assert_eq!(garbage, missing);
    assert_eq!(silent, "");
    assert!(told.contains("3 implausible values in 2 of 120 rows"), "{told}");
    let scored = ["denoise", &model, "--input", &place.at("garbage.csv"), "--truth", &truth, "--json"];
    assert_eq!(json(&outputs(&scored)[0])["implausible"]["values"], 3);
}
