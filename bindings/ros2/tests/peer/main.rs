//! The node against a peer on another implementation of DDS, Cyclone DDS with its Python interface: what the
//! peer hears is what the runtime computes here for the rows that it sent, bit for bit.

mod support;

use std::time::Duration;

use quaver_bridge::{Estimate, Memory};
use serde_json::{Value, json};

use support::{Case, Heard, model, number, numbers, python, stamp};

const PERIOD: Duration = Duration::from_millis(20);
/// Numbers before the outputs of a prediction, and per output.
const PREFIX: usize = 5;
const COLUMNS: usize = 5;

/// A value as JSON has it: null for NaN.
fn value(value: f64) -> Value {
    if value.is_nan() { Value::Null } else { json!(value) }
}

/// A row that is smooth in time, with gaps.
fn row(step: usize, channels: usize) -> Vec<f64> {
    let value = |channel: usize| match (step + 3 * channel) % 11 {
        0 if step > 5 => f64::NAN,
        _ => 10.0 + 6.0 * (0.13 * step as f64 + channel as f64).sin(),
    };
    (0..channels).map(value).collect()
}

/// Messages with these rows, and stamps that say which is which.
fn script(steps: usize, channels: usize, names: &[&str]) -> Vec<Value> {
    let message = |step| {
        let row: Vec<Value> = row(step, channels).into_iter().map(value).collect();
        json!({"stamp": [2000 + step, 0], "row": row, "names": names, "frame_id": "peer"})
    };
    (0..steps).map(message).collect()
}

fn warm(channels: usize, names: &[&str]) -> Value {
    json!({"row": vec![Value::Null; channels], "names": names, "frame_id": "peer"})
}

/// What the runtime computes for the rows that were heard, by stamp and number of the step; all rows of the
/// script are among them. The first ones, which are missing, may have been stepped before the peer could
/// hear.
fn expected(case: &Case, stamps: &[[u64; 2]], steps: &[usize], scale: f64) -> Vec<Estimate> {
    let script: Vec<[u64; 2]> = case.script.iter().map(|message| stamp(&message["stamp"])).collect();
    assert!(stamps.ends_with(&script), "rows were lost: {stamps:?}");
    assert!(steps.windows(2).all(|pair| pair[0] + 1 == pair[1]), "each row is one step: {steps:?}");
    let mut memory = Memory::read(&model(case.model)).expect("the model");
    let mut stream = memory.stream().expect("the model");
    let channels = stream.inputs().len();
    for _ in 0..steps[0] {
        stream.step(&vec![f32::NAN; channels]);
    }
    let row_of = |stamp: &[u64; 2]| match stamp[0].checked_sub(2000) {
        Some(step) => row(step as usize, channels),
        None => vec![f64::NAN; channels],
    };
    let estimate = |stamp| {
        let row: Vec<f32> = row_of(stamp).into_iter().map(|value| (value * scale) as f32).collect();
        stream.step(&row).clone()
    };
    stamps.iter().map(estimate).collect()
}

fn is_equal(found: f64, expected: f64) -> bool {
    found == expected || (found.is_nan() && expected.is_nan())
}

/// Compares every prediction with the runtime's, prints the latency, and returns the estimates.
fn check_predictions(case: &Case, heard: &Heard, names: &str, scale: f64) -> Vec<Estimate> {
    let predictions: Vec<&Value> = heard.received[0].iter().map(|entry| &entry["message"]).collect();
    let data: Vec<Vec<f64>> = predictions.iter().map(|message| numbers(&message["data"])).collect();
    let stamps: Vec<[u64; 2]> = data.iter().map(|data| [data[0] as u64, data[1] as u64]).collect();
    let steps: Vec<usize> = data.iter().map(|data| data[2] as usize).collect();
    let estimates = expected(case, &stamps, &steps, scale);
    for (data, estimate) in data.iter().zip(&estimates) {
        let scores = [estimate.surprise, estimate.anomaly.map(|anomaly| anomaly.score)];
        let outputs = estimate.outputs.iter().enumerate().flat_map(|(index, output)| {
            [output.mean, output.variance, output.epistemic, output.aleatoric, estimate.z(index)]
        });
        let wanted = scores.into_iter().map(|score| score.unwrap_or(f32::NAN)).chain(outputs).map(f64::from);
        let wanted: Vec<f64> = wanted.collect();
        assert_eq!(data.len(), 3 + wanted.len());
        assert!(
            data[3..].iter().zip(&wanted).all(|(found, wanted)| is_equal(*found, *wanted)),
            "{data:?} {wanted:?}"
        );
    }
    let layout = &predictions[0]["layout"];
    assert_eq!(layout["data_offset"], PREFIX);
    assert_eq!(layout["dim"][0]["label"], names);
    assert_eq!(layout["dim"][1]["label"], "mean,variance,epistemic,aleatoric,z");
    assert_eq!(layout["dim"][1]["size"], COLUMNS);
    print_latency(case, heard);
    estimates
}

/// Prints how long answers took, as a share of the period; how long is not asserted, because it is the
/// machine's.
fn print_latency(case: &Case, heard: &Heard) {
    let count = case.script.len();
    let at = |entries: &[Value]| -> Vec<f64> {
        entries[entries.len() - count..].iter().map(|entry| number(&entry["at"])).collect()
    };
    let (sent, received) = (at(&heard.sent), at(&heard.received[0]));
    let mut shares: Vec<f64> = sent
        .iter()
        .zip(&received)
        .map(|(sent, received)| (received - sent) / case.period.as_secs_f64())
        .collect();
    shares.sort_by(f64::total_cmp);
    println!(
        "{}: from the peer through the node to the peer {:.1} % of the period of {:.0} ms (median), {:.1} % at most",
        case.name,
        100.0 * shares[count / 2],
        1e3 * case.period.as_secs_f64(),
        100.0 * shares[count - 1]
    );
    println!("{}: {}", case.name, heard.summary);
}

#[test]
fn arrays_become_predictions() {
    let Some(python) = python() else { return };
    let case = Case {
        name: "arrays",
        model: "runtime/examples/grip_force.qvr",
        map: "on = \"NS/emg\"\n[[topic]]\nname = \"NS/emg\"\ntype = \"std_msgs/Float64MultiArray\"\n",
        writers: vec![("/emg", "Float64MultiArray")],
        readers: vec![("/quaver/prediction", "Float64MultiArray")],
        warm: vec![warm(8, &[])],
        script: script(60, 8, &[]),
        period: PERIOD,
        tail: 0.5,
        broken: false,
    };
    let heard = case.run(&python);
    check_predictions(&case, &heard, "force_n", 1.0);
}

const JOINTS: &str = r#"
on = "NS/joint_states"

[[topic]]
name = "NS/joint_states"
type = "sensor_msgs/JointState"
reliable = true
channels = { hip = "position[h]", knee = "position[k]", ankle = "position[a]" }
scale = { hip = 1.25, knee = 1.25, ankle = 1.25 }

[[publish]]
topic = "NS/denoised"
type = "sensor_msgs/JointState"
frame_id = "leg"
outputs = { hip = "position[h]", knee = "velocity[k]" }
scale = { hip = 0.8 }
"#;

#[test]
fn joint_states_become_joint_states() {
    let Some(python) = python() else { return };
    let names = ["h", "k", "a"];
    let case = Case {
        name: "joints",
        model: "runtime/examples/denoiser.qvr",
        map: JOINTS,
        writers: vec![("/joint_states", "JointState")],
        readers: vec![("/quaver/prediction", "Float64MultiArray"), ("/denoised", "JointState")],
        warm: vec![warm(3, &names)],
        script: script(60, 3, &names),
        period: PERIOD,
        tail: 0.5,
        broken: false,
    };
    let heard = case.run(&python);
    let estimates = check_predictions(&case, &heard, "hip,knee,ankle", 1.25);
    let count = case.script.len();
    let joints = &heard.received[1];
    let (joints, estimates) = (&joints[joints.len() - count..], &estimates[estimates.len() - count..]);
    for (step, (entry, estimate)) in joints.iter().zip(estimates).enumerate() {
        let message = &entry["message"];
        assert_eq!(stamp(&message["header"]["stamp"]), [2000 + step as u64, 0]);
        assert_eq!((&message["header"]["frame_id"], &message["name"]), (&json!("leg"), &json!(["h", "k"])));
        let [hip, knee, _] = &estimate.outputs[..] else { panic!("three outputs") };
        let position = numbers(&message["position"]);
        assert!(position[0] == f64::from(hip.mean) * 0.8 && position[1].is_nan(), "{position:?}");
        assert_eq!(numbers(&message["velocity"])[1], f64::from(knee.mean));
    }
}

const IMU: &str = r#"
on = "NS/imu"

[[topic]]
name = "NS/imu"
type = "sensor_msgs/Imu"
channels = { hip = "angular_velocity.x", knee = "angular_velocity.y", ankle = "angular_velocity.z" }

[[publish]]
topic = "NS/imu/denoised"
type = "sensor_msgs/msg/Imu"
copy = "NS/imu"
outputs = { hip = "angular_velocity.x", knee = "angular_velocity.y", ankle = "angular_velocity.z" }
"#;

#[test]
fn imus_become_imus_with_covariances() {
    let Some(python) = python() else { return };
    let case = Case {
        name: "imu",
        model: "runtime/examples/denoiser.qvr",
        map: IMU,
        writers: vec![("/imu", "Imu")],
        readers: vec![("/quaver/prediction", "Float64MultiArray"), ("/imu/denoised", "Imu")],
        warm: vec![warm(3, &[])],
        script: script(60, 3, &[]),
        period: PERIOD,
        tail: 0.5,
        broken: false,
    };
    let heard = case.run(&python);
    let estimates = check_predictions(&case, &heard, "hip,knee,ankle", 1.0);
    let count = case.script.len();
    let imus = &heard.received[1];
    for (entry, estimate) in imus[imus.len() - count..].iter().zip(&estimates[estimates.len() - count..]) {
        let message = &entry["message"];
        let axes = ["x", "y", "z"].map(|axis| number(&message["angular_velocity"][axis]));
        let covariance = numbers(&message["angular_velocity_covariance"]);
        for (axis, output) in estimate.outputs.iter().enumerate() {
            assert_eq!(
                (axes[axis], covariance[4 * axis]),
                (f64::from(output.mean), f64::from(output.variance))
            );
        }
        assert_eq!(
            covariance.iter().filter(|value| **value != 0.0).count(),
            3,
            "variances on the diagonal alone"
        );
        assert_eq!(number(&message["orientation"]["w"]), 1.0, "what is not estimated is copied");
        assert_eq!(message["header"]["frame_id"], "peer");
    }
}

const TWO_TOPICS: &str = r#"
rate = 50

[[topic]]
name = "NS/joint_states"
type = "sensor_msgs/JointState"
timeout = 0.5
channels = { hip = "position[h]", knee = "position[k]" }

[[topic]]
name = "NS/imu"
type = "sensor_msgs/Imu"
timeout = 0.5
channels = { ankle = "angular_velocity.x" }
"#;

/// Both topics for a second and a half; then the IMU is silent.
fn silence() -> Vec<Value> {
    let steps = 0..150_usize;
    let message = |step: usize| {
        let row = [10.0 + (0.1 * step as f64).sin(), 20.0, 3.0];
        let is_imu = step % 2 == 1;
        let stamp = [2000, 20_000_000 * step];
        match (is_imu, step < 75) {
            (false, _) => json!({"writer": 0, "stamp": stamp, "row": [row[0], row[1]], "names": ["h", "k"]}),
            (true, true) => json!({"writer": 1, "stamp": stamp, "row": [row[2], 0.0, 0.0]}),
            (true, false) => Value::Null,
        }
    };
    steps.map(message).collect()
}

#[test]
fn a_topic_that_stops_widens_error_bars() {
    let Some(python) = python() else { return };
    let case = Case {
        name: "stops",
        model: "runtime/examples/denoiser.qvr",
        map: TWO_TOPICS,
        writers: vec![("/joint_states", "JointState"), ("/imu", "Imu")],
        readers: vec![("/quaver/prediction", "Float64MultiArray"), ("//diagnostics", "DiagnosticArray")],
        warm: vec![warm(2, &["h", "k"]), warm(3, &[])],
        script: silence(),
        period: PERIOD,
        tail: 0.2,
        broken: false,
    };
    let heard = case.run(&python);
    let predictions: Vec<Vec<f64>> =
        heard.received[0].iter().map(|entry| numbers(&entry["message"]["data"])).collect();
    let time = |data: &Vec<f64>| data[0] + 1e-9 * data[1];
    // After the start, before the silence; and well after the timeout. Time is that of the input's headers.
    let variances = |from: f64, to: f64| -> Vec<f64> {
        let within = predictions.iter().filter(|data| (from..to).contains(&time(data)));
        within.map(|data| data[PREFIX + 2 * COLUMNS + 1]).collect()
    };
    let (before, after) = (variances(2000.7, 2001.4), variances(2002.2, 2002.9));
    let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    println!(
        "variance of the ankle: at most {} with its topic, at least {} without",
        most(&before),
        least(&after)
    );
    assert!(before.len() > 20 && after.len() > 20, "{} and {} predictions", before.len(), after.len());
    assert!(least(&after) > 1.2 * most(&before), "the error bar of a lost channel does not widen");
    assert!(predictions.windows(2).all(|pair| time(&pair[0]) < time(&pair[1])), "time goes on");
    let statuses = heard.received[1].iter().map(|entry| &entry["message"]["status"][0]);
    let named = statuses.filter(|status| {
        let message = status["message"].as_str().unwrap_or_default();
        status["level"] == 1 && message.starts_with("nothing from ") && message.contains("_stops/imu")
    });
    assert!(named.count() > 0, "diagnostics do not name the topic: {:?}", heard.received[1]);
    println!("{}: {}", case.name, heard.summary);
}

/// Values that never change, one that no sensor sends, and messages that cannot be read. Reports come once
/// per second: four seconds leave several for each finding, and two and a half of silence one that finds
/// nothing else, also on a busy machine.
#[test]
fn faults_are_diagnosed() {
    let Some(python) = python() else { return };
    let message = |step: usize| {
        let value = if step == 40 { 1e9 } else { 0.1 };
        json!({"stamp": [2000 + step, 0], "row": [value, value, value]})
    };
    let case = Case {
        name: "faults",
        model: "tests/fixtures/ranges-all-fast.qvr",
        map: "on = \"NS/a\"\n[[topic]]\nname = \"NS/a\"\ntype = \"std_msgs/Float64MultiArray\"\n",
        writers: vec![("/a", "Float64MultiArray")],
        readers: vec![("/quaver/prediction", "Float64MultiArray"), ("//diagnostics", "DiagnosticArray")],
        warm: vec![warm(3, &[])],
        script: (0..200).map(message).collect(),
        period: PERIOD,
        tail: 2.5,
        broken: true,
    };
    let heard = case.run(&python);
    let statuses = heard.received[1].iter().map(|entry| &entry["message"]["status"][0]);
    let ours =
        statuses.filter(|status| status["name"].as_str().is_some_and(|name| name.contains("_faults/quaver")));
    let texts: Vec<String> =
        ours.map(|status| format!("{} {}", status["level"], status["message"])).collect();
    assert!(
        texts.iter().any(|text| text.starts_with("2 ") && text.contains("anomaly: stuck of input")),
        "{texts:?}"
    );
    assert!(texts.iter().any(|text| text.contains("unreadable messages: ")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("implausible input1, input2, input3")), "{texts:?}");
    assert!(
        texts.last().is_some_and(|text| text.starts_with("3 ") && text.contains("no messages")),
        "{texts:?}"
    );
}
