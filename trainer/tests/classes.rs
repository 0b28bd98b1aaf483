//! Classifiers end to end: train, export, embed, classify, evaluate, teach, from CSV with text labels.

mod place;

use std::fs;

use place::{LivePipe, fails, json, succeeds};
use tempfile::TempDir;

const CONFIG: &str = "[data]
train = 'train.csv'
valid = 'valid.csv'
test = 'test.csv'
inputs = ['x', 'y']
targets = 'labels'
labels = { column = 'kind', sequence = 'id', exclude = ['turn'] }
[model]
cell = 'lstm'
layers = [8]
[reduce]
dimension = 3
objective = 'nca'
prototypes = 12
[training]
learning_rate = 0.03
batch = 64
chunk = 0
epochs = 15
";

/// Sequences of three kinds: only x moves, only y does, or both; `seed` determines noise and lengths.
fn sequences(count: usize, mut seed: u64) -> String {
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let mut text = String::from("id,x,y,kind\n");
    for index in 0..count {
        let (kind, x, y) = [("left, right", 2.0, 0.0), ("up", 0.0, 2.0), ("turn", -2.0, -2.0)][index % 3];
        for _ in 0..6 + index % 4 {
            text += &format!("s{index},{:.3},{:.3},\"{kind}\"\n", x + noise(), y + noise());
        }
    }
    text
}

struct Experiment(TempDir);

impl Experiment {
    fn new() -> Self {
        let experiment = Experiment(tempfile::tempdir().expect("a temporary folder"));
        for (seed, (name, count)) in [("train", 90), ("valid", 45), ("test", 60)].into_iter().enumerate() {
            experiment.write(&format!("{name}.csv"), &sequences(count, seed as u64));
        }
        experiment.write("config.toml", CONFIG);
        experiment
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).expect("a writable folder");
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn trained(self) -> Self {
        succeeds(&["train", &self.at("config.toml"), "--out", &self.at("run")]);
        succeeds(&["export", &self.at("run"), "-o", &self.at("model.qvr")]);
        self
    }
}

#[test]
fn a_classifier_is_evaluated_embeds_classifies_and_is_taught() {
    let experiment = Experiment::new().trained();
    let (run, model) = (experiment.at("run"), experiment.at("model.qvr"));
    evaluated(&experiment, &run, &model);
    embedded(&experiment, &model);
    classified(&experiment, &run, &model);
    taught(&run);
    refused(&experiment, &run, &model);
}

fn evaluated(experiment: &Experiment, run: &str, model: &str) {
    let page = experiment.at("page.html");
    let found = json(&succeeds(&["eval", run, "--json", "--plot", &page, "--sequence", "5"]));
    assert_eq!((found["n"].as_u64(), found["unknown"]["unknown"].as_u64()), (Some(40), Some(20)));
    assert!(found["accuracy"].as_f64().expect("a score") > 0.95, "{found}");
    assert!(found["unknown"]["auroc"].as_f64().expect("a score") > 0.9, "{found}");
    let names: Vec<_> =
        found["baselines"].as_array().expect("baselines").iter().map(|b| b["name"].clone()).collect();
    assert_eq!(names, ["class frequencies", "1-NN Euclid", "1-NN DTW", "time domain + LDA"]);
    let html = fs::read_to_string(page).expect("the page was written");
    for heading in [
        "Embeddings",
        "Confusion matrix",
        "Reliability",
        "Rejection",
        "Nearest neighbours",
        "Sequential Jacobian",
    ] {
        assert!(html.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    let config = experiment.at("config.toml");
    let of_checkpoint = json(&succeeds(&["eval", model, "--data", &config, "--json", "--no-baselines"]));
    assert!(of_checkpoint["accuracy"].as_f64().expect("a score") > 0.9);
    let table = succeeds(&["eval", run, "--no-dtw"]);
    assert!(table.contains("balanced accuracy") && table.contains("AUROC of unknown"), "{table}");
    assert!(table.contains("true \\ predicted") && !table.contains("1-NN DTW"), "{table}");
}

fn embedded(experiment: &Experiment, model: &str) {
    let test = experiment.at("test.csv");
    let points = succeeds(&["embed", model, "--input", &test, "--sequence", "id"]);
    let lines: Vec<&str> = points.lines().collect();
    assert_eq!((lines[0], lines.len()), ("sequence,e0,e1,e2,e0.var,e1.var,e2.var", 61));
    assert!(lines[60].starts_with("59,"));
    let first = succeeds(&["embed", model, "--input", &test, "--sequence", "id", "--json"]);
    let first = json(first.lines().next().expect("a record"));
    let cells: Vec<f64> = lines[1].split(',').skip(1).map(|cell| cell.parse().expect("a number")).collect();
    assert_eq!(first["mean"][1].as_f64().map(|x| x as f32), Some(cells[1] as f32));
    assert_eq!(first["variance"][2].as_f64().map(|x| x as f32), Some(cells[5] as f32));
}

fn classified(experiment: &Experiment, run: &str, model: &str) {
    let test = experiment.at("test.csv");
    let classes = succeeds(&["classify", model, "--input", &test, "--sequence", "id"]);
    let mut lines = classes.lines();
    assert_eq!(
        lines.next(),
        Some("sequence,class,known,probability,distance,novelty,\"p.left, right\",p.up")
    );
    let lines: Vec<&str> = lines.collect();
    assert!(lines[0].starts_with("0,\"left, right\",") && lines[1].starts_with("1,up,"), "{classes}");
    // The threshold rejects a twentieth of the validation sequences, and so some of these.
    let known = lines.iter().step_by(3).filter(|line| line.contains(",true,")).count();
    assert!((14..=20).contains(&known), "{known} of 20 sequences of one class are known");
    // A run folder is the same model in f32.
    let of_run = succeeds(&["classify", run, "--input", &test, "--sequence", "id", "--json"]);
    let second = json(of_run.lines().nth(1).expect("a record"));
    assert_eq!(second["class"].as_str(), Some("up"));
    assert!(second["known"].is_boolean());
    let sum: f64 =
        ["left, right", "up"].iter().filter_map(|class| second["probabilities"][class].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-5);
    // On a live pipe there is an answer after every row; a blank line begins a sequence.
    let mut pipe = LivePipe::open(&["classify", model, "--every-row"]);
    assert!(pipe.answer("x,y\n").starts_with("sequence,row,class,"));
    assert!(pipe.answer("2.0,0.1\n").starts_with("0,0,"));
    assert!(pipe.answer("2.1,0.0\n").starts_with("0,1,"));
    assert!(pipe.answer("\n0.0,2.0\n").starts_with("1,0,"));
    pipe.close();
}

fn taught(run: &str) {
    let found =
        json(&succeeds(&["eval", run, "--teach", "turn", "--shots", "3", "--json", "--no-baselines"]));
    assert_eq!((found["n"].as_u64(), found["taught"]["shots"].as_u64()), (Some(60), Some(3)));
    assert_eq!(found["confusion"]["classes"][2].as_str(), Some("turn"));
    assert!(found["balanced_accuracy"].as_f64().expect("a score") > 0.9, "{found}");
}

fn refused(experiment: &Experiment, run: &str, model: &str) {
    fails(&["eval", run, "--teach", "up"], &["the model was trained on this class", "data.labels.exclude"]);
    fails(&["eval", run, "--teach", "down"], &["not one of the classes that were left out", "turn"]);
    fails(
        &["eval", run, "--teach", "turn", "--shots", "1000"],
        &["30 training sequences", "--shots is 1000"],
    );
    fails(&["eval", run, "--missing", "1"], &["--missing is for models that predict rows"]);
    fails(
        &["eval", run, "--plot", &experiment.at("p.html"), "--sequence", "60"],
        &["60 sequences, counted from 0"],
    );
    fails(&["eval", model], &["--data"]);
    fails(&["classify", &experiment.at("config.toml")], &["config.toml", "[reduce]"]);
    fails(&["run", model, "--input", &experiment.at("test.csv")], &["model.qvr"]);
    fails(&["embed", model, "--input", &experiment.at("none.csv")], &["cannot read", "none.csv"]);
    experiment.write("narrow.csv", "x\n1\n");
    fails(&["classify", model, "--input", &experiment.at("narrow.csv")], &["no column `y`"]);
    let everything = CONFIG.replace(", exclude = ['turn']", "");
    experiment.write("everything.toml", &everything);
    let wrong = ["eval", model, "--data", &experiment.at("everything.toml")];
    fails(&wrong, &["class `turn`", "which the model does not know", "left, right, up"]);
}
