//! Workers as array jobs of Slurm. Only `sbatch`, `squeue` and `scancel` are used: no accounting is needed.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Result, bail};

use super::queue::{JobQueue, Queued};
use super::script::{self, WorkerCommand, newest_output};

/// Workers in the queue of Slurm.
#[derive(Clone, Debug)]
pub struct Slurm {
    /// What a worker runs.
    pub worker: WorkerCommand,
    /// Options of `sbatch`, as they are.
    pub options: Vec<String>,
}

impl Slurm {
    /// The job script: its path and its content.
    pub fn script(&self) -> (PathBuf, String) {
        let WorkerCommand { cpus, .. } = self.worker;
        let text = format!(
            "#!/bin/sh\n# Written by `quaver search --engine slurm`: takes trials of the search until none is left.\n\
             export QUAVER_THREADS=\"${{SLURM_CPUS_PER_TASK:-{cpus}}}\"\nexec {}\n",
            script::quoted_line(&self.worker.arguments())
        );
        (self.worker.jobs().join("slurm.sh"), text)
    }

    /// The command that submits workers.
    pub fn command(&self, workers: usize) -> Vec<String> {
        let mut command: Vec<String> = [
            "sbatch",
            "--parsable",
            &format!("--job-name={}", self.worker.name()),
            &format!("--array=0-{}", workers.saturating_sub(1)),
            &format!("--cpus-per-task={}", self.worker.cpus),
            // Relative, because Slurm expands patterns in it.
            &format!("--chdir={}", self.worker.out.display()),
            "--output=jobs/%A_%a.out",
            "--open-mode=append",
        ]
        .map(String::from)
        .to_vec();
        command.extend(self.options.iter().cloned());
        command.push(self.script().0.display().to_string());
        command
    }
}

impl JobQueue for Slurm {
    fn check(&self) -> Result<()> {
        ["sbatch", "squeue"]
            .iter()
            .try_for_each(|program| start(&[program.to_string(), "--version".into()]).map(drop))
    }

    fn submit(&self, workers: usize) -> Result<String> {
        let (path, text) = self.script();
        script::write(&path, &text)?;
        let command = self.command(workers);
        let output = start(&command)?;
        if !output.status.success() {
            bail!("{}", refused(&command, &output));
        }
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
        let id = printed.split(';').next().unwrap_or_default();
        Ok(format!(
            "submitted array job {id}, number of workers: {workers}; to stop them: scancel --name={}",
            self.worker.name()
        ))
    }

    fn queued(&self) -> Result<Queued> {
        let command = ["squeue", "--noheader", "--array", "--me", "--format=%T %r"].map(String::from);
        let command = [command.to_vec(), vec![format!("--name={}", self.worker.name())]].concat();
        let output = start(&command)?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr).trim().to_string();
            bail!("squeue fails: {errors}");
        }
        Ok(counted(&String::from_utf8_lossy(&output.stdout)))
    }

    fn last_words(&self) -> String {
        newest_output(&self.worker.jobs())
    }

    fn cancel_waiting(&self) {
        let name = format!("--name={}", self.worker.name());
        // Those that stay find nothing to do.
        drop(Command::new("scancel").args(["--state=PENDING", "--quiet", &name]).output());
    }
}

/// Counts lines of a state and a reason.
fn counted(printed: &str) -> Queued {
    let mut queued = Queued::default();
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let (state, reason) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        if state == "PENDING" {
            queued.waiting += 1;
            if !matches!(reason, "" | "None") {
                queued.reason = reason.to_string();
            }
        } else {
            queued.running += 1;
        }
    }
    queued
}

fn start(command: &[String]) -> Result<Output> {
    let program = &command[0];
    Command::new(program).args(&command[1..]).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!(
            "there is no `{program}` here: start the search where the commands of Slurm are, such as on the login node of a \
             cluster, or use --engine local; --dry-run shows what would be submitted"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot start `{program}`")),
    })
}

fn refused(command: &[String], output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = errors.lines().map(|line| line.trim_start_matches("sbatch: error: ")).collect();
    let errors = errors.join("; ");
    let lower = errors.to_lowercase();
    let advice = if lower.contains("partition") {
        "`sinfo` lists the partitions; give one with --partition"
    } else if lower.contains("account") {
        "give the account to charge with --account"
    } else if lower.contains("array") {
        "give fewer workers with --jobs"
    } else if lower.contains("contact") || lower.contains("connect") {
        "is Slurm running, and is this one of its machines?"
    } else {
        "other options go to sbatch with --slurm-arg"
    };
    format!("sbatch refuses the job: {errors}; {advice}; to repeat: {}", script::quoted_line(command))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn pending_tasks_wait_and_all_others_run() {
        let printed = "PENDING Resources\nPENDING Priority\nRUNNING None\nCOMPLETING None\n\n";
        assert_eq!(counted(printed), Queued { waiting: 2, running: 2, reason: "Priority".into() });
        assert_eq!(counted(""), Queued::default());
    }

    #[test]
    fn paths_with_quotes_and_blanks_reach_the_worker() {
        let worker = WorkerCommand::for_tests("/data/Anna's search");
        let slurm = Slurm { worker, options: vec!["--time=1:00:00".into()] };
        let (path, text) = slurm.script();
        assert_eq!(path, Path::new("/data/Anna's search/jobs/slurm.sh"));
        assert!(
            text.ends_with("exec /bin/quaver search '/data/Anna'\\''s search' --worker --heartbeat 10\n"),
            "{text}"
        );
        let command = slurm.command(9);
        assert!(
            command.contains(&"--array=0-8".to_string()) && command.contains(&"--time=1:00:00".to_string())
        );
        assert_eq!(command.last().map(String::as_str), Some("/data/Anna's search/jobs/slurm.sh"));
    }
}
