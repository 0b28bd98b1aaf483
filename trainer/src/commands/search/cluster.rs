//! Options of engines, and the job queues they describe.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::{ValueEnum, value_parser};

use crate::search::engine::hyperqueue::{HyperQueue, Interface};
use crate::search::engine::queue::JobQueue;
use crate::search::engine::script::{WorkerCommand, quoted_line};
use crate::search::engine::slurm::Slurm;

/// What trains trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineName {
    /// Child processes on this machine.
    #[default]
    Local,
    /// Array jobs of Slurm; needs a folder that all nodes share.
    Slurm,
    /// Tasks of a HyperQueue server; needs a folder that all its workers share.
    #[value(alias = "hq")]
    Hyperqueue,
}

/// Options of engines.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Engines")]
pub(super) struct EngineOptions {
    /// What trains trials.
    #[arg(long, value_enum, default_value_t)]
    pub(super) engine: EngineName,
    /// Cores of a worker on a cluster.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=256))]
    cpus: Option<u32>,
    /// Slurm: the account to charge.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Slurm: the partition.
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Slurm: the longest time of a worker, such as 2:00:00. What it has not finished, another continues.
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Slurm: memory of a worker, such as 2G.
    #[arg(long, value_name = "SIZE")]
    mem: Option<String>,
    /// Slurm: any other option of sbatch, such as --slurm-arg=--qos=low; may be repeated.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    slurm_arg: Vec<String>,
    /// HyperQueue: the folder of the server [default: that of hq itself].
    #[arg(long, value_name = "DIR")]
    server_dir: Option<PathBuf>,
    /// HyperQueue: the Python interpreter with its package, used where there is no `hq`.
    #[arg(long, value_name = "PATH")]
    python: Option<String>,
    /// Print what would be submitted, and submit nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Take trials of the search in the folder until none is left; nodes of a cluster run this.
    #[arg(long)]
    pub(super) worker: bool,
    /// Seconds between two signs of life of a worker. Trials of one that misses six are taken over.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, hide = true)]
    heartbeat: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.05..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0.05 to 3600".into()),
    }
}

/// A job queue, and what it would submit.
pub(super) enum Cluster {
    Slurm(Slurm),
    HyperQueue(HyperQueue),
}

impl EngineOptions {
    pub(super) fn heartbeat(&self) -> Duration {
        Duration::from_secs_f64(self.heartbeat)
    }

    /// The job queue of the engine for a search in `out`; `None` for this machine.
    pub(super) fn cluster(&self, out: &Path) -> Result<Option<Cluster>> {
        self.check()?;
        let worker = || WorkerCommand::new(out, self.cpus.unwrap_or(1) as usize, self.heartbeat());
        Ok(match self.engine {
            EngineName::Local => None,
            EngineName::Slurm => {
                Some(Cluster::Slurm(Slurm { worker: worker()?, options: self.slurm_options() }))
            }
            EngineName::Hyperqueue => {
                let python = self.python.as_deref().unwrap_or("python3");
                let interface = match &self.python {
                    Some(python) => Interface::Python(python.clone()),
                    None => Interface::found(python),
                };
                let server_dir = self.server_dir.as_deref().map(std::path::absolute).transpose()?;
                Some(Cluster::HyperQueue(HyperQueue { worker: worker()?, interface, server_dir }))
            }
        })
    }

    fn slurm_options(&self) -> Vec<String> {
        let named = [
            ("account", &self.account),
            ("partition", &self.partition),
            ("time", &self.time),
            ("mem", &self.mem),
        ];
        let named =
            named.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        named.chain(self.slurm_arg.iter().cloned()).collect()
    }

    /// Refuses options of another engine, which would have no effect.
    fn check(&self) -> Result<()> {
        let option = |name: &str| name.split('=').next().unwrap_or(name).to_string();
        if let Some(given) = self.slurm_options().first().filter(|_| self.engine != EngineName::Slurm) {
            bail!("{} is for --engine slurm", option(given));
        }
        let given = [("--server-dir", self.server_dir.is_some()), ("--python", self.python.is_some())];
        if let Some((name, _)) =
            given.iter().find(|(_, given)| *given && self.engine != EngineName::Hyperqueue)
        {
            bail!("{name} is for --engine hyperqueue");
        }
        ensure!(
            self.cpus.is_none() || self.engine != EngineName::Local,
            "--cpus is for clusters; on this machine, QUAVER_THREADS sets the number of threads"
        );
        Ok(())
    }
}

impl Cluster {
    pub(super) fn queue(&self) -> &dyn JobQueue {
        match self {
            Cluster::Slurm(slurm) => slurm,
            Cluster::HyperQueue(queue) => queue,
        }
    }

    /// What would be submitted, for people.
    pub(super) fn described(&self, workers: usize) -> Result<String> {
        let ((path, text), command) = match self {
            Cluster::Slurm(slurm) => (slurm.script(), slurm.command(workers)),
            Cluster::HyperQueue(queue) => (queue.file(workers)?, queue.command(workers)),
        };
        Ok(format!("# {}\n{text}\n# submitted by\n{}\n", path.display(), quoted_line(&command)))
    }
}
