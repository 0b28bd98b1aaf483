//! Configs as they are read: defaults, every key, overrides, paths, examples.

mod errors;

use std::path::PathBuf;

use super::*;

const SHORT: &str = "[data]\ntrain = 'a.csv'\ntargets = 'force'\n";

const LONG: &str = r#"
seed = 7

[data]
train = ["a.csv", { file = "b.npy", sequences = "2", rows = "..80%" }]
valid = { file = "b.npy", rows = "80%.." }
test = "c.csv"
inputs = ["emg1", "emg2"]
targets = "next"
format = "csv"
header = false
lengths = "b.lengths.npy"

[model]
cell = "tanh"
layers = [16, 8]
output = "mean-only"
likelihood = "bernoulli"
moments = "paper"
implicit_variance = false
learn_variance_scale = true
variance_scale_min = 0.2

[weights]
posterior = "point"
noise_std_dev = 0.0
keep = 1.0
prior_weight = 0.5
prior_std_dev = [1.0, 0.0025]
draws = 1
antithetic = false
sharpen = false
sharpen_std_dev = 0.02

[noise]
kind = "dropout"
learn_keep = true
input_var = 0.0
between_var = 0.0
recurrent_var = 0.0
output_var = 0.0
input_keep = 0.8
between_keep = 0.9
recurrent_keep = 1.0
output_keep = 0.5

[init]
input_std_dev = 0.1
spectral_radius = 1.1
sparse = 8
output_bias = -0.8
bias_std_dev = 0.5
weight_std_dev = 0.2
sharpen_rate = 0.0

[training]
optimiser = "rmsprop"
learning_rate = 0.01
momentum = 0.95
square_decay = 0.99
schedule = "cosine"
schedule_epochs = 40
schedule_factor = 0.01
warm_up = 1.5
batch = 4
chunk = 0
padding = "before"
carry_state = false
epochs = 3
patience = 0
keep = "last"
clip_norm = 225
max_minutes = 1.5
"#;

fn parse(text: &str, overrides: &[&str]) -> Result<Config> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Config::parse("run.toml", text, &overrides)
}

fn error(text: &str, overrides: &[&str]) -> String {
    format!("{:#}", parse(text, overrides).unwrap_err())
}

#[test]
fn defaults() {
    let config = parse(SHORT, &[]).unwrap();
    assert_eq!((config.seed, config.data.header), (1, true));
    assert_eq!(config.data.train, [DataSource::whole("a.csv")]);
    assert_eq!(config.data.inputs, Columns::All);
    assert_eq!(config.data.targets, Targets::Matching(vec!["force".into()]));
    assert_eq!(config.data.fraction_set_aside(), Some(0.2));
    assert_eq!(config.model, ModelConfig::default());
    assert_eq!(config.training.learning_rate, 0.003);
}

#[test]
fn every_key() {
    let config = parse(LONG, &[]).unwrap();
    let cut = |text: &str| text.parse::<RowRange>().unwrap();
    let stretch = |text: &str| Some(RowSelection::Range(cut(text)));
    assert_eq!(config.data.train[1].sequences, Some(cut("2")));
    assert_eq!(config.data.train[1].rows, stretch("..80%"));
    assert_eq!(config.data.valid[0].rows, stretch("80%.."));
    assert_eq!(config.data.fraction_set_aside(), None);
    assert_eq!(config.data.targets, Targets::Next);
    assert_eq!(config.init.sparse, 8);
    assert_eq!(config.training.clip_norm, 225.0);
    assert_eq!(config.training.max_minutes, Some(1.5));
}

#[test]
fn the_config_as_run_reads_back_the_same() {
    for text in [SHORT, LONG] {
        let config = parse(text, &[]).unwrap();
        let written = config.to_toml().unwrap();
        assert_eq!(parse(&written, &[]).unwrap(), config, "{written}");
    }
}

#[test]
fn residual_models_predict_changes_of_their_own_inputs() {
    let parse = |overrides: &[&str]| parse(SHORT, overrides);
    let config = parse(&["model.residual=true", "data.targets=next"]).unwrap();
    assert_eq!(config.target(), Target::ResidualNext);
    let error = |overrides: &[&str]| parse(overrides).unwrap_err().to_string();
    let clean = parse(&["model.residual=true", "data.targets=clean", "data.noise={ snr_db = 5 }"]).unwrap();
    assert_eq!(clean.target(), Target::ResidualSame);
    let columns = error(&["model.residual=true"]);
    assert!(columns.contains("`model.residual` needs `data.targets = \"next\"`"), "{columns}");
    let binary = error(&["model.residual=true", "data.targets=next", "model.likelihood=bernoulli"]);
    assert!(binary.contains("`model.residual` needs `model.likelihood"), "{binary}");
}

#[test]
fn overrides_win_and_need_no_quotes() {
    let set = [
        "training.epochs=5",
        "model.cell = sigmoid",
        "data.train=[\"x.csv\"]",
        "training.epochs=6",
        "seed=0",
    ];
    let config = parse(SHORT, &set).unwrap();
    assert_eq!((config.training.epochs, config.model.cell, config.seed), (6, CellName::Sigmoid, 0));
    assert_eq!(config.data.train, [DataSource::whole("x.csv")]);
    let config = parse("", &["data.train=a.csv", "data.targets=next"]).unwrap();
    assert_eq!(config.data.targets, Targets::Next);
}

#[test]
fn paths_start_at_the_config_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, LONG).unwrap();
    let config = Config::load(&path, &["data.test=/abs/c.csv".to_string()]).unwrap();
    assert_eq!(config.data.train[0].file, folder.path().join("a.csv"));
    assert_eq!(config.data.lengths, Some(folder.path().join("b.lengths.npy")));
    assert_eq!(config.data.test[0].file, Path::new("/abs/c.csv"));
    let error = format!("{:#}", Config::load(&folder.path().join("no.toml"), &[]).unwrap_err());
    assert!(error.contains("no.toml: cannot read this config: No such file"), "{error}");
}

#[test]
fn a_bernoulli_likelihood_needs_targets_of_0_and_1() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "x,force\n1,0\n2,1\n3,0\n4,1\n5,2\n").unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, SHORT).unwrap();
    assert!(Config::load(&path, &[]).unwrap().load_data().is_ok());
    let config = Config::load(&path, &["model.likelihood=bernoulli".to_string()]).unwrap();
    let error = config.load_data().unwrap_err().to_string();
    assert!(error.starts_with("target `force` is 2 in row 0 of sequence 0 of data.valid;"), "{error}");
}

#[test]
fn the_examples_and_the_benchmarks_are_valid_and_read_back_as_they_are_written() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (folder, least) in [("examples", 11), ("../benchmarks", 8)] {
        let files = std::fs::read_dir(crate_folder.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let is_config = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "toml") && !path.ends_with("results.toml")
        };
        let configs: Vec<PathBuf> = files.filter(is_config).collect();
        assert!(configs.len() >= least, "{folder}");
        for path in configs {
            let config = Config::load(&path, &[]).unwrap();
            let written = config.to_toml().unwrap();
            let again = Config::parse("written.toml", &written, &[]).unwrap();
            assert_eq!(again, config, "{} as written:\n{written}", path.display());
        }
    }
}

#[test]
fn the_longest_example_shows_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lstm_dropout.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let written = Config::load(&path, &[]).unwrap().to_toml().unwrap();
    for key in written
        .lines()
        .filter_map(|line| line.split(" = ").next())
        // `file` is how a source is written in full; examples give its path alone.
        .filter(|key| !key.is_empty() && !key.starts_with('[') && *key != "file")
    {
        assert!(
            text.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} ="))),
            "{key}"
        );
    }
}
