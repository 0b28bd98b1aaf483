//! Text end to end: train, resume, evaluate, export and sample, words and characters.

mod place;

use std::fs;

use place::{fails, json, succeeds};
use tempfile::TempDir;

/// Every line follows from the one before it, so that a small model learns it by heart.
const RHYME: &str = "one two buckle my shoe\nthree four shut the door\nfive six pick up sticks\nseven eight lay them straight\n";

struct Experiment(TempDir);

impl Experiment {
    fn new(format: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let experiment = Experiment(folder);
        experiment.write("train.txt", &RHYME.repeat(30));
        experiment.write("test.txt", &RHYME.repeat(2));
        let config = format!(
            "[data]\nformat = '{format}'\ntrain = 'train.txt'\nvalid_fraction = 0.1\ntest = 'test.txt'\ntargets = 'next'\n\
             [model]\nlayers = [24]\nlikelihood = 'categorical'\n{more}\n\
             [training]\nlearning_rate = 0.02\ncarry_state = true\nbatch = 8\nchunk = 16\nepochs = 12\n"
        );
        experiment.write("config.toml", &config);
        experiment
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("a writable folder");
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn train(&self, run: &str, more: &[&str]) {
        let (config, run) = (self.at("config.toml"), self.at(run));
        succeeds(&[&["train", &config, "--out", &run][..], more].concat());
    }
}

#[test]
fn characters_are_learned_exported_and_written() {
    let experiment = Experiment::new("characters", "embedding = 12\n[noise]\nrecurrent_keep = 0.95");
    experiment.train("run", &[]);
    let (run, model, config) =
        (experiment.at("run"), experiment.at("model.qvr"), experiment.at("config.toml"));
    let host = json(&succeeds(&["eval", &run, "--json"]));
    let nll = host["nll"].as_f64().expect("a score");
    assert_eq!(
        (host["tokens"].as_str(), host["n"].as_u64()),
        (Some("characters"), Some(2 * RHYME.len() as u64))
    );
    assert!((host["perplexity"].as_f64().expect("a score") - nll.exp()).abs() < 1e-9);
    assert!((host["bits"].as_f64().expect("a score") - nll / std::f64::consts::LN_2).abs() < 1e-9);
    let baseline = host["baselines"][0]["nll"].as_f64().expect("a baseline");
    assert!(nll < 0.5 * baseline, "{nll} against {baseline} of frequencies");

    // f32: the same arithmetic in another order, and columns that were folded.
    for (weights, most) in [("f32", 1e-3), ("int8", 0.05)] {
        succeeds(&["export", &run, "--weights", weights, "-o", &model]);
        let found = json(&succeeds(&["eval", &model, "--data", &config, "--json"]));
        let found = found["nll"].as_f64().expect("a score");
        assert!((found - nll).abs() < most, "{weights}: {found} against {nll}");
    }

    // At a temperature of 0 host and runtime take the most probable character, and neither draws.
    let sample = |of: &str| {
        let more = ["--prefix", "one two", "--steps", "60", "--temperature", "0", "--json"];
        json(&succeeds(&[&["sample", of][..], &more].concat()))["draws"][0]
            .as_str()
            .expect("a text")
            .to_string()
    };
    let written = sample(&model);
    assert!(written.starts_with(" buckle my shoe\nthree"), "{written:?}");
    assert_eq!(sample(&run), written);
    let text = succeeds(&["sample", &model, "--prefix", "one two", "--steps", "20", "--draws", "2"]);
    assert_eq!(text.matches("one two").count(), 2, "{text}");
    assert_eq!(text, succeeds(&["sample", &model, "--prefix", "one two", "--steps", "20", "--draws", "2"]));
    fails(
        &["sample", &model, "--prefix", "ONE", "--steps", "1"],
        &["--prefix:1:1", "`O` is not in the vocabulary"],
    );
    fails(&["sample", &model, "--steps", "1", "--summary"], &["--summary is not available"]);
    fails(&["eval", &run, "--faults"], &["--faults is not available"]);
    fails(&["denoise", &run], &["model of text"]);
}

#[test]
fn words_resume_with_the_same_bits_and_large_vocabularies_stay_on_the_host() {
    let experiment = Experiment::new("words", "embedding = 8\n");
    experiment.write("vocabulary.txt", &(0..5000).map(|n| format!("w{n}\n")).collect::<String>());
    experiment.train("whole", &["--set", "training.epochs=4"]);
    experiment.train("parts", &["--set", "training.epochs=2"]);
    experiment.train("parts", &["--set", "training.epochs=4", "--resume"]);
    let state = |run: &str| fs::read(experiment.at(run) + "/last.state").expect("a state");
    assert!(state("whole") == state("parts"), "a resumed run ends with other bits");
    let text = succeeds(&["sample", &experiment.at("whole"), "--prefix", "one", "--steps", "5"]);
    assert!(text.starts_with("one "), "{text}");

    // A vocabulary of more words than a checkpoint holds, with the words of the text among them.
    let words: String = ["<unk>", "<eos>", "one", "two"].iter().map(|word| format!("{word}\n")).collect();
    let many: String = (0..5000).map(|n| format!("w{n}\n")).collect();
    experiment.write("vocabulary.txt", &(words + &many));
    experiment.train("large", &["--set", "data.vocabulary=vocabulary.txt", "--set", "training.epochs=1"]);
    let found = json(&succeeds(&["eval", &experiment.at("large"), "--json"]));
    assert_eq!(found["vocabulary"].as_u64(), Some(5004));
    fails(
        &["export", &experiment.at("large"), "-o", &experiment.at("no.qvr")],
        &["5004 tokens", "at most 4096"],
    );
    assert!(!fs::exists(experiment.at("no.qvr")).expect("a folder"), "nothing is written");
}

#[test]
fn configs_and_texts_that_do_not_go_together_are_refused() {
    let experiment = Experiment::new("characters", "");
    let (config, run) = (experiment.at("config.toml"), experiment.at("run"));
    let refused = |set: &str, names: &[&str]| {
        fails(&["train", &config, "--out", &run, "--set", set], names);
    };
    refused("data.targets=clean", &["`data.targets` must be \"next\""]);
    refused("model.likelihood=gaussian", &["`model.likelihood` must be \"categorical\""]);
    refused("data.train={file='train.txt', rows='0..5'}", &["`data.train` must name whole files"]);
    refused("data.augment={gain=0.1}", &["`data.augment` does not apply"]);
    refused("data.format=csv", &["train.txt"]);
    experiment.write("test.txt", "one\ntwo \u{e9}\n");
    refused("seed=2", &["data.test", "test.txt:2:5: `é` is not in the vocabulary"]);
    assert!(!fs::exists(&run).expect("a folder"), "nothing is written");
}

/// Bayes by Backprop with a sharpened posterior: learned, resumed with the same bits, scored in every way, exported by
/// its moments.
#[test]
fn weights_of_text_are_drawn_sharpened_and_exported_by_moments() {
    let more = "embedding = 12\n[weights]\nposterior = 'bbb'\nsharpen = true\ndivergence_weight = 0.02";
    let experiment = Experiment::new("characters", more);
    experiment.train("run", &["--set", "training.epochs=20"]);
    let (run, model, config) =
        (experiment.at("run"), experiment.at("model.qvr"), experiment.at("config.toml"));
    let found = json(&succeeds(&["eval", &run, "--mc-draws", "5", "--sharpened", "--json"]));
    let number = |value: &serde_json::Value| value.as_f64().expect("a score");
    let (nll, baseline) = (number(&found["nll"]), number(&found["baselines"][0]["nll"]));
    assert!(nll < 0.7 * baseline, "{nll} against {baseline} of frequencies");
    let drawn = number(&found["monte_carlo"]["nll"]);
    assert!((drawn - nll).abs() < 0.3, "{drawn} of five draws against {nll} by moments");
    let sharpened = &found["sharpened"];
    let bound = number(&sharpened["nll"]) + number(&sharpened["divergence"]);
    assert!((number(&sharpened["bound"]) - bound).abs() < 1e-9);

    let found = json(&succeeds(&["eval", &run, "--reversed", "--mc-draws", "3", "--json"]));
    for inference in ["moments", "monte_carlo"] {
        let scores = &found[inference];
        assert!(number(&scores["entropy_gap"]) > 0.0, "{scores}");
        assert!(number(&scores["reversed"]["nll"]) > number(&scores["regular"]["nll"]), "{scores}");
    }
    assert!((number(&found["moments"]["regular"]["nll"]) - nll).abs() < 1e-4);
    let found = json(&succeeds(&["eval", &run, "--dynamic", "0.5", "--json"]));
    assert!((number(&found["as_trained"]["nll"]) - nll).abs() < 1e-9);
    assert!(number(&found["dynamic"]["nll"]).is_finite() && found["updates"].as_u64() > Some(5));

    // int8: weights and variances are rounded.
    for (weights, most) in [("f32", 1e-3), ("int8", 0.1)] {
        succeeds(&["export", &run, "--weights", weights, "-o", &model]);
        let found = number(&json(&succeeds(&["eval", &model, "--data", &config, "--json"]))["nll"]);
        assert!((found - nll).abs() < most, "{weights}: {found} against {nll}");
    }
    fails(&["eval", &model, "--data", &config, "--reversed"], &["--reversed needs the trained network"]);
    fails(&["eval", &run, "--dynamic", "0.5", "--mc-draws", "2"], &["cannot be used with"]);
}

#[test]
fn a_run_with_drawn_weights_resumes_with_the_same_bits() {
    let experiment = Experiment::new("words", "embedding = 8\n[weights]\nposterior = 'bbb'");
    experiment.train("whole", &["--set", "training.epochs=3"]);
    experiment.train("parts", &["--set", "training.epochs=1"]);
    experiment.train("parts", &["--set", "training.epochs=3", "--resume"]);
    let state = |run: &str| fs::read(experiment.at(run) + "/last.state").expect("a state");
    assert!(state("whole") == state("parts"), "a resumed run ends with other bits");
    let point = Experiment::new("words", "");
    point.train("run", &["--set", "training.epochs=1"]);
    fails(
        &["eval", &point.at("run"), "--mc-draws", "2"],
        &["--mc-draws draws weights", "this model of text has none"],
    );
}
