//! Labelled data from files.

use std::fs;

use crate::config::Config;
use crate::data::npy::tests::array as npy;
use crate::data::{Dataset, LabelledSequences};

fn load(files: &[(&str, Vec<u8>)], data: &str) -> anyhow::Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join("c.toml");
    fs::write(&path, format!("[data]\ntargets = 'labels'\n{data}\n[reduce]\n[training]\nchunk = 0\n"))
        .unwrap();
    Config::load(&path, &[])?.load_data()
}

fn error(files: &[(&str, Vec<u8>)], data: &str) -> String {
    format!("{:#}", load(files, data).unwrap_err())
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn integers(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// `count` series of three samples, and their labels.
fn series(count: usize, label: impl Fn(usize) -> i32) -> [(&'static str, Vec<u8>); 2] {
    let values: Vec<f32> = (0..3 * count).map(|value| value as f32).collect();
    let labels: Vec<i32> = (0..count).map(label).collect();
    [
        ("a.X.npy", npy("<f4", &format!("({count}, 3)"), &floats(&values))),
        ("a.y.npy", npy("<i4", &format!("({count},)"), &integers(&labels))),
    ]
}

#[test]
fn series_and_their_labels() {
    let data = load(&series(10, |index| if index % 2 == 0 { -1 } else { 1 }), "train = 'a.X.npy'").unwrap();
    assert_eq!(
        (data.target_names.as_slice(), data.input_names.as_slice()),
        (&["-1", "1"].map(String::from)[..], &["x".to_string()][..])
    );
    assert_eq!((data.train.len(), data.valid.len()), (8, 2));
    assert_eq!(data.train[1].inputs.values, [3.0, 4.0, 5.0]);
    let found = LabelledSequences::of(&data.train, &data.target_names);
    assert_eq!((found.labels[0], found.labels[1], found.counts()), (Some(0), Some(1), vec![4, 4]));
    assert_eq!(LabelledSequences::of(&data.valid, &data.target_names).counts(), [1, 1]);
}

#[test]
fn a_stratified_part_for_testing() {
    let files = series(20, |index| (index % 2) as i32);
    let set = "train = 'a.X.npy'\nlabels = { test_fraction = 0.2, names = { 0 = 'rest', 1 = 'fist' } }";
    let data = load(&files, set).unwrap();
    assert_eq!((data.test.len(), data.valid.len(), data.train.len()), (4, 4, 12));
    assert_eq!(LabelledSequences::of(&data.test, &data.target_names).counts(), [2, 2]);
    assert_eq!(data.target_names, ["rest", "fist"]);
}

#[test]
fn triples_of_values_lengths_and_labels() {
    let values: Vec<f32> = (0..24).map(|value| value as f32).collect();
    let files = |labels: &[i32]| {
        [
            ("a.values.npy", npy("<f4", "(12, 2)", &floats(&values))),
            ("a.lengths.npy", npy("<i4", "(6,)", &integers(&[1, 3, 2, 2, 2, 2]))),
            ("a.labels.npy", npy("<i4", &format!("({},)", labels.len()), &integers(labels))),
        ]
    };
    let set = "train = { file = 'a.values.npy', sequences = '0..4' }\nvalid = { file = 'a.values.npy', sequences = '4..6' }";
    let data = load(&files(&[7, 3, 7, 3, 3, 7]), set).unwrap();
    assert_eq!(data.target_names, ["3", "7"]);
    assert_eq!(data.train[1].inputs.values, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(LabelledSequences::of(&data.train, &data.target_names).labels, [1, 0, 1, 0].map(Some));
    let found = error(&files(&[7, 3, 7]), set);
    assert!(found.contains("3 labels in 1 columns, but") && found.contains("has 6 sequences"), "{found}");
    let found = error(&files(&[7, 3, 7, 3, 3, 9]), set);
    assert!(
        found.starts_with("data.valid: a sequence is of class `9`, which data.train does not have"),
        "{found}"
    );
    let found = error(&files(&[7, 7, 7, 7, 7, 7]), set);
    assert!(found.contains("every sequence is of class `7`"), "{found}");
}

#[test]
fn text_labels_of_named_sequences() {
    let rows =
        |id: &str, class: &str| format!("{id},1,7,{class}\n{id},3,7,{class}\n{id},2,7,{class}\n").repeat(40);
    let text = [rows("a", "fist"), rows("b", "rest"), rows("c", "fist"), rows("d", "rest")].concat();
    let text = format!("id,emg,gain,gesture\n{text}");
    let set =
        "train = 'a.csv'\nvalid = 'a.csv'\ntest = 'b.csv'\nlabels = { column = 'gesture', sequence = 'id' }";
    let files = |test: &str| [("a.csv", text.as_bytes().to_vec()), ("b.csv", test.as_bytes().to_vec())];
    let data = load(&files("id,emg,gain,gesture\nx,1,7,rest\n"), set).unwrap();
    assert_eq!((data.input_names.as_slice(), data.train.len()), (&["emg".to_string()][..], 4));
    assert_eq!((data.target_names[0].as_str(), data.test.len()), ("fist", 1));
    assert_eq!(data.train[0].inputs.values, [1.0, 3.0, 2.0].repeat(40));
    assert!(data.notes.iter().any(|note| note.starts_with("`gain` is not read")), "{:?}", data.notes);
    let found = error(&files("id,emg,gain,gesture\nx,1,7,wave\n"), set);
    assert!(found.contains("data.test: a sequence is of class `wave`"), "{found}");
    let found = error(&files("id,emg,gain,gesture\nx,1,7,fist\nx,1,7,rest\n"), set);
    assert!(found.contains("row 1 is of class `rest`, but row 0 of `fist`"), "{found}");
    let found = error(&files("id,emg,gesture\n"), &set.replace("'gesture'", "'gest'"));
    assert!(found.contains("data.labels.column: no column `gest`"), "{found}");
}

#[test]
fn streams_with_a_label_per_row() {
    let rows: Vec<f32> = (0..20).flat_map(|t| [t as f32, if t < 12 { 0.0 } else { 4.0 }]).collect();
    let files = [("a.npy", npy("<f4", "(20, 2)", &floats(&rows)))];
    let set = |cut: &str| format!("train = 'a.npy'\nvalid = 'a.npy'\nlabels = {{ column = 'c1', {cut} }}");
    let data = load(&files, &set("cut = 'windows', window = 4, stride = 2")).unwrap();
    assert_eq!((data.train.len(), data.train[0].inputs.channels), (9, 1));
    assert_eq!(LabelledSequences::of(&data.train, &data.target_names).counts(), [5, 4]);
    let data = load(&files, &set("cut = 'runs'")).unwrap();
    assert_eq!(data.train.iter().map(|sequence| sequence.len()).collect::<Vec<_>>(), [12, 8]);
    let found = error(&files, &set("cut = 'windows'"));
    assert!(found.contains("`data.labels.window` must be set"), "{found}");
    let rows: Vec<f32> = rows.iter().map(|value| value + 0.5).collect();
    let found = error(&[("a.npy", npy("<f4", "(20, 2)", &floats(&rows)))], &set("cut = 'runs'"));
    assert!(found.contains("row 0, column `c1`: the label 0.5 is not an integer"), "{found}");
}

#[test]
fn a_class_left_out_is_known_in_no_test_sequence() {
    let files = series(12, |index| (index % 3) as i32);
    let data = load(
        &files,
        "train = { file = 'a.X.npy', sequences = '0..9' }\ntest = { file = 'a.X.npy', sequences = '9..12' }\n\
               labels = { exclude = ['2'] }",
    )
    .unwrap();
    assert_eq!(data.target_names, ["0", "1"]);
    assert_eq!((data.train.len() + data.valid.len(), data.test.len()), (6, 3));
    let labels = LabelledSequences::of(&data.test, &data.target_names).labels;
    assert_eq!(labels[..3], [Some(0), Some(1), None]);
    let found = error(&files, "train = 'a.X.npy'\ntest = 'a.X.npy'");
    assert!(found.contains("is in data.train and in data.test"), "{found}");
    let found = error(&files, "train = 'a.X.npy'\nlabels = { exclude = ['9'] }");
    assert!(found.contains("data.labels.exclude: no class `9`"), "{found}");
}
