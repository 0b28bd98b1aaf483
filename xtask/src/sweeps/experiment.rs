//! A search of some seconds, and what is compared between engines.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::image;
use crate::shell::Shell;

/// Nine trials, three of which go on, and one to the end, unless told otherwise.
const TRIALS: usize = 9;
const CONFIG: &str = "
seed = 3
[data]
train = 'rows.csv'
targets = 'b'
[model]
cell = 'tanh'
layers = [12]
[training]
epochs = 45
patience = 0
chunk = 40
batch = 4
[search]
training.learning_rate = { log_uniform = [1e-4, 1e-1] }
model.layers = { list = [{ integer = [8, 24] }] }
halving = { first_epochs = 5, factor = 3 }
";
/// How long a search may take, on a busy machine as well.
const LIMIT: Duration = Duration::from_secs(300);

/// Data and a config in a temporary folder.
pub(super) struct Experiment {
    folder: TempDir,
    quaver: PathBuf,
}

/// Options and environment of an engine.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineCall {
    pub(super) trials: Option<usize>,
    pub(super) options: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
}

/// A search that runs in the background.
pub(super) struct Driver {
    child: Child,
    lines: BufReader<ChildStderr>,
    /// What it has printed so far.
    pub(super) printed: Vec<String>,
}

impl Experiment {
    pub(super) fn new() -> Result<Self> {
        // As part of the workspace, for which Burn is built already.
        let quaver = image::path_of(&Shell::cargo("build --quiet --release --workspace --bin quaver"))?;
        let folder = tempfile::tempdir()?;
        let wave = |t: i32| (0.4 * f64::from(t)).sin() + (0.9 * f64::from(t)).cos();
        let rows: String = (0..1500).map(|t| format!("{},{}\n", wave(t), wave(t - 2))).collect();
        fs::write(folder.path().join("rows.csv"), format!("a,b\n{rows}"))?;
        fs::write(folder.path().join("search.toml"), CONFIG)?;
        Ok(Experiment { folder, quaver })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary.
    pub(super) fn quaver(&self) -> &Path {
        &self.quaver
    }

    /// The search that others are compared with.
    pub(super) fn search_here(&self) -> Result<()> {
        let call = EngineCall { options: vec!["--jobs".into(), "2".into()], ..EngineCall::default() };
        self.shell("local", &call).run().map(drop)
    }

    /// The arguments of a search into `out`.
    pub(super) fn arguments(&self, out: &str, call: &EngineCall) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let trials = call.trials.unwrap_or(TRIALS).to_string();
        let fixed = ["search", &path("search.toml"), "--trials", &trials, "--out", &path(out)];
        fixed.iter().map(ToString::to_string).chain(call.options.iter().cloned()).collect()
    }

    /// A search to its end.
    pub(super) fn shell(&self, out: &str, call: &EngineCall) -> Shell {
        let shell = Shell::new(self.quaver.display().to_string()).limit(LIMIT);
        let shell =
            self.arguments(out, call).into_iter().fold(shell, |shell, argument| shell.argument(argument));
        call.variables.iter().fold(shell, |shell, (name, value)| shell.variable(name, value.clone()))
    }

    /// Starts a search.
    pub(super) fn start(&self, out: &str, call: &EngineCall) -> Result<Driver> {
        let mut command = Command::new(&self.quaver);
        command.args(self.arguments(out, call)).envs(call.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start quaver")?;
        let lines = BufReader::new(child.stderr.take().context("no standard error")?);
        Ok(Driver { child, lines, printed: Vec::new() })
    }

    /// Compares the results of a search with those of the one on this machine.
    pub(super) fn compare(&self, out: &str) -> Result<()> {
        let mut files = vec![PathBuf::from("leaderboard.csv")];
        for entry in fs::read_dir(self.path("local").join("best"))? {
            files.push(Path::new("best").join(entry?.file_name()));
        }
        for file in files {
            let read = |out: &str| {
                let path = self.path(out).join(&file);
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
            };
            ensure!(read(out)? == read("local")?, "{} differs from that of --engine local", file.display());
        }
        let left = |folder: &str| Ok::<_, anyhow::Error>(fs::read_dir(self.path(out).join(folder))?.count());
        ensure!(left("todo")? == 0, "tickets are left");
        let held = fs::read_dir(self.path(out).join("trials"))?.flatten();
        let held = held.filter(|entry| entry.file_name().to_string_lossy().contains('@')).count();
        ensure!(held == 0, "{held} trials are still held");
        Ok(())
    }
}

impl Driver {
    /// Reads what it prints up to a line with this text.
    pub(super) fn wait_for(&mut self, text: &str) -> Result<()> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line)? == 0 {
                bail!("the search ended before it printed {text:?}:\n{}", self.printed.join("\n"));
            }
            self.printed.push(line.trim_end().to_string());
            if line.contains(text) {
                return Ok(());
            }
        }
    }

    /// Waits until it has looked into the queue, where all its workers must be: none are submitted again.
    pub(super) fn finds_its_workers(&mut self) -> Result<()> {
        self.wait_for("note: workers: ")?;
        let printed = self.printed.join("\n");
        ensure!(
            !printed.contains("submitted"),
            "workers were in the queue, but others were submitted:\n{printed}"
        );
        Ok(())
    }

    /// Kills it without a chance to tidy up.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill().context("cannot kill the search")?;
        self.child.wait().map(drop).context("cannot wait for the search")
    }

    /// Waits for its end, which must be a success.
    pub(super) fn finish(mut self) -> Result<Vec<String>> {
        for line in (&mut self.lines).lines() {
            self.printed.push(line?);
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "{status}:\n{}", self.printed.join("\n"));
        Ok(std::mem::take(&mut self.printed))
    }
}

/// A process that ends with this value.
pub(super) struct Daemon(pub(super) Child);

impl Daemon {
    /// Starts a program with what it prints in a file.
    pub(super) fn start(mut command: Command, log: &Path) -> Result<Self> {
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let name = command.get_program().to_string_lossy().into_owned();
        let command = command.stdout(log.try_clone()?).stderr(log);
        Ok(Daemon(command.spawn().with_context(|| format!("cannot start {name}"))?))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A number below `below` that differs from run to run.
pub(super) fn random(below: u64) -> u64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    u64::from(nanos / 1000) % below
}
