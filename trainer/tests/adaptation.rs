//! `quaver adapt` as a user meets it.

mod place;

use std::fs;

use place::{Place, fails, json, succeeds};

/// The test rows of another person: the target is larger by half, and offset. The label column has `name`.
fn other_person(place: &Place, name: &str) -> String {
    let text = fs::read_to_string(place.path("test.csv")).expect("the data");
    let row = |line: &str| {
        let (inputs, sum) = line.rsplit_once(',').expect("three cells");
        format!("{inputs},{}\n", 1.5 * sum.parse::<f32>().expect("a number") + 3.0)
    };
    let rows: String = text.lines().skip(1).map(row).collect();
    place.write("other.csv", &format!("a,b,{name}\n{rows}"));
    place.at("other.csv")
}

#[test]
fn labels_of_the_first_rows_help_with_the_others() {
    let place = Place::with_model("int8");
    let (model, other) = (place.at("model.qvr"), other_person(&place, "sum"));
    // Few labels, and each of them tells something new.
    let adapt = ["adapt", &model, "--in", &other, "--rows", "60,0", "--correlation", "1", "--prior", "10"];
    let with = |more: &[&str]| succeeds(&[&adapt[..], more].concat());
    let found = json(&with(&["--json"]));
    let [none, some] = [0, 1].map(|index| &found["amounts"][index]);
    assert_eq!((&none["rows"], &some["rows"]), (&0.into(), &60.into()), "ascending");
    assert_eq!((&none["adapted"]["n"], &some["adapted"]["n"]), (&120.into(), &60.into()));
    assert_eq!(none["adapted"]["mse"], none["exported"]["mse"], "nothing was learned");
    let mse = |of: &str| some[of]["mse"].as_f64().expect("a number");
    assert!(mse("adapted") < 0.1 * mse("exported"), "{some}");
    assert!(found["arena_bytes"].as_u64() > found["exported_arena_bytes"].as_u64());

    let table = with(&["--hz", "10"]);
    assert!(table.starts_with("labelled rows  seconds  scored rows"), "{table}");
    assert!(table.contains("full covariance: ") && table.lines().nth(2).expect("a row").contains("6.0"));
    let diagonal = with(&["--diagonal"]);
    assert!(diagonal.contains("diagonal covariance: "), "{diagonal}");

    let (out, plot) = (place.at("adapted.csv"), place.at("adapted.html"));
    with(&["--out", &out, "--plot", &plot]);
    let written = fs::read_to_string(&out).expect("predictions");
    assert_eq!(written.lines().count(), 121);
    assert_eq!(written.lines().next(), Some("sum.mean,sum.std_dev,sum.epistemic,sum.aleatoric"));
    let page = fs::read_to_string(&plot).expect("a page");
    assert!(page.contains("labelled") && page.contains("By number of labelled rows"));

    // The same rows through a config, and with another name for the labels.
    let config = place::CONFIG.replace("test.csv", "other.csv");
    place.write("other.toml", &config);
    let of_config = ["adapt", &model, "--data", &place.at("other.toml"), "--json"];
    let of_config = json(&succeeds(&[&of_config[..], &adapt[4..]].concat()));
    assert_eq!(of_config["amounts"], found["amounts"]);
    other_person(&place, "load_cell");
    assert_eq!(json(&with(&["--json", "--labels", "load_cell"]))["amounts"], found["amounts"]);
    fails(&adapt, &["other.csv", "no column `sum`", "load_cell"]);
}

#[test]
fn a_model_of_its_own_next_row_learns_from_its_rows() {
    let place = Place::new();
    let config = place.at("config.toml");
    succeeds(&["train", &config, "--out", &place.at("run"), "--set", "data.targets=next"]);
    place.export("int8", "model.qvr");
    let (model, rows) = (place.at("model.qvr"), place.at("test.csv"));
    let found = json(&succeeds(&["adapt", &model, "--in", &rows, "--correlation", "1", "--json"]));
    let last = found["amounts"].as_array().expect("a list").last().expect("amounts");
    assert_eq!(last["rows"], 60);
    let mse = |of: &str| last[of]["mse"].as_f64().expect("a number");
    assert!(mse("adapted") < mse("exported"), "{last}");
    fails(&["adapt", &model, "--in", &rows, "--labels", "a,b,sum"], &["omit --labels"]);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let place = Place::with_model("int8");
    let (model, other) = (place.at("model.qvr"), other_person(&place, "sum"));
    let adapt = |more: &[&str], names: &[&str]| {
        fails(&[&["adapt", &model, "--in", &other][..], more].concat(), names);
    };
    adapt(&["--prior", "0"], &["adaptation: prior must be from 1e-6 to 1e6"]);
    adapt(&["--forgetting", "0.5"], &["adaptation: forgetting must be above 0.9"]);
    adapt(&["--rows", "120"], &["no rows are left to score", "120"]);
    adapt(&["--rows", "50", "--score-from", "10"], &["--score-from", "row 50"]);
    adapt(&["--labels", "a,b"], &["--labels names 2 columns", "1 outputs (sum)"]);
    adapt(&["--seconds", "5"], &["--hz"]);
    adapt(&["--seconds", "5", "--hz", "0"], &["--hz must be a positive number"]);
    fails(&["adapt", &model], &["--input"]);
    fails(&["adapt", &other, "--in", &other], &["other.csv is not a usable checkpoint"]);
}
