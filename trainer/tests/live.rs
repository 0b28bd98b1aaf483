//! `quaver monitor`, `record` and `label` as programs: rows of a file, keys of a script, errors that help.

mod place;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use place::{Place, fails, json, quaver, succeeds};

/// A header, and the cells of each row.
fn table(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect());
    (lines.next().expect("a header"), lines.collect())
}

#[test]
fn a_recorded_session_trains_as_the_file_it_was_made_of() {
    let place = Place::new();
    for name in ["train", "valid", "test"] {
        let (from, to) = (place.at(&format!("{name}.csv")), place.at(&format!("{name}_session.csv")));
        succeeds(&["record", &from, "--speed", "max", "--out", &to]);
    }
    let original = fs::read_to_string(place.path("train.csv")).expect("the data");
    let recorded = fs::read_to_string(place.path("train_session.csv")).expect("a recording");
    let ((_, original), (header, recorded)) = (table(&original), table(&recorded));
    assert_eq!(header, ["time", "sequence", "a", "b", "sum"]);
    assert_eq!(recorded.len(), original.len());
    for (recorded, original) in recorded.iter().zip(&original) {
        let number = |cell: &&str| cell.parse::<f32>().ok();
        assert_eq!(
            recorded[2..].iter().map(number).collect::<Vec<_>>(),
            original.iter().map(number).collect::<Vec<_>>()
        );
        assert_eq!(recorded[1], "1");
    }
    let config = fs::read_to_string(place.path("config.toml")).expect("the config");
    let config = ["train", "valid", "test"].iter().fold(config, |config, name| {
        config.replace(&format!("'{name}.csv'"), &format!("'{name}_session.csv'"))
    });
    place.write(
        "session.toml",
        &config.replace("targets = ['sum']", "inputs = ['a', 'b']\ntargets = ['sum']"),
    );
    succeeds(&["train", &place.at("config.toml"), "--out", &place.at("first")]);
    succeeds(&["train", &place.at("session.toml"), "--out", &place.at("second")]);
    let metrics = |run: &str| {
        let text = fs::read_to_string(place.path(run).join("metrics.jsonl")).expect("metrics");
        json(text.lines().last().expect("an epoch"))["valid_nll"].as_f64().expect("a loss")
    };
    assert_eq!(metrics("first"), metrics("second"), "the same numbers in, the same numbers out");
}

#[test]
fn keys_of_a_script_label_rows() {
    let place = Place::new();
    let (rows, out) = (place.at("train.csv"), place.at("labelled.csv"));
    let arguments = ["label", &rows, "--rate", "100", "--labels", "rest,fist", "--out", &out, "--json"];
    let mut child = quaver()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut keys = child.stdin.take().expect("a pipe");
    for key in ["1", "f", "0", "q"] {
        thread::sleep(Duration::from_millis(500));
        keys.write_all(key.as_bytes()).expect("the binary reads");
    }
    let output = child.wait_with_output().expect("the binary ends");
    assert!(output.status.success());
    let summary = json(&String::from_utf8(output.stdout).expect("UTF-8"));
    let text = fs::read_to_string(place.path("labelled.csv")).expect("a recording");
    let (header, rows) = table(&text);
    assert_eq!(header[5..], ["label", "label.rest", "label.fist"]);
    let count = |label: &str| rows.iter().filter(|row| row[5] == label).count() as u64;
    assert_eq!(summary["labelled"], serde_json::json!([count("rest"), count("fist")]));
    assert!(count("rest") > 10 && count("fist") > 10 && count("") > 10, "{summary}");
    for row in &rows {
        let expected = match row[5] {
            "rest" => ["1", "0"],
            "fist" => ["0", "1"],
            _ => ["", ""],
        };
        assert_eq!(row[6..], expected);
    }
}

#[test]
fn a_model_is_watched_and_its_status_read() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/examples/grip_force.qvr");
    let mut child = quaver()
        .args(["monitor", "-", "--model", model, "--no-header", "--listen", "127.0.0.1:0", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut answer = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    while !answer.contains('}') {
        assert!(output.read_line(&mut answer).expect("UTF-8") > 0, "the address of the page");
    }
    let url = json(&answer)["url"].as_str().expect("an address").to_string();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_string();
    for _ in 0..20 {
        input.write_all(b"14,9.5,,4.25,6,11.5,20.25,17\n").expect("the binary reads");
    }
    let mut status = serde_json::Value::Null;
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&address).expect("a server");
        write!(stream, "GET /status HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        status = json(text.split("\r\n\r\n").nth(1).expect("a body"));
        if status["rows"] == 20 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(status["rows"], 20, "{status}");
}

#[test]
fn errors_say_what_to_plug_in_and_what_to_type() {
    let place = Place::new();
    fails(&["monitor", "/dev/ttyNothing"], &["/dev/ttyNothing", "plug the board in"]);
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    fails(
        &["record", &format!("tcp:127.0.0.1:{port}"), "--out", &place.at("x.csv")],
        &["start what listens there"],
    );
    fails(&["record", &place.at("train.csv"), "--out", &place.at("x.xls")], &[".csv nor .mcap"]);
    fails(&["record", &place.at("train.csv"), "--out", &place.at("valid.csv")], &["--overwrite"]);
    fails(&["label", "-", "--labels", "a", "--out", &place.at("x.csv")], &["standard input"]);
    fails(&["monitor", &place.at("train.csv"), "--speed", "0"], &["--speed", "max"]);
    place.write("broken.csv", "a,b\n1,2\n1,two\n");
    fails(
        &["record", &place.at("broken.csv"), "--speed", "max", "--out", &place.at("y.csv")],
        &["broken.csv", "`two`"],
    );
    fails(
        &["monitor", &place.at("train.csv"), "--model", &place.at("train.csv")],
        &["not a usable checkpoint"],
    );
    assert!(!place.path("x.csv").exists());
}
