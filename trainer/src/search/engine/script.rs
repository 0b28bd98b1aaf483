//! What workers in a job queue run, and what they print.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::files;

/// Lines of a job's output in an error.
const SHOWN: usize = 3;

/// The command of a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The binary, by its whole path: nodes must see it there.
    pub quaver: PathBuf,
    /// The folder of the search, by its whole path.
    pub out: PathBuf,
    /// Threads that it uses.
    pub cpus: usize,
    /// How often it shows that it lives.
    pub heartbeat: Duration,
}

impl WorkerCommand {
    /// The command of a worker of the search in `out`.
    ///
    /// # Errors
    /// When a path cannot be resolved.
    pub fn new(out: &Path, cpus: usize, heartbeat: Duration) -> Result<Self> {
        let quaver = std::env::current_exe().context("cannot find the path of this program")?;
        let out = std::path::absolute(out)
            .with_context(|| format!("{}: cannot resolve this path", out.display()))?;
        Ok(WorkerCommand { quaver, out: resolved(&out), cpus, heartbeat })
    }

    /// Program and arguments.
    pub fn arguments(&self) -> Vec<String> {
        let (quaver, out) = (self.quaver.display().to_string(), self.out.display().to_string());
        let heartbeat = self.heartbeat.as_secs_f64().to_string();
        vec![quaver, "search".into(), out, "--worker".into(), "--heartbeat".into(), heartbeat]
    }

    /// The name of the search's jobs, by which they are found again.
    pub fn name(&self) -> String {
        format!("quaver-{:016x}", crate::search::draw::hash(&self.out.display().to_string()))
    }

    /// The folder of job scripts and what jobs print.
    pub fn jobs(&self) -> PathBuf {
        self.out.join("jobs")
    }

    #[cfg(test)]
    pub(super) fn for_tests(out: &str) -> Self {
        let heartbeat = Duration::from_secs(10);
        WorkerCommand { quaver: "/bin/quaver".into(), out: out.into(), cpus: 2, heartbeat }
    }
}

/// A path without symbolic links, also where it does not exist yet. The name of a job is made from the path:
/// the folder may be reached by several, but has one.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(path), ..) => path,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_path_buf(),
    }
}

/// Writes a file for a job, and its folder.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    files::replace(path, text.as_bytes())
}

/// Words as a line for a shell.
pub fn quoted_line(words: &[String]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=:,+%@".contains(&byte);
    let quoted = |word: &String| match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The end of what the last job printed, or that it printed nothing.
pub(super) fn newest_output(jobs: &Path) -> String {
    let entries = fs::read_dir(jobs).into_iter().flatten().flatten();
    let outputs =
        entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "out"));
    let newest = outputs.max_by_key(|entry| entry.metadata().and_then(|found| found.modified()).ok());
    let Some(newest) = newest else {
        return format!(
            "No job has written to `{}`, so no node has seen this folder: use one that all nodes share",
            jobs.display()
        );
    };
    let text = fs::read_to_string(newest.path()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(SHOWN)..].join(" / ");
    format!("The last job ended with: {end} ({})", newest.path().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        let line = quoted_line(&["a".into(), "b c".into(), String::new(), "it's".into(), "$HOME".into()]);
        assert_eq!(line, "a 'b c' '' 'it'\\''s' '$HOME'");
    }

    #[test]
    fn the_end_of_the_newest_output_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        assert!(newest_output(folder.path()).contains("No job has written"));
        fs::write(folder.path().join("1_0.out"), "one\n\ntwo\nthree\nfour\n").unwrap();
        assert!(newest_output(folder.path()).starts_with("The last job ended with: two / three / four ("));
    }

    #[test]
    fn a_search_has_one_name_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        let name = |path: PathBuf| WorkerCommand::new(&path, 1, Duration::ZERO).unwrap().name();
        assert_eq!(name(folder.path().join(".")), name(folder.path().to_path_buf()));
        assert_ne!(name(folder.path().join("other")), name(folder.path().to_path_buf()));
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(folder.path(), &link).unwrap();
            assert_eq!(name(link.join("not/yet")), name(folder.path().join("not/yet")));
        }
    }
}
