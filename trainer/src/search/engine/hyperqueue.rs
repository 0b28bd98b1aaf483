//! Workers as tasks of HyperQueue: with its program `hq` where there is one, otherwise with its Python
//! package.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use toml::Table;

use super::queue::{JobQueue, Queued};
use super::script::{self, WorkerCommand, newest_output};

/// How HyperQueue is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// By the program `hq`.
    Program,
    /// By the package `hyperqueue` of this Python.
    Python(String),
}

/// Workers in the queue of a HyperQueue server.
#[derive(Clone, Debug)]
pub struct HyperQueue {
    /// What a worker runs.
    pub worker: WorkerCommand,
    /// How the server is called.
    pub interface: Interface,
    /// The server's folder; that of HyperQueue's settings if not given.
    pub server_dir: Option<PathBuf>,
}

impl Interface {
    /// The program `hq` if it starts, otherwise Python.
    pub fn found(python: &str) -> Self {
        match Command::new("hq").arg("--version").output().is_ok_and(|output| output.status.success()) {
            true => Interface::Program,
            false => Interface::Python(python.to_string()),
        }
    }
}

impl HyperQueue {
    /// The job file of the program or the script for Python: its path and its content.
    ///
    /// # Errors
    /// When the path of the search cannot be used.
    pub fn file(&self, workers: usize) -> Result<(PathBuf, String)> {
        let jobs = self.worker.jobs().display().to_string();
        ensure!(!jobs.contains('%'), "`{jobs}`: HyperQueue expands `%` in paths: choose another folder");
        Ok(match &self.interface {
            Interface::Program => (self.worker.jobs().join("hyperqueue.toml"), self.job_file(workers)?),
            Interface::Python(_) => (self.worker.jobs().join(SCRIPT_NAME), self.script()),
        })
    }

    /// The command that submits workers.
    pub fn command(&self, workers: usize) -> Vec<String> {
        match &self.interface {
            Interface::Program => {
                let file = self.worker.jobs().join("hyperqueue.toml").display().to_string();
                self.program(&["job", "submit-file", &file])
            }
            Interface::Python(python) => {
                let script = self.worker.jobs().join(SCRIPT_NAME).display().to_string();
                vec![python.clone(), script, "submit".into(), workers.to_string()]
            }
        }
    }

    fn job_file(&self, workers: usize) -> Result<String> {
        let jobs = self.worker.jobs().display().to_string();
        let output = |kind: &str| format!("{jobs}/hq-%{{JOB_ID}}-%{{TASK_ID}}.{kind}");
        let cpus = self.worker.cpus;
        let resources = Table::from_iter([("cpus".to_string(), (cpus as i64).into())]);
        let request = Table::from_iter([("resources".to_string(), resources.into())]);
        let env = Table::from_iter([("QUAVER_THREADS".to_string(), cpus.to_string().into())]);
        let array = Table::from_iter([
            ("ids".to_string(), format!("0-{}", workers.saturating_sub(1)).into()),
            ("command".into(), self.worker.arguments().into()),
            ("env".into(), env.into()),
            ("stdout".into(), output("stdout").into()),
            ("stderr".into(), output("out").into()),
            ("request".into(), vec![toml::Value::Table(request)].into()),
        ]);
        let job = Table::from_iter([
            ("name".to_string(), self.worker.name().into()),
            ("array".into(), vec![toml::Value::Table(array)].into()),
        ]);
        let heading = "# Written by `quaver search --engine hyperqueue`: workers, which take trials until none is left.\n";
        Ok(heading.to_string() + &toml::to_string(&job).context("cannot write a job file")?)
    }

    /// The script with its settings in front, as JSON in a Python string: JSON strings in ASCII need no other
    /// escape.
    fn script(&self) -> String {
        let settings = serde_json::json!({
            "name": self.worker.name(),
            "arguments": self.worker.arguments(),
            "cpus": self.worker.cpus,
            "jobs": self.worker.jobs(),
            "server_dir": self.server_dir,
        });
        format!("SETTINGS = {}\n\n{SCRIPT}", python_string(&settings.to_string()))
    }

    fn program(&self, arguments: &[&str]) -> Vec<String> {
        let mut command = vec!["hq".to_string(), "--output-mode=json".into()];
        command.extend(self.server_dir.iter().map(|folder| format!("--server-dir={}", folder.display())));
        command.extend(arguments.iter().map(ToString::to_string));
        command
    }

    /// Runs a command, with a script on its standard input if there is one, and returns what it printed as
    /// JSON.
    fn ask(&self, command: &[String], script: Option<&str>) -> Result<Value> {
        let output = run(command, script).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => anyhow::anyhow!("there is no `{}` here: {ADVICE}", command[0]),
            _ => anyhow::Error::new(error).context(format!("cannot start `{}`", command[0])),
        })?;
        ensure!(output.status.success(), "{}: {ADVICE}", last_line(&output));
        let printed = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&printed).with_context(|| {
            format!("cannot read the answer of `{}`: {}", script::quoted_line(command), printed.trim())
        })
    }
}

fn run(command: &[String], script: Option<&str>) -> io::Result<Output> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let (Some(mut input), Some(script)) = (child.stdin.take(), script) {
        // A program that does not read it fails, and says why.
        drop(input.write_all(script.as_bytes()));
    }
    child.wait_with_output()
}

const ADVICE: &str = "start a server (`hq server start`) and workers, and put `hq` on the PATH or install the Python package \
                      (`pip install hyperqueue`) and give its interpreter with --python; --dry-run shows what would be submitted";

/// Its file must not have the name of the package, which it could not import.
const SCRIPT_NAME: &str = "submit_hyperqueue.py";

/// Submits workers (`submit 9`), or counts those that have not ended (`count`), and prints JSON.
const SCRIPT: &str = include_str!("hyperqueue.py");

impl JobQueue for HyperQueue {
    fn check(&self) -> Result<()> {
        self.queued().map(drop)
    }

    fn submit(&self, workers: usize) -> Result<String> {
        let (path, text) = self.file(workers)?;
        script::write(&path, &text)?;
        let id = self.ask(&self.command(workers), None)?["id"].clone();
        Ok(format!(
            "submitted job {id} of HyperQueue, number of workers: {workers}; to stop them: hq job cancel {id}"
        ))
    }

    fn queued(&self) -> Result<Queued> {
        match &self.interface {
            Interface::Program => {
                let jobs = self.ask(&self.program(&["job", "list"]), None)?;
                Ok(counted(&jobs, &self.worker.name()))
            }
            Interface::Python(python) => {
                let command = [python, "-", "count"].map(String::from);
                let answer = self.ask(&command, Some(&self.script()))?;
                let running = answer["left"].as_u64().context("HyperQueue's script gives no count")?;
                Ok(Queued { running: running as usize, ..Queued::default() })
            }
        }
    }

    fn last_words(&self) -> String {
        newest_output(&self.worker.jobs())
    }
}

/// Tasks that wait or run in the jobs of this name.
fn counted(jobs: &Value, name: &str) -> Queued {
    let jobs = jobs.as_array().into_iter().flatten().filter(|job| job["name"] == name);
    jobs.fold(Queued::default(), |queued, job| {
        let count = |state: &str| job["task_stats"][state].as_u64().unwrap_or(0) as usize;
        Queued {
            waiting: queued.waiting + count("waiting"),
            running: queued.running + count("running"),
            ..queued
        }
    })
}

fn last_line(output: &Output) -> String {
    let errors = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let mut lines = errors.iter().flat_map(|text| text.lines().rev());
    lines.find(|line| !line.trim().is_empty()).unwrap_or("it prints nothing").trim().to_string()
}

/// A string literal of Python: one of JSON, in ASCII.
fn python_string(text: &str) -> String {
    let json = Value::from(text).to_string();
    let escaped = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    json.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(interface: Interface) -> HyperQueue {
        let worker = WorkerCommand::for_tests("/data/Anna's \"search\" é");
        HyperQueue { worker, interface, server_dir: Some("/srv/hq".into()) }
    }

    #[test]
    fn the_job_file_is_toml_with_an_array_of_workers() {
        let queue = queue(Interface::Program);
        let (path, text) = queue.file(9).unwrap();
        assert!(path.ends_with("jobs/hyperqueue.toml"));
        let job: Table = text.parse().unwrap();
        let array = &job["array"][0];
        assert_eq!(array["ids"].as_str(), Some("0-8"));
        assert_eq!(array["command"][2].as_str(), Some("/data/Anna's \"search\" é"));
        assert_eq!(array["request"][0]["resources"]["cpus"].as_integer(), Some(2));
        let command = script::quoted_line(&queue.command(9));
        assert!(
            command.starts_with("hq --output-mode=json --server-dir=/srv/hq job submit-file '/data/Anna")
        );
    }

    #[test]
    fn tasks_of_other_jobs_are_not_counted() {
        let job = |name: &str, waiting: u32, running: u32| serde_json::json!({ "id": 1, "name": name, "task_stats": { "waiting": waiting, "running": running, "finished": 7 } });
        let jobs = Value::from(vec![job("ours", 2, 1), job("other", 9, 9), job("ours", 0, 3)]);
        assert_eq!(counted(&jobs, "ours"), Queued { waiting: 2, running: 4, reason: String::new() });
    }

    #[test]
    fn settings_reach_python_whatever_is_in_a_path() {
        assert_eq!(python_string("a\"é😀\\\n"), r#""a\"\u00e9\ud83d\ude00\\\n""#);
    }
}
