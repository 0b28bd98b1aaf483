//! A node and a peer, each in a process of its own, on the loopback interface.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The variable that names a Python interpreter with Cyclone DDS.
const PYTHON: &str = "QUAVER_PYTHON";
/// Messages of the peer until the two must have found each other, twenty per second.
const PATIENCE: u32 = 600;

/// The interpreter; `None`, and a line that says so, where there is none.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var(PYTHON).ok();
    if python.is_none() {
        println!("skipped: {PYTHON} names no Python with cyclonedds; `cargo xtask bindings \"ROS 2\"` does");
    }
    python
}

/// A model of the repository.
pub(crate) fn model(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// What a test sends and expects.
pub(crate) struct Case {
    /// Names topics, so that tests at the same time do not hear each other.
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    /// The map, in which `NS` is the namespace of the topics.
    pub(crate) map: &'static str,
    /// Topics, without namespace, and types that the peer sends and hears.
    pub(crate) writers: Vec<(&'static str, &'static str)>,
    pub(crate) readers: Vec<(&'static str, &'static str)>,
    /// The first message of each writer, repeated until the node answers.
    pub(crate) warm: Vec<Value>,
    /// Messages, one per period; null for none.
    pub(crate) script: Vec<Value>,
    pub(crate) period: Duration,
    pub(crate) tail: f64,
    /// Whether messages come in between that cannot be read.
    pub(crate) broken: bool,
}

/// What the peer has heard.
pub(crate) struct Heard {
    pub(crate) sent: Vec<Value>,
    pub(crate) received: Vec<Vec<Value>>,
    /// The last line of the node.
    pub(crate) summary: String,
}

impl Case {
    /// Runs the node and the peer to the end.
    pub(crate) fn run(&self, python: &str) -> Heard {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{}", self.name, std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let namespace = format!("/t{}_{}", std::process::id(), self.name);
        let domain = 1 + std::process::id() % 100;
        let (map, job, log) = (folder.join("map.toml"), folder.join("job.json"), folder.join("log"));
        fs::write(&map, self.map.replace("NS", &namespace)).expect("a map");
        let entries = |topics: &[(&str, &str)]| {
            let entry = |(topic, kind): &(&str, &str)| match topic.strip_prefix("//") {
                Some(global) => json!({"topic": format!("/{global}"), "type": kind}),
                None => json!({"topic": format!("{namespace}{topic}"), "type": kind}),
            };
            topics.iter().map(entry).collect::<Vec<Value>>()
        };
        let contents = json!({
            "domain": domain, "patience": PATIENCE, "period": self.period.as_secs_f64(), "tail": self.tail,
            "writers": entries(&self.writers), "readers": entries(&self.readers),
            "broken": self.broken, "warm": self.warm, "script": self.script,
        });
        fs::write(&job, contents.to_string()).expect("a job");
        let mut node = Node::start(
            &[
                "--model".into(),
                model(self.model).display().to_string(),
                "--map".into(),
                map.display().to_string(),
                "--local".into(),
                "--domain".into(),
                domain.to_string(),
                "--ros-args".into(),
                "-r".into(),
                format!("__ns:={namespace}"),
            ],
            &log,
        );
        let peer = Command::new(python).arg(model("bindings/ros2/tests/peer/peer.py")).arg(&job).output();
        let peer = peer.expect("the peer starts");
        node.end();
        let log = fs::read_to_string(&log).expect("a log");
        let errors = String::from_utf8_lossy(&peer.stderr);
        assert!(peer.status.success(), "the peer: {errors}\nthe node: {log}");
        let heard: Value = serde_json::from_slice(&peer.stdout).expect("the peer prints JSON");
        let list = |value: &Value| value.as_array().expect("a list").clone();
        fs::remove_dir_all(&folder).expect("a folder of this test");
        Heard {
            sent: list(&heard["sent"]),
            received: list(&heard["received"]).iter().map(list).collect(),
            summary: log.lines().last().unwrap_or_default().into(),
        }
    }
}

/// A running node, ended with the test.
struct Node(Child);

impl Node {
    fn start(arguments: &[String], log: &std::path::Path) -> Self {
        let log = fs::File::create(log).expect("a log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_quaver-ros2"));
        command.args(arguments).stdin(Stdio::null()).stderr(log);
        Node(command.spawn().expect("the node starts"))
    }

    /// Asks it to end, and waits.
    fn end(&mut self) {
        let asked = Command::new("kill").arg(self.0.id().to_string()).status().expect("kill starts");
        assert!(asked.success(), "the node has ended by itself");
        assert!(self.0.wait().expect("it ends").success(), "the node ends with an error");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It has ended already, or the test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number that the peer has printed as a text.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number"),
        other => other.as_f64().expect("a number"),
    }
}

/// Numbers that the peer has printed as texts.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// Seconds and nanoseconds.
pub(crate) fn stamp(value: &Value) -> [u64; 2] {
    let part = |part: &Value| number(part) as u64;
    if value.is_array() {
        [part(&value[0]), part(&value[1])]
    } else {
        [part(&value["sec"]), part(&value["nanosec"])]
    }
}
