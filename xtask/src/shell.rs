//! Commands that are described once: to run them, and to print how to repeat them by hand.

use std::fmt;
use std::fs::File;
use std::io::{Read, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// How often a command with a time limit is looked at.
const POLL: Duration = Duration::from_millis(5);

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A command, run from the root of the workspace or from a folder in it.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    folder: PathBuf,
    variables: Vec<(String, String)>,
    program: String,
    arguments: Vec<String>,
    limit: Option<Duration>,
}

/// What a command left behind.
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Shell {
    pub(crate) fn new(program: impl Into<String>) -> Self {
        Shell {
            folder: PathBuf::new(),
            variables: Vec::new(),
            program: program.into(),
            arguments: Vec::new(),
            limit: None,
        }
    }

    /// Cargo, with arguments separated by blanks.
    pub(crate) fn cargo(arguments: &str) -> Self {
        Shell::new("cargo").words(arguments)
    }

    /// Adds arguments separated by blanks.
    pub(crate) fn words(mut self, arguments: &str) -> Self {
        self.arguments.extend(arguments.split_whitespace().map(String::from));
        self
    }

    /// Adds one argument as it is.
    pub(crate) fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs in a folder of the workspace.
    pub(crate) fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets an environment variable.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Kills the command when it takes longer.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs to the end, success or not.
    pub(crate) fn capture(&self) -> Result<Captured> {
        let mut child = self.spawn().with_context(|| format!("cannot start {}", self.program))?;
        let stdout = read_in_background(child.stdout.take());
        let stderr = read_in_background(child.stderr.take());
        let status = self.wait(&mut child)?;
        let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
        Ok(Captured { status, stdout: text(stdout), stderr: text(stderr) })
    }

    /// Runs to success and returns standard output; a failure shows everything the command printed.
    pub(crate) fn run(&self) -> Result<String> {
        let captured = self.capture().with_context(|| format!("to repeat: {self}"))?;
        if !captured.status.success() {
            let errors = captured.stderr.trim_end();
            // Messages of cargo in JSON are for this program; what they say to people is among the errors.
            let is_for_people = |line: &&str| !line.starts_with("{\"reason\":");
            let printed: Vec<&str> = captured.stdout.lines().filter(is_for_people).collect();
            bail!("{}\n{errors}\n{}\nto repeat: {self}", captured.status, printed.join("\n"));
        }
        Ok(captured.stdout)
    }

    /// Runs to success in front of the user: everything it prints goes to standard error, and it may ask for
    /// a password.
    pub(crate) fn show(&self) -> Result<()> {
        let status = self.command().stdout(stderr()).status();
        let status = status.with_context(|| format!("cannot start {}", self.program))?;
        ensure!(status.success(), "{status}; to repeat: {self}");
        Ok(())
    }

    /// Runs to the end, success or not, with what it prints where ours goes.
    pub(crate) fn stream(&self) -> Result<ExitStatus> {
        self.command().status().with_context(|| format!("cannot start {}", self.program))
    }

    /// Starts it, with what it prints in a file.
    pub(crate) fn spawn_into(&self, stdout: File) -> Result<Child> {
        let mut command = self.command();
        let command = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
        command.spawn().with_context(|| format!("cannot start {}", self.program))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.variables.iter().cloned())
            .current_dir(root().join(&self.folder));
        command
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus> {
        let Some(limit) = self.limit else { return Ok(child.wait()?) };
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if begin.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                bail!("no end after {} s", limit.as_secs());
            }
            thread::sleep(POLL);
        }
    }
}

/// Both pipes are read while the command runs, so that neither can fill up and block it.
fn read_in_background(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A broken pipe ends the text; the exit status decides.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The line to type in the root of the workspace.
impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.folder != Path::new("") {
            write!(f, "cd {} && ", self.folder.display())?;
        }
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '*', '\'', '"', '$']) {
        format!("{word:?}")
    } else {
        word.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_tells_how_to_repeat_it() {
        let shell = Shell::cargo("build --release").in_folder("xtask").variable("FLAGS", "-D warnings");
        assert_eq!(shell.to_string(), r#"cd xtask && FLAGS="-D warnings" cargo build --release"#);
    }

    #[test]
    fn a_failure_shows_what_was_said() {
        let failing = Shell::new("sh").argument("-c").argument("echo printed; echo failed >&2; exit 3");
        let error = failing.run().expect_err("exit 3 is a failure").to_string();
        assert!(error.contains("printed") && error.contains("failed") && error.contains("to repeat: sh -c"));
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let hanging = Shell::new("sleep").argument("60").limit(Duration::from_millis(50));
        let begin = Instant::now();
        assert!(hanging.run().is_err());
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
