//! Targets as people think of them: columns some rows ahead, classes of rows, and configs of files and
//! targets.

mod place;

use std::fs;

use place::{Place, fails, json, run, succeeds};

const MODEL: &str = "[model]\ncell = \"tanh\"\nlayers = [6]\n[training]\nbatch = 4\nchunk = 40\n\
                     learning_rate = 0.02\nepochs = 6\n";

fn with_config(data: &str, rest: &str) -> Place {
    let place = Place::new();
    place.write("config.toml", &format!("seed = 3\n[data]\n{data}\n{rest}"));
    place
}

fn files(targets: &str) -> String {
    format!("train = 'train.csv'\nvalid = 'valid.csv'\ntest = 'test.csv'\ntargets = {targets}")
}

/// A stream whose class is told by the sum of its two inputs, late in some rows and unlabelled in others.
fn gestures(rows: usize, names: [&str; 3]) -> String {
    let mut text = String::from("a,b,gesture\n");
    for t in 0..rows {
        let class = t / 20 % 3;
        let wobble = (t as f32 * 0.7).sin();
        let label = if t % 11 == 4 { "" } else { names[class] };
        text += &format!("{},{},{label}\n", class as f32 + 0.3 * wobble, 2.0 - class as f32 + 0.2 * wobble);
    }
    text
}

#[test]
fn columns_some_rows_ahead_are_trained_evaluated_exported_and_run() {
    let place = with_config(&files("{ next = 'sum', horizon = [1, 4] }"), MODEL);
    place.train();
    let found = json(&succeeds(&["eval", &place.at("run"), "--json"]));
    let outputs = found["per_output"].as_array().expect("scores of outputs");
    let named: Vec<_> =
        outputs.iter().map(|output| (output["name"].as_str(), output["n"].as_u64())).collect();
    // Of 120 rows the last one has no target a row ahead, and the last four none four rows ahead.
    assert_eq!(named, [(Some("sum+1"), Some(119)), (Some("sum+4"), Some(116))]);
    let baselines = found["baselines"].as_array().expect("baselines");
    let persistence = baselines.iter().find(|found| found["name"] == "persistence").expect("persistence");
    assert_eq!(persistence["sees_targets"], false, "the model reads the column as well");
    for (output, rows) in [(0, 1), (1, 4)] {
        let mse = persistence["per_output"][output]["mse"].as_f64().expect("an error");
        assert!((mse / mean_change(&place, rows) - 1.0).abs() < 1e-6, "{mse}: only sums differ in order");
    }
    assert!(baselines.iter().any(|found| found["name"] == "ridge AR"), "{baselines:?}");

    place.export("f32", "model.qvr");
    let shown = json(&succeeds(&["inspect", &place.at("model.qvr"), "--json"]));
    assert_eq!(shown["input_names"].as_array().map(Vec::len), Some(3), "all columns are inputs");
    let answers = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("test.csv")]);
    assert!(answers.starts_with("sum+1.mean,sum+1.std_dev"), "{answers}");
    let run = place.at("run");
    for option in [&["--observe"][..], &["--reversed"], &["--dynamic", "0.1"]] {
        let arguments = [&["eval", &run][..], option].concat();
        fails(&arguments, &[option[0], "targets some rows ahead"]);
    }
}

/// Mean squared change of the target of the test rows over a number of rows.
fn mean_change(place: &Place, rows: usize) -> f64 {
    let text = fs::read_to_string(place.path("test.csv")).expect("the data");
    let value = |line: &str| line.rsplit(',').next().expect("a target").parse::<f32>().expect("a number");
    let values: Vec<f64> = text.lines().skip(1).map(value).map(f64::from).collect();
    let changes = values.windows(rows + 1).map(|window| (window[rows] - window[0]).powi(2));
    changes.sum::<f64>() / (values.len() - rows) as f64
}

#[test]
fn no_target_comes_from_the_rows_of_another_split() {
    let data = "train = { file = 'train.csv', rows = '..300' }\ntest = { file = 'train.csv', rows = '300..' }\n\
                targets = { next = 'sum', horizon = 50 }";
    let place = with_config(data, MODEL);
    place.train();
    // 300 rows, of which the last 60 are for validation, and 100 test rows.
    for (split, n) in [("train", 240 - 50), ("valid", 60 - 50), ("test", 100 - 50)] {
        let found = json(&succeeds(&["eval", &place.at("run"), "--split", split, "--json"]));
        assert_eq!(found["n"].as_u64(), Some(n), "{split}");
    }
    let arguments = ["train", &place.at("config.toml"), "--out", &place.at("far"), "--set"];
    let set = |value| [&arguments[..], &[value]].concat();
    fails(&set("data.targets.horizon=60"), &["data.valid has a target 60 rows ahead", "60 rows"]);
    fails(&set("data.targets.horizon=0"), &["data.targets.horizon", "from 1"]);
    fails(&set("data.targets.horizon=[5, 1]"), &["ascending order"]);
    fails(&set("data.targets.next=force"), &["data.targets.next: no column `force`"]);
    fails(&set("data.noise={ snr_db = 5 }"), &["data.noise", "some rows ahead"]);
    fails(&set("model.residual=true"), &["model.residual"]);
}

#[test]
fn classes_of_rows_are_trained_evaluated_exported_and_run() {
    let place = with_config(&files("{ class = 'gesture' }"), &MODEL.replace("epochs = 6", "epochs = 30"));
    for (name, rows) in [("train", 600), ("valid", 120), ("test", 120)] {
        place.write(&format!("{name}.csv"), &gestures(rows, ["rest", "fist", "pinch"]));
    }
    place.train();
    let found = json(&succeeds(&["eval", &place.at("run"), "--json"]));
    let classes = &found["classification"];
    assert!(classes["accuracy"].as_f64().is_some_and(|accuracy| accuracy > 0.8), "{classes}");
    assert_eq!(classes["n"].as_u64(), Some(109), "rows without a label do not count");
    let names: Vec<_> =
        classes["per_class"].as_array().expect("classes").iter().map(|c| c["name"].as_str()).collect();
    assert_eq!(names, [Some("fist"), Some("pinch"), Some("rest")]);
    let page = place.at("page.html");
    let printed = succeeds(&["eval", &place.at("run"), "--plot", &page]);
    for part in ["balanced accuracy", "true \\ predicted", "macro F1"] {
        assert!(printed.contains(part), "{printed}");
    }
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("Confusion matrix") && page.contains("fist over time"));

    for weights in ["f32", "int8"] {
        place.export(weights, "model.qvr");
        let answers = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("test.csv")]);
        let mut lines = answers.lines().map(|line| line.rsplit(',').collect::<Vec<_>>());
        assert_eq!(lines.next().expect("a header")[..2], ["probability", "class"]);
        let last = lines.next_back().expect("an answer");
        assert_eq!(last[1], "pinch", "120 rows end in the third class");
        assert!(last[0].parse::<f32>().is_ok_and(|p| (0.4..=1.0).contains(&p)), "{last:?}");
    }
}

#[test]
fn integers_are_labels_with_names_and_faulty_labels_are_refused() {
    let place = with_config(&files("{ class = 'gesture', names = { 0 = 'rest' } }"), MODEL);
    for (name, rows) in [("train", 300), ("valid", 120), ("test", 120)] {
        place.write(&format!("{name}.csv"), &gestures(rows, ["0", "2", "10"]));
    }
    place.train();
    let found = json(&succeeds(&["eval", &place.at("run"), "--json"]));
    assert_eq!(found["classification"]["confusion"]["classes"], json("[\"rest\", \"2\", \"10\"]"));

    let arguments = ["train", &place.at("config.toml"), "--out", &place.at("other"), "--set"];
    let set = |value| [&arguments[..], &[value]].concat();
    fails(&set("model.likelihood=gaussian"), &["model.likelihood", "categorical"]);
    fails(&set("data.targets={ class = 'grip' }"), &["data.targets.class: no column `grip`"]);
    fails(&set("data.targets={ class = 'gesture', horizon = 2 }"), &["`class` excludes"]);
    fails(&set("data.targets={}"), &["set `next` or `horizon`"]);
    let train = ["train", &place.at("config.toml"), "--out", &place.at("other")];
    place.write("valid.csv", &gestures(120, ["0", "2", "11"]));
    fails(&train, &["of data.valid", "is of class `11`, which no training row has", "rest, 2, 10"]);
    place.write("train.csv", &gestures(300, ["0", "0", "0"]));
    fails(&train, &["every label in the training data is `rest`"]);
}

#[test]
fn files_and_targets_are_enough_and_what_is_chosen_is_in_the_run() {
    let place = with_config(&files("'sum'"), "");
    let config = place.at("config.toml");
    let short = ["--set", "training.epochs=2"];
    let output = run(&[&["train", &config, "--out", &place.at("run")][..], &short].concat());
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}");
    for part in ["leaves these to the 400 training rows: model.cell = \"gru\"", "standardised NLL: training"]
    {
        assert!(printed.contains(part), "{printed}");
    }
    assert!(printed.contains("in raw units, as `quaver eval` prints it"), "{printed}");
    let chosen = fs::read_to_string(place.path("run").join("config.toml")).expect("the config of the run");
    assert!(chosen.contains("chunk = 25\n") && chosen.contains("batch = 4\n"), "{chosen}");
    // Resuming chooses the same.
    succeeds(&["train", &config, "--out", &place.at("run"), "--resume", "--set", "training.epochs=2"]);
}

#[test]
fn an_epoch_of_few_steps_comes_with_a_hint() {
    let place = with_config(&files("'sum'"), "[training]\nepochs = 1\n");
    let output = run(&["train", &place.at("config.toml"), "--out", &place.at("run")]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("400 training rows make 1 step per epoch"), "{printed}");
    assert!(printed.contains("training.batch = 4 and training.chunk = 20"), "{printed}");
}

#[test]
fn the_validation_loss_in_raw_units_is_that_of_eval() {
    let place = with_config(&files("'sum'"), &format!("{MODEL}refit_noise = false\n"));
    let output = run(&["train", &place.at("config.toml"), "--out", &place.at("run")]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let raw = printed.trim().rsplit(' ').next().and_then(|nll| nll.parse::<f64>().ok()).expect("a number");
    let found = json(&succeeds(&["eval", &place.at("run"), "--split", "valid", "--json"]));
    let nll = found["nll"].as_f64().expect("the NLL");
    assert!((nll - raw).abs() < 1e-3, "{nll} by eval, {raw} by train: both of the same network in f32");
}

#[test]
fn values_beyond_32_bits_are_named() {
    let place = with_config(&files("'sum'"), MODEL);
    let text = fs::read_to_string(place.path("train.csv")).expect("the data");
    let row = text.lines().nth(7).expect("a row");
    place.write("train.csv", &text.replacen(row, "1,4e30,2", 1));
    let names = ["train.csv: row 6", "column `b`", "4e30", "too large"];
    fails(&["train", &place.at("config.toml"), "--out", &place.at("run")], &names);
}

#[test]
fn traces_show_what_is_asked_for() {
    let place = Place::new();
    place.train();
    let page = place.at("page.html");
    let options = ["--plot", &page, "--trace", "sum", "--trace-rows", "10..60", "--rate-hz", "50"];
    succeeds(&[&["eval", &place.at("run")][..], &options].concat());
    let text = fs::read_to_string(&page).expect("the page");
    for part in ["sum over time", "Rows 10 to 59 of sequence 0", "50 % band", "time (s)", "a missing"] {
        assert!(text.contains(part), "{part}");
    }
    let eval = |more: &[&str]| {
        let arguments: Vec<String> =
            ["eval", &place.at("run"), "--plot", &page].iter().chain(more).map(ToString::to_string).collect();
        arguments
    };
    for (more, names) in [
        (["--trace", "force"], ["no output `force`", "sum"]),
        (["--trace-rows", "100..130"], ["100..130", "120 rows"]),
    ] {
        let arguments = eval(&more);
        fails(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &names);
    }
}
