use std::fs;

use quaver::checkpoint::Target;

use super::*;

/// A folder of small files for one test.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Files(folder)
    }

    /// Loads a `[data]` section. The folder's own path is taken out of errors.
    fn load(&self, section: &str) -> Result<Dataset, String> {
        let mut data_config: DataConfig = toml::from_str(section).unwrap();
        data_config.anchor(self.0.path());
        let folder = format!("{}/", self.0.path().display());
        data_config.load().map_err(|error| format!("{error:#}").replace(&folder, ""))
    }
}

#[test]
fn columns_of_several_files_are_matched_by_name() {
    let files = Files::new(&[
        ("a.csv", "emg1,emg2,force\n1,2,3\n4,5,6\n"),
        ("b.csv", "force,note,emg2,emg1\n9,x,8,7\n"),
    ]);
    let data =
        files.load("train = 'a.csv'\nvalid = 'b.csv'\ninputs = ['emg1', 'emg2']\ntargets = 'force'").unwrap();
    assert_eq!(
        (data.input_names, data.target_names),
        (vec!["emg1".into(), "emg2".into()], vec!["force".into()])
    );
    assert_eq!(data.train[0].inputs.values, [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(data.train[0].targets.values, [3.0, 6.0]);
    assert_eq!(
        (data.valid[0].inputs.row(0), data.valid[0].targets.row(0)),
        ([7.0, 8.0].as_slice(), [9.0].as_slice())
    );
    assert_eq!(data.validation, "from files of its own");
}

#[test]
fn all_inputs_must_be_the_same_in_all_files() {
    let files = Files::new(&[
        ("a.csv", "a,b,force\n1,2,3\n"),
        ("b.csv", "force,b,a\n1,2,3\n"),
        ("c.csv", "a,force\n1,2\n"),
    ]);
    let same = files.load("train = 'a.csv'\nvalid = 'b.csv'\ntargets = 'force'").unwrap();
    assert_eq!(same.valid[0].inputs.values, [3.0, 2.0]);
    assert_eq!(
        files.load("train = 'a.csv'\nvalid = 'c.csv'\ntargets = 'force'").unwrap_err(),
        "data.valid: c.csv: the inputs here are a, but those of the first file are a, b; \
         name the inputs that all files have in `data.inputs`"
    );
}

#[test]
fn next_predicts_the_inputs_themselves() {
    let files = Files::new(&[("a.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,0\n")]);
    let data = files.load("train = 'a.csv'\ntargets = 'next'").unwrap();
    assert_eq!((data.target, data.target_names.len()), (Target::Next, 2));
    assert_eq!(data.train[0].input(0), None);
    assert_eq!(data.train[0].input(1), Some([1.0, 2.0].as_slice()));
    assert_eq!(data.valid[0].targets.values, [9.0, 0.0]);
    assert_eq!(data.validation, "the last 20 % of the training sequence");
}

#[test]
fn sequences_and_rows_are_cut() {
    let files = Files::new(&[("a.csv", "a\n0\n1\n\n10\n11\n12\n13\n\n20\n")]);
    let section = "train = { file = 'a.csv', sequences = '..2', rows = '..50%' }
        valid = { file = 'a.csv', sequences = '1', rows = '2..' }
        targets = 'next'";
    let data = files.load(section).unwrap();
    assert_eq!(
        data.train.iter().map(|s| s.inputs.values.clone()).collect::<Vec<_>>(),
        [vec![0.0], vec![10.0, 11.0]]
    );
    assert_eq!(data.valid[0].inputs.values, [12.0, 13.0]);

    let error = |cut: &str| {
        files.load(&format!("train = {{ file = 'a.csv', {cut} }}\ntargets = 'next'")).unwrap_err()
    };
    assert_eq!(
        error("sequences = '1..9'"),
        "data.train: a.csv: sequences `1..9` reaches beyond the 3 there are"
    );
    assert_eq!(
        error("sequences = '1..', rows = '0..4'"),
        "data.train: a.csv: rows `0..4` reaches beyond the 1 there are in sequence 2"
    );
}

#[test]
fn rows_are_picked_from_a_list() {
    let files =
        Files::new(&[("a.csv", "0,10\n1,11\n2,12\n3,13\n"), ("splits.csv", "1,2\n 3, 0\n\n0,4\n0,-1\n")]);
    let load = |line: usize| {
        files.load(&format!(
            "train = {{ file = 'a.csv', rows = {{ file = 'splits.csv', line = {line} }} }}
            valid = {{ file = 'a.csv', rows = {{ file = 'splits.csv' }} }}
            header = false\ntargets = 'c1'"
        ))
    };
    let data = load(1).unwrap();
    let targets =
        |sequences: &[Sequence]| sequences.iter().map(|s| s.targets.values.clone()).collect::<Vec<_>>();
    assert_eq!(targets(&data.train), [[13.0], [10.0]]);
    assert_eq!(targets(&data.valid), [[11.0], [12.0]]);
    let error = |line| load(line).unwrap_err();
    assert_eq!(error(2), "data.train: a.csv: splits.csv:3: no rows are listed here");
    assert_eq!(
        error(3),
        "data.train: a.csv: splits.csv:4: there is no row 4: the file has 4 rows, counted from 0"
    );
    assert_eq!(
        error(4),
        "data.train: a.csv: splits.csv:5: found `-1`, expected row numbers, counted from 0 and separated by commas"
    );
    assert_eq!(
        error(5),
        "data.train: a.csv: splits.csv: no line 5: the file has 5 lines, and `line` counts from 0"
    );
}

#[test]
fn all_formats() {
    let files = Files::new(&[("roll.txt", "60;61\n62;63\n"), ("table", "1,2\n3,4\n")]);
    let data = files.load("train = 'roll.txt'\ntargets = 'next'\nvalid_fraction = 0.5").unwrap();
    assert_eq!((data.input_names.len(), data.train.len(), data.valid.len()), (88, 2, 2));
    let data = files.load("train = 'table'\ntargets = 'c1'\nheader = false\nvalid_fraction = 0.5").unwrap();
    assert_eq!((data.train[0].inputs.values[0], data.valid[0].targets.values[0]), (1.0, 4.0));
    let error = files.load("train = 'table'\ntargets = 'next'\nformat = 'npy'").unwrap_err();
    assert!(error.starts_with("data.train: table: not a NumPy .npy file"), "{error}");

    let array = crate::data::npy::tests::file(
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2)}",
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    fs::write(files.0.path().join("x.values.npy"), array).unwrap();
    let lengths =
        crate::data::npy::tests::file("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", &[3, 1]);
    fs::write(files.0.path().join("x.lengths.npy"), &lengths).unwrap();
    let by_name = files.load("train = 'x.values.npy'\ntargets = 'c1'\nvalid_fraction = 0.4").unwrap();
    assert_eq!((by_name.train[0].len(), by_name.train[1].len(), by_name.valid[0].len()), (2, 1, 1));
    fs::rename(files.0.path().join("x.lengths.npy"), files.0.path().join("l.npy")).unwrap();
    let named = files
        .load("train = 'x.values.npy'\ntargets = 'c1'\nvalid_fraction = 0.4\nlengths = 'l.npy'")
        .unwrap();
    let read = |data: &Dataset| data.files.iter().map(|file| file.checksum.name.clone()).collect::<Vec<_>>();
    assert_eq!(read(&by_name), ["x.values.npy", "x.lengths.npy"]);
    assert_eq!(read(&named), ["x.values.npy", "l.npy"]);
    assert_eq!(named, Dataset { files: named.files.clone(), ..by_name });
}

#[test]
fn errors_name_split_file_and_column() {
    let files = Files::new(&[("a.csv", "a,b\n1,2\n3,x\n")]);
    let error = |section: &str| files.load(section).unwrap_err();
    assert_eq!(
        error("train = 'b.csv'\ntargets = 'next'"),
        "data.train: b.csv: no such file; paths are relative to the config file, or to --data-dir"
    );
    assert_eq!(
        error("train = 'a.csv'\ntargets = 'c'"),
        "data.train: a.csv: data.targets: no column `c`; the columns are a, b"
    );
    assert_eq!(
        error("train = 'a.csv'\ntargets = 'b'"),
        "data.train: a.csv:3: column `b`: found `x`, expected a number; \
         leave the cell empty if the value is missing"
    );
    assert!(files.load("train = 'a.csv'\ninputs = 'a'\ntargets = 'next'\nvalid_fraction = 0.5").is_ok());
}

#[test]
fn test_rows_may_be_led_up_to() {
    let rows = "a,b\n1,1\n2,2\n3,3\n4,4\n";
    let files = Files::new(&[("train.csv", rows), ("a.csv", rows)]);
    let load = |test: &str| files.load(&format!("train = 'train.csv'\ntargets = 'b'\ntest = {test}"));
    let data = load("{ file = 'a.csv', rows = '2..', burn_in = 1 }").unwrap();
    assert_eq!(
        (data.test[0].inputs.values.as_slice(), data.test[0].burn_in),
        ([2.0, 3.0, 4.0].as_slice(), 1)
    );
    assert_eq!(
        load("{ file = 'a.csv', rows = '2..', burn_in = 3 }").unwrap_err(),
        "data.test: a.csv: burn_in is 3, but sequence 0 has 2 rows before the selected ones"
    );
    assert_eq!(
        load("{ file = 'a.csv', burn_in = 3 }").unwrap_err(),
        "data.test: a.csv: burn_in needs a range of rows that it precedes, such as rows = \"2502..\""
    );
}

/// A file of this many columns, with a section that takes half of them as inputs and half as targets.
fn with_columns(columns: usize) -> (Files, String) {
    let names: Vec<String> = (0..columns).map(|index| format!("a_long_name_of_a_channel_{index}")).collect();
    let row = vec!["1"; columns].join(",");
    let files = Files::new(&[("a.csv", &format!("{}\n{row}\n{row}\n", names.join(",")))]);
    let (first, half, last) = (&names[0], &names[columns / 2], &names[columns - 1]);
    let section =
        format!("train = 'a.csv'\nvalid = 'a.csv'\ninputs = '{first}..{half}'\ntargets = '{half}..={last}'");
    (files, section)
}

/// The shortest of a few times that it takes to load it, in seconds. That a model takes fewer columns is
/// known only when all have been read.
fn seconds(loads: usize, (files, section): &(Files, String)) -> f64 {
    let once = |_| {
        let begun = std::time::Instant::now();
        (0..loads).for_each(|_| drop(files.load(section)));
        begun.elapsed().as_secs_f64()
    };
    (0..5).map(once).fold(f64::INFINITY, f64::min)
}

/// Sixteen files take as long as one of sixteen times the columns. With every name compared with every other
/// they would take a sixteenth; the limit is between the two, four times from either.
#[test]
fn time_is_linear_in_the_columns() {
    let ratio = seconds(1, &with_columns(48_000)) / seconds(16, &with_columns(3_000));
    assert!(ratio < 4.0, "a file of 48,000 columns takes {ratio:.1} times as long as 16 files of 3,000");
}
