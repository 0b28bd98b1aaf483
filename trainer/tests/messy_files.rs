//! Files as people have them: written by spreadsheets, loggers and scripts.

mod place;

use std::fs;

use place::{CONFIG, LivePipe, Place, fails, quaver, run, succeeds};

/// Trains for one epoch on the data of `place`, and returns what was printed.
fn trained(place: &Place, config: &str, out: &str) -> String {
    let output = run(&["train", &place.at(config), "--out", &place.at(out), "--set", "training.epochs=1"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

/// The checksum of what a run has learned.
fn learned(place: &Place, out: &str) -> Vec<u8> {
    let lines = fs::read_to_string(place.path(out).join("metrics.csv")).expect("metrics");
    let scores = lines.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","));
    scores.collect::<Vec<_>>().join("\n").into_bytes()
}

/// One file in another form, and what `train` notes about it.
struct Case {
    name: &'static str,
    rewrite: fn(&str) -> Vec<u8>,
    note: &'static str,
}

fn with_units(text: &str) -> Vec<u8> {
    text.replacen('\n', "\nmV,mV,N\n", 1).into_bytes()
}

fn semicolons(text: &str) -> Vec<u8> {
    text.replace(',', ";").replace('.', ",").into_bytes()
}

fn tabs(text: &str) -> Vec<u8> {
    text.replace(',', "\t").replace('\n', "\r\n").into_bytes()
}

fn latin1_column(text: &str) -> Vec<u8> {
    let mut lines = text.lines();
    let header = format!("{},", lines.next().expect("a header")).into_bytes();
    let mut bytes = [header, b"Bemerkung f\xfcr uns\n".to_vec()].concat();
    lines.for_each(|line| bytes.extend(format!("{line},gut\n").bytes()));
    bytes
}

fn clock_and_constant(text: &str) -> Vec<u8> {
    let mut lines = text.lines().enumerate();
    let (_, header) = lines.next().expect("a header");
    let rows = lines.map(|(row, line)| format!("{},{line},7,\n", 0.01 * row as f64));
    format!("time,{header},gain,spare\n{}", rows.collect::<String>()).into_bytes()
}

#[test]
fn the_same_rows_in_other_forms_train_the_same_model() {
    let cases = [
        Case { name: "semicolons", rewrite: semicolons, note: "separator: semicolon, decimal comma" },
        Case { name: "tabs", rewrite: tabs, note: "separator: tab" },
        Case { name: "units", rewrite: with_units, note: "a line of units below the header" },
        Case { name: "clock", rewrite: clock_and_constant, note: "`time` is not read: grows steadily" },
        Case { name: "latin1", rewrite: latin1_column, note: "Latin-1 text" },
    ];
    let plain = Place::new();
    trained(&plain, "config.toml", "run");
    for Case { name, rewrite, note } in cases {
        let place = Place::new();
        for file in ["train.csv", "valid.csv", "test.csv"] {
            let text = fs::read_to_string(place.path(file)).expect("the data");
            fs::write(place.path(file), rewrite(&text)).expect("a writable folder");
        }
        if name == "latin1" {
            place.write("config.toml", &CONFIG.replace("[data]", "[data]\nexclude = 'Bemerkung für uns'"));
        }
        let printed = trained(&place, "config.toml", "run");
        assert!(printed.contains(note), "{name}: {printed}");
        assert_eq!(learned(&place, "run"), learned(&plain, "run"), "{name}");
    }
}

#[test]
fn columns_that_say_nothing_are_named_and_can_be_read_on_demand() {
    let place = Place::new();
    for file in ["train.csv", "valid.csv", "test.csv"] {
        let text = fs::read_to_string(place.path(file)).expect("the data");
        fs::write(place.path(file), clock_and_constant(&text)).expect("a writable folder");
    }
    let printed = trained(&place, "config.toml", "run");
    for note in ["`time` is not read: grows", "`gain` is not read: constant", "`spare` is not read: empty"] {
        assert!(printed.contains(note), "{printed}");
    }
    place.write("named.toml", &CONFIG.replace("[data]", "[data]\ninputs = ['time', 'a', 'b']"));
    assert!(!trained(&place, "named.toml", "named").contains("`time` is not read"));
}

#[test]
fn rows_of_two_splits_are_refused() {
    let place = Place::new();
    let twice = CONFIG.replace("'valid.csv'", "{ file = 'train.csv', rows = '50%..' }");
    place.write("twice.toml", &twice);
    fails(
        &["train", &place.at("twice.toml"), "--out", &place.at("run")],
        &["row 200 of ", "train.csv (counted from 0) is in data.train and in data.valid"],
    );
    assert!(!place.path("run").exists());
}

#[test]
fn a_target_that_never_changes_is_refused() {
    let place = Place::new();
    let text = fs::read_to_string(place.path("train.csv")).expect("the data");
    let same = text.lines().enumerate().map(|(row, line)| match (row, line.rsplit_once(',')) {
        (1.., Some((inputs, _))) => format!("{inputs},3\n"),
        _ => format!("{line}\n"),
    });
    place.write("train.csv", &same.collect::<String>());
    fails(
        &["train", &place.at("config.toml"), "--out", &place.at("run")],
        &["data.targets: `sum` is 3 in every row of the training data"],
    );
}

#[test]
fn a_live_pipe_survives_what_it_cannot_read() {
    let place = Place::with_model("int8");
    let model = place.at("model.qvr");
    let mut pipe = LivePipe::open(&["run", &model, "--keep", "time"]);
    assert!(pipe.answer("time,b,a\n").starts_with("time,sum.mean,"));
    let missing = pipe.answer("0.00,1,\n");
    assert!(missing.starts_with("0.00,"), "{missing}");
    let unreadable = pipe.answer("0.01,1,oops\n");
    assert!(unreadable.starts_with("0.01,"), "{unreadable}");
    assert!(pipe.answer("0.02,1\n").starts_with("0.02,"), "a short row is a row without values");
    pipe.close();
    place.write("bad.csv", "a,b\n1,2\n1,oops\n");
    let output = run(&["run", &model, "--input", &place.at("bad.csv")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("1 rows or cells could not be read"), "{errors}");
    assert!(errors.contains("bad.csv:3: column `b`: found `oops`"), "{errors}");
    fails(&["run", &model, "--strict", "--input", &place.at("bad.csv")], &["bad.csv:3: column `b`"]);
}

#[test]
fn names_in_a_header_decide_whatever_they_look_like() {
    let place = Place::new();
    place.rename_columns("c1,c0,sum");
    place.train();
    place.export("int8", "model.qvr");
    let model = place.at("model.qvr");
    place.write("swapped.csv", "c0,c1\n5,-3\n");
    place.write("same.csv", "c1,c0\n-3,5\n");
    let of = |file: &str| succeeds(&["run", &model, "--input", &place.at(file)]);
    assert_eq!(of("swapped.csv"), of("same.csv"));
    place.write("other.csv", "x,y\n5,-3\n");
    fails(&["run", &model, "--input", &place.at("other.csv")], &["no column `c1`; the columns are x, y"]);
}

#[test]
fn arrays_run_as_rows_do() {
    let place = Place::with_model("int8");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    let padded = format!("{header:<117}\n");
    let length = u16::try_from(padded.len()).expect("short").to_le_bytes();
    let values = [1.5f32, -2.25, f32::NAN, 0.125, 3.0, 4.0];
    let mut bytes = [b"\x93NUMPY\x01\x00".as_slice(), &length, padded.as_bytes()].concat();
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    fs::write(place.path("rows.npy"), bytes).expect("a writable folder");
    place.write("rows.csv", "a,b\n1.5,-2.25\n,0.125\n3,4\n");
    let of = |file: &str| succeeds(&["run", &place.at("model.qvr"), "--input", &place.at(file)]);
    assert_eq!(of("rows.npy"), of("rows.csv"));
}

#[test]
fn thousands_are_not_taken_for_decimals() {
    let place = Place::with_model("int8");
    place.write("rows.csv", "a;b\n1,500;2\n");
    let rows = place.at("rows.csv");
    let model = place.at("model.qvr");
    fails(&["run", &model, "--strict", "--input", &rows], &["separator of thousands", "--decimal-comma"]);
    let output = quaver().args(["run", &model, "--decimal-comma", "--strict", "--input", &rows]).output();
    assert!(output.expect("the binary starts").status.success());
}
