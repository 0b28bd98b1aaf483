//! Every config in `examples` trains, exports and streams, on small made-up data of the kind it names.

mod place;

use std::fs;
use std::path::{Path, PathBuf};

use place::{json, succeeds};
use tempfile::TempDir;

/// Smaller and shorter than the examples ask for; everything else is theirs.
const SMALL: [&str; 6] =
    ["--set", "model.layers=[6, 5]", "--set", "init.sparse=3", "--set", "training.epochs=2"];

fn examples(wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("an example").path());
    let configs = entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    configs.filter(|path| wanted(&name(path))).collect()
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// An example in a folder of its own, next to the data that it names.
struct Tried {
    folder: TempDir,
    config: String,
}

impl Tried {
    fn new(example: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("config.toml");
        fs::copy(example, &config).expect("a copy of the example");
        let tried = Tried { config: config.display().to_string(), folder };
        tried.write_data(&name(example));
        tried
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), content).expect("a writable folder");
    }

    fn write_data(&self, example: &str) {
        let channels =
            |stem: &str, count: usize| (1..=count).map(|i| format!("{stem}{i}")).collect::<Vec<_>>();
        let two_targets = [channels("x", 2), channels("y", 2)].concat();
        match example {
            "emg_force" => {
                let columns = [channels("emg", 8), vec!["force_n".into()]].concat();
                for day in ["monday", "tuesday", "wednesday"] {
                    self.write(&format!("{day}.csv"), rows(&columns, 0));
                }
            }
            "categorical" => {
                let classes = ["rest", "pinch", "fist"].map(String::from);
                self.write_csv(&rows(&[channels("x", 2), classes.to_vec()].concat(), 3));
            }
            "linear" => self.write_csv(&rows(&["u", "y"].map(String::from), 0)),
            "next_ahead" => {
                let short = rows(&["heater", "temperature"].map(String::from), 0);
                let (header, rows) = short.split_once('\n').expect("a header");
                self.write("dryer.csv", format!("{header}\n{}", rows.repeat(4)));
            }
            "smallest" => self.write_csv(&rows(&[channels("emg", 2), vec!["force_n".into()]].concat(), 0)),
            "fawn" => self.write_csv(&rows(&[channels("x", 3), vec!["y".into()]].concat(), 0)),
            "heteroscedastic" | "implicit_variance" | "nesterov" => {
                self.write_csv(&rows(&channels("x", 3), 0))
            }
            "bayes_by_backprop" | "gru" | "learned_dropout" | "lstm_dropout" | "pruned" | "weight_noise" => {
                self.write_csv(&rows(&two_targets, 0))
            }
            "mocap_next" | "storn_mocap" => {
                let values: Vec<u8> = (0..2600 * 4).flat_map(|i| wave(i / 4, i % 4).to_le_bytes()).collect();
                self.write("motion.values.npy", npy("<f4", "(2600, 4)", &values));
                self.write(
                    "motion.lengths.npy",
                    npy("<i8", "(3,)", &[20_i64, 30, 2550].map(i64::to_le_bytes).concat()),
                );
            }
            "vosp_denoise" => self.write_splits("noisy.", &rows(&channels("x", 3), 0)),
            "clean_denoise" => self.write_splits("clean.", &rows(&channels("x", 3), 0)),
            "imu_denoise" => {
                let axes = ["ax", "ay", "az", "gx", "gy", "gz"].map(String::from);
                self.write_splits("board.", &rows(&axes, 0));
            }
            "text" | "text_bayes" => {
                self.write("train.txt", "the cat sat on the mat,\n\"so\tthere\" said the cat\n".repeat(20));
                self.write("test.txt", "the mat sat\n");
            }
            "reduce_nca" | "reduce_sparse_filtering" => {
                let values: Vec<u8> =
                    (0..40 * 30).flat_map(|i| labelled_wave(i / 30, i % 30).to_le_bytes()).collect();
                self.write("series.X.npy", npy("<f4", "(40, 30)", &values));
                self.write(
                    "series.y.npy",
                    npy("|u1", "(40,)", &(0..40).map(|i| i % 2 + 1).collect::<Vec<u8>>()),
                );
            }
            "reduce_random" => {
                let values: Vec<u8> =
                    (0..24 * 20 * 2).flat_map(|i| labelled_wave(i / 40, i % 40).to_le_bytes()).collect();
                self.write("pen.values.npy", npy("<f4", "(480, 2)", &values));
                let lengths: Vec<u8> = (0..24_i32).flat_map(|i| (20 + i % 2 * 2 - 1).to_le_bytes()).collect();
                self.write("pen.lengths.npy", npy("<i4", "(24,)", &lengths));
                self.write(
                    "pen.labels.npy",
                    npy("|u1", "(24,)", &(0..24).map(|i| i % 2).collect::<Vec<u8>>()),
                );
            }
            "reduce_next" => {
                self.write("gestures.csv", labelled_rows(&["recording", "acc1", "acc2", "gesture"]))
            }
            "reduce_cross_entropy" | "reduce_rim" | "row_classes" => {
                for day in ["monday", "tuesday"] {
                    let columns = ["time", "emg1", "emg2", "emg3", "emg4", "gesture"];
                    self.write(&format!("{day}.csv"), labelled_rows(&columns));
                }
            }
            "vrae" => self.write_splits("", &rows(&channels("x", 3), 0)),
            _ if example.contains("piano") => {
                for split in ["train", "valid", "test"] {
                    let chords = ["60,64,67", "62,65,69", "", "59,62,67"].repeat(2).join(";");
                    self.write(&format!("chorales.{split}.txt"), format!("{chords}\n{chords}\n"));
                }
            }
            _ => panic!("{example}.toml is new: name the data it needs here"),
        }
    }

    fn write_splits(&self, prefix: &str, rows: &str) {
        ["train", "valid", "test"].iter().for_each(|split| self.write(&format!("{prefix}{split}.csv"), rows));
    }

    fn write_csv(&self, rows: &str) {
        self.write("train.csv", rows);
        self.write("test.csv", rows);
    }

    fn is_latent(&self) -> bool {
        fs::read_to_string(&self.config).expect("the config").contains("\n[latent]")
    }

    fn is_reducer(&self) -> bool {
        fs::read_to_string(&self.config).expect("the config").contains("\n[reduce]")
    }

    /// Exports a reducer in f32 and in int8 and streams rows through the checkpoints, each of which gives an
    /// embedding and probabilities.
    fn assert_exports_and_classifies(&self, run: &str) {
        for weights in ["f32", "int8"] {
            let model = self.at("model.qvr");
            let exported = succeeds(&["export", &self.at(run), "--weights", weights, "-o", &model, "--json"]);
            assert!(json(&exported)["error"].as_f64().is_some_and(|error| error <= 1.0), "{exported}");
            let shown = json(&succeeds(&["inspect", &model, "--json"]));
            assert_eq!(shown["kind"], "reducer");
            let bytes = fs::read(&model).expect("the checkpoint");
            let model = quaver::ReducerModel::load(&bytes).expect("a reducer");
            let mut words = vec![0.0; model.arena_words()];
            let mut reducer = quaver::Reducer::load_in(&bytes, &mut words).expect("enough memory");
            for step in 0..5 {
                let row: Vec<f32> =
                    (0..usize::from(model.network().spec().inputs)).map(|i| wave(step, i)).collect();
                reducer.step(&row);
                let embedding = reducer.embedding().expect("a row");
                assert!(embedding.mean.iter().chain(embedding.var).all(|value| value.is_finite()));
                let found = reducer.classify().expect("a classifier");
                assert!((found.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            }
        }
    }

    /// Exports a run and streams rows through the checkpoint, each of which must be answered by finite
    /// numbers.
    fn assert_exports_and_streams(&self, run: &str) {
        let model = self.at("model.qvr");
        succeeds(&["export", &self.at(run), "-o", &model]);
        let inputs = json(&succeeds(&["inspect", &model, "--json"]))["input_names"].as_array().map(Vec::len);
        let cells = vec!["1"; inputs.expect("the names of the inputs")].join(",");
        self.write("stream.csv", format!("{cells}\n").repeat(5));
        let answers = succeeds(&["run", &model, "--no-header", "--input", &self.at("stream.csv")]);
        assert_eq!(answers.lines().count(), 6, "a header and five answers: {answers}");
        // A class is text: a word, or a comma in quotes, which looks like two cells.
        let classifies = answers.lines().next().is_some_and(|header| header.contains(",class,probability"));
        for line in answers.lines().skip(1) {
            let (numbers, texts): (Vec<_>, Vec<_>) = line
                .split(',')
                .filter(|cell| !cell.is_empty())
                .map(str::parse::<f32>)
                .partition(Result::is_ok);
            assert!(texts.len() <= if classifies { 2 } else { 0 }, "{answers}");
            assert!(numbers.into_iter().flatten().all(f32::is_finite), "{answers}");
        }
    }
}

/// A hundred rows of smooth values. The last `classes` columns are one 1 among zeros.
fn rows(columns: &[String], classes: usize) -> String {
    let first_class = columns.len() - classes;
    let cell = |step: usize, column: usize| match column.checked_sub(first_class) {
        Some(class) => f32::from(u8::from(step / 7 % classes == class)),
        None => wave(step, column),
    };
    let row =
        |step| (0..columns.len()).map(|column| cell(step, column).to_string()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..100).map(row).collect();
    format!("{}\n{}\n", columns.join(","), rows.join("\n"))
}

/// Rows of a stream with a class of text in the last column, which changes every 75 rows; all other columns
/// but a first `recording` are numbers.
fn labelled_rows(columns: &[&str]) -> String {
    let cell = |step: usize, column: usize| match columns[column] {
        "recording" => format!("r{}", step / 25),
        "gesture" => ["rest", "fist"][step / 75 % 2].to_string(),
        _ => labelled_wave(step / 75 % 2, step + column).to_string(),
    };
    let row = |step| (0..columns.len()).map(|column| cell(step, column)).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..600).map(row).collect();
    format!("{}\n{}\n", columns.join(","), rows.join("\n"))
}

/// A wave whose frequency tells even from odd sequences.
fn labelled_wave(sequence: usize, step: usize) -> f32 {
    (step as f32 * [0.3, 1.1][sequence % 2] + sequence as f32).sin()
}

fn wave(step: usize, channel: usize) -> f32 {
    (step as f32 * (0.2 + 0.13 * channel as f32)).sin()
}

/// A NumPy file of format 1.0.
fn npy(element: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

#[test]
fn every_example_trains_and_exports_and_streams_or_is_evaluated() {
    let examples = examples(|name| !name.starts_with("search_"));
    assert!(examples.len() >= 11, "{examples:?}");
    for example in examples {
        let tried = Tried::new(&example);
        let run = tried.at("run");
        let train = [&["train", &tried.config, "--out", &run][..], &SMALL].concat();
        if tried.is_latent() {
            succeeds(&[&train[..], &["--set", "recognition.layers=[5]"]].concat());
            succeeds(&["eval", &run, "--data", &tried.config, "--draws", "2"]);
        } else if tried.is_reducer() {
            succeeds(&train);
            tried.assert_exports_and_classifies("run");
        } else {
            succeeds(&train);
            tried.assert_exports_and_streams("run");
        }
    }
}

#[test]
fn every_example_of_a_search_searches() {
    let examples = examples(|name| name.starts_with("search_"));
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        let tried = Tried::new(&example);
        let found = tried.at("found");
        let arguments = ["search", &tried.config, "--trials", "2", "--out", &found];
        succeeds(&[&arguments[..], &["--set", "training.epochs=1"]].concat());
        tried.assert_exports_and_streams("found/best");
    }
}
