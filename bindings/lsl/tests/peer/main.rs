//! The bridge against a peer on pylsl: what the peer hears is what the runtime computes here for the rows
//! that it sent, bit for bit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use quaver_bridge::{Estimate, Memory};
use serde_json::{Value, json};

/// The variable that names a Python interpreter with pylsl.
const PYTHON: &str = "QUAVER_PYTHON";
const PERIOD: f64 = 0.02;
const ROWS: usize = 60;
/// Seconds at the end in which the peer is silent.
const SILENCE: f64 = 1.5;
/// Clocks are compared by messages there and back, whose duration bounds the error: half a period, because
/// the machine may be busy.
const CLOCK: f64 = 0.5 * PERIOD;

/// A running bridge, ended with the test.
struct Bridge(Child);

impl Drop for Bridge {
    fn drop(&mut self) {
        // It has ended already, or the test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Heard {
    description: Value,
    sent: Vec<Value>,
    /// When it came, its time stamp, and its values.
    received: Vec<(f64, f64, Vec<f64>)>,
    log: String,
    folder: tempfile::TempDir,
}

fn number(value: &Value) -> f64 {
    value.as_str().expect("a text").parse().expect("a number")
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Settings of the library: this machine alone, with ports and a session of this test.
fn settings(place: u32) -> String {
    let port = 20_000 + 80 * (std::process::id() % 400) + 40 * place;
    format!(
        "[ports]\nMulticastPort = {port}\nBasePort = {}\nPortRange = 32\nIPv6 = disable\n\
         [multicast]\nResolveScope = machine\nListenAddress = 127.0.0.1\n\
         [lab]\nKnownPeers = {{127.0.0.1}}\nSessionID = quaver-{port}\n",
        port + 1
    )
}

/// Runs the bridge and the peer; `None` without an interpreter.
fn run(place: u32, model: &str, labels: &[&str], unit: &str, options: &[&str]) -> Option<Heard> {
    let Ok(python) = std::env::var(PYTHON) else {
        println!("skipped: {PYTHON} names no Python with pylsl; `cargo xtask bindings LSL` does");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("lsl.cfg"), settings(place)).expect("settings");
    let value = |value: f64| if value.is_nan() { Value::Null } else { json!(value) };
    let rows: Vec<Vec<Value>> =
        (0..ROWS).map(|step| row(step, labels.len()).into_iter().map(value).collect()).collect();
    let job = json!({
        "name": "Leg", "type": "Mocap", "outlet": "Leg-quaver", "labels": labels,
        "units": vec![unit; labels.len()], "period": PERIOD, "silence": SILENCE, "rows": rows,
    });
    fs::write(file("job.json"), job.to_string()).expect("a job");
    let log = fs::File::create(file("log")).expect("a log");
    let bridge = Command::new(env!("CARGO_BIN_EXE_quaver-lsl"))
        .args(["--name", "Leg", "--timeout", "1", "--model"])
        .arg(repository(model))
        .args(options)
        .current_dir(&folder)
        .env("LSLAPICFG", file("lsl.cfg"))
        .stderr(log)
        .stdin(Stdio::null())
        .spawn();
    let mut bridge = Bridge(bridge.expect("the bridge starts"));
    let mut peer = Command::new(python);
    peer.arg(repository("bindings/lsl/tests/peer/peer.py")).arg(file("job.json"));
    let peer = peer.env("LSLAPICFG", file("lsl.cfg")).output().expect("the peer starts");
    let asked = Command::new("kill").arg(bridge.0.id().to_string()).status().expect("kill starts");
    let ended = bridge.0.wait().expect("it ends");
    let log = fs::read_to_string(file("log")).expect("a log");
    let errors = String::from_utf8_lossy(&peer.stderr);
    assert!(peer.status.success(), "the peer: {errors}\nthe bridge: {log}");
    assert!(asked.success() && ended.success(), "the bridge: {log}");
    let heard: Value = serde_json::from_slice(&peer.stdout).expect("the peer prints JSON");
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let sample =
        |entry: &Value| (number(&entry[0]), number(&entry[1]), list(&entry[2]).iter().map(number).collect());
    let received = list(&heard["received"]).iter().map(sample).collect();
    let (description, sent) = (heard["description"].clone(), list(&heard["sent"]));
    Some(Heard { description, sent, received, log, folder })
}

/// A row that is smooth in time, with gaps.
fn row(step: usize, channels: usize) -> Vec<f64> {
    let value = |channel: usize| match (step + 3 * channel) % 11 {
        0 if step > 5 => f64::NAN,
        _ => 10.0 + 6.0 * (0.13 * step as f64 + channel as f64).sin(),
    };
    (0..channels).map(value).collect()
}

fn values(estimate: &Estimate) -> Vec<f64> {
    let outputs = estimate.outputs.iter();
    let outputs =
        outputs.flat_map(|output| [output.mean, output.variance, output.epistemic, output.aleatoric]);
    let scores = [estimate.surprise, estimate.anomaly.map(|anomaly| anomaly.score)];
    outputs.chain(scores.map(|score| score.unwrap_or(f32::NAN))).map(f64::from).collect()
}

/// Compares every prediction with the runtime's: for the rows that were sent, and for the missing ones after.
fn check(model: &str, heard: &Heard) {
    let mut memory = Memory::read(&repository(model)).expect("the model");
    let mut stream = memory.stream().expect("the model");
    let channels = stream.inputs().len();
    assert!(heard.received.len() > ROWS + 30, "{} predictions: {}", heard.received.len(), heard.log);
    for (step, (_, time, found)) in heard.received.iter().enumerate() {
        let row: Vec<f32> = match step < ROWS {
            true => row(step, channels).into_iter().map(|value| value as f32).collect(),
            false => vec![f32::NAN; channels],
        };
        let wanted = values(stream.step(&row));
        let is_equal = |(found, wanted): (&f64, &f64)| found == wanted || (found.is_nan() && wanted.is_nan());
        assert!(
            found.len() == wanted.len() && found.iter().zip(&wanted).all(is_equal),
            "{found:?} {wanted:?}"
        );
        let last = ROWS - 1;
        let sent = number(&heard.sent[step.min(last)][1]) + PERIOD * step.saturating_sub(last) as f64;
        assert!((time - sent).abs() < CLOCK, "step {step} was sent at {sent} and is stamped {time}");
    }
    let mut shares: Vec<f64> = heard
        .sent
        .iter()
        .zip(&heard.received)
        .map(|(sent, received)| (received.0 - number(&sent[0])) / PERIOD)
        .collect();
    shares.sort_by(f64::total_cmp);
    println!(
        "from the peer through the bridge to the peer {:.1} % of the period of {:.0} ms (median), {:.1} % at most",
        100.0 * shares[ROWS / 2],
        1e3 * PERIOD,
        100.0 * shares[ROWS - 1]
    );
    println!("{}", heard.log.lines().last().unwrap_or_default());
}

#[test]
fn a_denoiser_finds_its_channels_by_label_and_the_stream_is_recorded() {
    let model = "runtime/examples/denoiser.qvr";
    let labels = ["hip", "knee", "ankle"];
    let Some(heard) = run(0, model, &labels, "deg", &["--record", "session.csv"]) else { return };
    check(model, &heard);
    let channels = heard.description["channels"].as_array().expect("a list");
    assert_eq!(channels[0], json!(["hip.mean", "deg"]));
    assert_eq!(channels[5], json!(["knee.variance", "(deg)^2"]));
    assert_eq!(channels[12..], [json!(["surprise", "nats"]), json!(["anomaly", ""])]);
    assert_eq!(
        (&heard.description["type"], &heard.description["rate"]),
        (&json!("Prediction"), &json!(50.0))
    );

    let variance = |step: usize| heard.received[step].2[5];
    assert!(
        variance(ROWS + 30) > 1.2 * variance(ROWS - 1),
        "the error bar does not widen while rows are missing"
    );
    assert!(heard.log.contains("Leg is silent: rows are missing"), "{}", heard.log);

    let text = fs::read_to_string(heard.folder.path().join("session.csv")).expect("a recording");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time,hip,knee,ankle"));
    for (step, line) in lines.by_ref().take(ROWS).enumerate() {
        let found: Vec<f64> = line.split(',').map(|value| value.parse().expect("a number")).collect();
        let wanted = row(step, 3);
        assert!(
            found[1..]
                .iter()
                .zip(&wanted)
                .all(|(found, wanted)| found == wanted || wanted.is_nan() && found.is_nan())
        );
    }
    assert_eq!(lines.next(), None, "missing rows are not recorded");
}

#[test]
fn a_predictor_takes_channels_in_order() {
    let model = "runtime/examples/grip_force.qvr";
    let labels = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let Some(heard) = run(1, model, &labels, "uV", &["--in-order", "--unit", "force_n=N"]) else { return };
    check(model, &heard);
    assert_eq!(heard.description["channels"][0], json!(["force_n.mean", "N"]));
}
