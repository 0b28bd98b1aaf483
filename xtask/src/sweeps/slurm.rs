//! A Slurm of one node on the loopback interface, in a temporary folder and without munge.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::experiment::{Daemon, EngineCall, Experiment, random};
use crate::shell::Shell;

/// How long the daemons may take to start.
const START: Duration = Duration::from_secs(30);

/// Both daemons. Jobs that still run end with the node's daemon.
struct Cluster {
    conf: PathBuf,
    _controller: Daemon,
    _node: Daemon,
}

/// Kills driver and job once at random, continues, and compares.
pub(super) fn check(experiment: &Experiment) -> Result<String> {
    if !cfg!(target_os = "linux") {
        return Ok("skipped, its daemons run on Linux alone".into());
    }
    let folder = experiment.path("cluster");
    let cluster = match Cluster::start(&folder)? {
        Ok(cluster) => cluster,
        Err(reason) => return Ok(format!("skipped, {reason}")),
    };
    let call = |more: &[&str]| EngineCall {
        trials: None,
        options: ["--engine", "slurm", "--heartbeat", "0.5", "--jobs", "4", "--time", "5"]
            .iter()
            .chain(more)
            .map(ToString::to_string)
            .collect(),
        variables: vec![("SLURM_CONF".into(), cluster.conf.display().to_string())],
    };
    refusals(experiment, &call)?;
    // Jobs that are held wait for as long as it takes to kill one search and to start the next.
    let mut driver = experiment.start("slurm", &call(&["--slurm-arg=--hold"]))?;
    driver.wait_for("submitted array job")?;
    driver.kill()?;
    let mut driver = experiment.start("slurm", &call(&[]))?;
    driver.finds_its_workers()?;
    cluster.release()?;
    let pause = random(1500);
    thread::sleep(Duration::from_millis(pause));
    driver.kill()?;
    let victim = cluster.kill_a_job()?;
    experiment.start("slurm", &call(&[]))?.finish()?;
    experiment.compare("slurm")?;
    Ok(format!("driver killed twice, after {pause} ms, and {victim}, continued, same bytes"))
}

/// What goes wrong is named, and nothing is submitted.
fn refusals(experiment: &Experiment, call: &dyn Fn(&[&str]) -> EngineCall) -> Result<()> {
    let refused = experiment.shell("refused", &call(&["--partition", "nowhere"])).capture()?;
    let names = ["invalid partition", "--partition", "sinfo"];
    ensure!(
        !refused.status.success() && names.iter().all(|name| refused.stderr.contains(name)),
        "the message about an unknown partition is: {}",
        refused.stderr
    );
    let dry = experiment.shell("dry", &call(&["--dry-run", "--mem", "1G"])).run()?;
    ensure!(dry.contains("--mem=1G") && dry.contains("--worker"), "a dry run prints {dry}");
    ensure!(!experiment.path("dry").exists(), "a dry run has written something");
    Ok(())
}

impl Cluster {
    /// Starts both daemons; or in one line why they do not start here.
    fn start(folder: &Path) -> Result<Result<Self, String>> {
        for name in ["state", "spool"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let conf = folder.join("slurm.conf");
        fs::write(&conf, configuration(folder)?)?;
        let daemon = |program: &str| {
            let mut command = Command::new(program);
            command.arg("-D").env("SLURM_CONF", &conf).stdin(Stdio::null());
            Daemon::start(command, &folder.join(format!("{program}.log")))
        };
        let cluster =
            Cluster { _controller: daemon("slurmctld")?, _node: daemon("slurmd")?, conf: conf.clone() };
        let begun = Instant::now();
        while cluster
            .command("sinfo", "--noheader --format=%T")
            .run()
            .map_or(true, |state| state.trim() != "idle")
        {
            if begun.elapsed() > START {
                let log = fs::read_to_string(folder.join("slurmd.log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or("its log is empty");
                return Ok(Err(format!("no node of Slurm after {} s: {last}", START.as_secs())));
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(Ok(cluster))
    }

    fn command(&self, program: &str, arguments: &str) -> Shell {
        let conf = self.conf.display().to_string();
        Shell::new(program).words(arguments).variable("SLURM_CONF", conf).limit(START)
    }

    /// Lets jobs start that are held.
    fn release(&self) -> Result<()> {
        let waiting = self.command("squeue", "--noheader --states=PENDING --format=%A").run()?;
        let first = waiting.split_whitespace().next().context("no job is held")?;
        self.command("scontrol", "release").argument(first).run().map(drop)
    }

    /// Kills one of the jobs as soon as any runs, and returns which.
    fn kill_a_job(&self) -> Result<String> {
        let begun = Instant::now();
        loop {
            let queued = self.command("squeue", "--noheader --array --format=%i=%T").run()?;
            let running: Vec<&str> =
                queued.split_whitespace().filter_map(|job| job.strip_suffix("=RUNNING")).collect();
            if !running.is_empty() {
                let victim = running[random(running.len() as u64) as usize];
                self.command("scancel", "--full --signal=KILL").argument(victim).run()?;
                return Ok(format!("job {victim}"));
            }
            if queued.trim().is_empty() {
                return Ok("no job, for all had ended".into());
            }
            ensure!(begun.elapsed() < START, "no job starts: {queued}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The configuration of a controller and a node of two processors, for whoever runs this.
fn configuration(folder: &Path) -> Result<String> {
    let said = |program: &str, argument: &str| {
        Shell::new(program).words(argument).run().map(|text| text.trim().to_string())
    };
    let (host, user) = (said("hostname", "-s")?, said("id", "-un")?);
    let ports = [free_port()?, free_port()?];
    let folder = folder.display();
    Ok(format!(
        "ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={}
SlurmdPort={}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
",
        ports[0], ports[1]
    ))
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?.port())
}
