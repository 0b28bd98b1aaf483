//! The command line as a user sees it: output, files and errors.

mod place;

use std::fs;
use std::path::Path;

use place::{LivePipe, Place, fails, json, succeeds};

#[test]
fn from_rows_to_predictions() {
    let place = Place::new();
    place.train();
    for file in ["config.toml", "metrics.csv", "metrics.jsonl", "best.state", "last.state"] {
        assert!(place.path("run").join(file).is_file(), "{file}");
    }
    let printed = place.export("int8", "model.qvr");
    assert!(printed.contains("bytes of flash") && printed.contains("against f32"), "{printed}");

    let constants = fs::read_to_string(place.path("model.rs")).expect("constants next to the model");
    assert!(constants.contains(r#"include_checkpoint!("model.qvr")"#), "{constants}");
    place.has_type("embed_model");
    let shown = json(&succeeds(&["inspect", &place.at("model.qvr"), "--json"]));
    assert!(constants.contains(&format!("ARENA_WORDS: usize = {};", shown["arena_words"])), "{constants}");
    assert_eq!(shown["flash_bytes"], fs::metadata(place.path("model.qvr")).expect("the model").len());
    assert_eq!(shown["layers"][0]["cell"], "tanh");
    assert!(succeeds(&["inspect", &place.at("model.qvr")]).contains("multiply-accumulates"));

    let scores = |evaluated: &str| {
        json(&succeeds(&["eval", &place.at(evaluated), "--data", &place.at("config.toml"), "--json"]))
    };
    let (net, runtime) = (scores("run"), scores("model.qvr"));
    for key in ["nll", "mse", "r2", "n", "per_output"] {
        assert!(!net[key].is_null(), "{key}");
    }
    assert_eq!(net["n"], 120);
    assert!(runtime["coverage"]["90"].as_f64().is_some());
    let cost = runtime["nll"].as_f64().unwrap() - net["nll"].as_f64().unwrap();
    assert!(cost.abs() < 0.1, "int8 costs {cost} nats");

    let test = fs::read_to_string(place.path("test.csv")).expect("the data");
    let predictions = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("test.csv")]);
    assert_eq!(predictions.lines().count(), test.lines().count());
    assert_eq!(predictions.lines().next(), Some("sum.mean,sum.std_dev,sum.epistemic,sum.aleatoric"));
    let written = place.at("predictions.csv");
    let input = place.at("test.csv");
    succeeds(&["run", &place.at("model.qvr"), "--input", &input, "--output", &written]);
    assert_eq!(fs::read_to_string(&written).expect("predictions"), predictions);
}

#[test]
fn a_header_for_c_is_written_on_demand() {
    let place = Place::new();
    place.train();
    let export = |name: &str, more: &[&str]| {
        let (run, output) = (place.at("run"), place.at(name));
        succeeds(&[&["export", &run, "-o", &output][..], more].concat())
    };
    export("plain.qvr", &[]);
    assert!(!place.path("plain.h").exists());
    let printed = export("my-model.qvr", &["--c"]);
    assert!(printed.contains("my-model.h: the model for C and C++"), "{printed}");
    let header = fs::read_to_string(place.path("my-model.h")).expect("a header next to the model");
    let words = &json(&succeeds(&["inspect", &place.at("my-model.qvr"), "--json"]))["arena_words"];
    let arena = format!("#define MY_MODEL_ARENA_WORDS ({words}u + QUAVER_PREDICTOR_WORDS)");
    assert!(header.contains(&arena) && header.contains("MY_MODEL_OUTPUT_SUM = 0"), "{header}");
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let place = Place::new();
    let config = place.at("config.toml");
    place.train();
    place.resumes_with_the_same_bits(&config);
}

#[test]
fn data_may_lie_elsewhere() {
    let place = Place::new();
    fs::create_dir(place.path("configs")).expect("a writable folder");
    place.write("configs/config.toml", place::CONFIG);
    let (config, out) = (place.at("configs/config.toml"), place.at("run"));
    fails(&["train", &config, "--out", &out], &["train.csv", "--data-dir"]);
    succeeds(&["train", &config, "--out", &out, "--data-dir", &place.at("")]);
    // The run remembers, and needs no further argument.
    let own = succeeds(&["eval", &out, "--json"]);
    assert_eq!(own, succeeds(&["eval", &out, "--data", &config, "--data-dir", &place.at(""), "--json"]));
    place.export("int8", "model.qvr");
    fails(&["eval", &place.at("model.qvr")], &["model.qvr", "--data"]);
}

#[test]
fn a_live_pipe_gets_an_answer_to_every_row() {
    let place = Place::with_model("f32");
    let mut pipe = LivePipe::open(&["run", &place.at("model.qvr")]);
    for line in ["b,a,more\n", "5.5,4.5,text\n", ",5.0,\n", "6.1,4.2,x\n"] {
        let answer = pipe.answer(line);
        assert_eq!(answer.split(',').count(), 4, "{answer}");
    }
    pipe.close();
}

#[test]
fn predictions_of_the_next_row_come_with_a_surprise() {
    let place = Place::new();
    let next = [r#"data.targets="next""#, r#"data.inputs=["a","b"]"#];
    succeeds(&[
        "train",
        &place.at("config.toml"),
        "--out",
        &place.at("run"),
        "--set",
        next[0],
        "--set",
        next[1],
    ]);
    place.export("int8", "model.qvr");
    let predictions = succeeds(&["run", &place.at("model.qvr"), "--input", &place.at("test.csv")]);
    let header: Vec<&str> = predictions.lines().next().expect("a header").split(',').collect();
    assert_eq!(&header[header.len() - 3..], ["surprise", "a.z", "b.z"]);
    let gap = predictions.lines().nth(6).expect("the sixth row, where a is missing");
    let cells: Vec<&str> = gap.split(',').collect();
    assert_eq!(cells[cells.len() - 2], "", "no residual for a missing value: {gap}");
    assert!(cells[cells.len() - 1].parse::<f32>().is_ok());
}

#[test]
fn errors_of_files_and_columns_say_what_and_where() {
    let place = Place::new();
    let config = place.at("config.toml");
    let out = place.at("other");
    fails(&["train", &place.at("absent.toml"), "--out", &out], &["absent.toml"]);
    fails(&["train", &config, "--out", &out, "--set", r#"data.train="absent.csv""#], &["absent.csv"]);
    fails(
        &["train", &config, "--out", &out, "--set", r#"data.targets=["force"]"#],
        &["force", "train.csv", "sum"],
    );
    fails(&["train", &config, "--out", &out, "--set", "training.epoch=3"], &["epoch", "epochs"]);
    fails(&["train", &config, "--out", &out, "--set", "model.cell=rnn"], &["rnn", "lstm", "gru"]);
    place.write("broken.toml", "seed = 3\n[data\n");
    fails(&["train", &place.at("broken.toml"), "--out", &out], &["broken.toml", "2"]);
    place.write("ragged.csv", "a,b,sum\n1,2,3\n1,2\n");
    fails(&["train", &config, "--out", &out, "--set", r#"data.train="ragged.csv""#], &["ragged.csv:3"]);
    place.write("words.csv", "a,b,sum\n1,2,3\n1,two,3\n");
    fails(&["train", &config, "--out", &out, "--set", r#"data.train="words.csv""#], &["words.csv:3", "two"]);
    assert!(!Path::new(&out).exists(), "a run that cannot start leaves nothing behind");
}

#[test]
fn errors_of_models_and_runs_say_what_and_where() {
    let place = Place::with_model("int8");
    let (model, config) = (place.at("model.qvr"), place.at("config.toml"));
    fails(&["inspect", &config], &["config.toml", "not a Quaver checkpoint"]);
    fails(&["inspect", &place.at("absent.qvr")], &["absent.qvr"]);
    let mut bytes = fs::read(&model).expect("the model");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(place.path("damaged.qvr"), bytes).expect("a writable folder");
    fails(&["run", &place.at("damaged.qvr")], &["damaged.qvr", "checksum"]);
    fails(&["train", &config, "--out", &place.at("run")], &["run", "--resume"]);
    fails(&["export", &place.at("nowhere"), "-o", &model], &["nowhere"]);
    place.write("narrow.csv", "a,c\n1,2\n");
    fails(&["run", &model, "--input", &place.at("narrow.csv")], &["narrow.csv", "b"]);
    place.write("wide.csv", "1,2,3\n");
    fails(&["run", &model, "--no-header", "--input", &place.at("wide.csv")], &["wide.csv", "3", "2"]);
    place.write("late.csv", "a,b\n1,2\n1,2,3\n");
    let output = place.at("late-out.csv");
    let late = ["run", &model, "--strict", "--input", &place.at("late.csv"), "--output", &output];
    fails(&late, &["late.csv:3"]);
    assert!(!Path::new(&output).exists(), "nothing half-written");
    let missing = ["eval", &model, "--data", &config, "--split", "tests"];
    fails(&missing, &["tests", "valid"]);
}

#[test]
fn help_shows_examples() {
    assert!(succeeds(&["--help"]).contains("quaver demo"));
    for command in [
        "demo", "train", "search", "eval", "export", "inspect", "run", "denoise", "sample", "impute",
        "convert", "keygen", "sign", "verify",
    ] {
        let help = succeeds(&[command, "--help"]);
        assert!(help.contains("Examples:") && help.contains(&format!("quaver {command}")), "{help}");
    }
}
