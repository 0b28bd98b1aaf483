//! HyperQueue's local cluster, from its Python package.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::SKIPPED;
use super::experiment::{Daemon, EngineCall, Experiment, random};
use crate::bindings::environment::Environment;

/// The package, in a fixed version.
const PACKAGE: &str = "hyperqueue==0.27.0";

/// A server; after a line, a worker of two cores as well, until standard input ends.
const CLUSTER: &str = "
import sys
from hyperqueue import LocalCluster
from hyperqueue.cluster import WorkerConfig
cluster = LocalCluster(server_dir=sys.argv[1])
print('ready', flush=True)
if sys.stdin.readline():
    cluster.start_worker(WorkerConfig(cores=2))
    sys.stdin.read()
cluster.stop()
";

/// Kills the search and one of its workers once at random, continues, and compares.
pub(super) fn check(experiment: &Experiment) -> Result<String> {
    let environment = match Environment::ready("hyperqueue", &[PACKAGE])? {
        Ok(environment) => environment,
        Err(reason) => return Ok(format!("{SKIPPED}{reason}")),
    };
    let python = environment.program("python");
    let folder = experiment.path("server");
    fs::create_dir_all(&folder)?;
    let server = folder.display().to_string();
    let mut child = Command::new(&python)
        .args(["-c", CLUSTER, &server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start Python")?;
    let printed = BufReader::new(child.stdout.take().context("no standard output")?);
    let mut daemon = Daemon(child);
    let ready = printed.lines().map_while(Result::ok).any(|line| line.contains("ready"));
    ensure!(ready, "HyperQueue's cluster does not start; to repeat: {python} -c '{CLUSTER}' {server}");
    let options = [
        "--engine",
        "hyperqueue",
        "--heartbeat",
        "0.5",
        "--jobs",
        "3",
        "--python",
        &python,
        "--server-dir",
        &server,
    ];
    let call = EngineCall { options: options.map(String::from).to_vec(), ..EngineCall::default() };
    // Without a worker, tasks wait for as long as it takes to kill one search and to start the next.
    let mut driver = experiment.start("hyperqueue", &call)?;
    driver.wait_for("submitted job")?;
    driver.kill()?;
    let mut driver = experiment.start("hyperqueue", &call)?;
    driver.finds_its_workers()?;
    daemon.0.stdin.as_mut().context("no standard input")?.write_all(b"worker\n")?;
    let pause = random(1500);
    thread::sleep(Duration::from_millis(pause));
    driver.kill()?;
    let victim = kill_a_worker(experiment)?;
    experiment.start("hyperqueue", &call)?.finish()?;
    experiment.compare("hyperqueue")?;
    Ok(format!("driver killed twice, after {pause} ms, and {victim}, continued, same bytes"))
}

/// Kills a process that holds a trial, if there is any, and returns which.
fn kill_a_worker(experiment: &Experiment) -> Result<String> {
    let names = fs::read_dir(experiment.path("hyperqueue").join("trials"))?.flatten();
    let names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // Machine, start of the machine, namespace, process, start of the process, claim.
    let holder = |name: &String| Some(name.split_once('@')?.1.split('.').nth(3)?.to_string());
    let holders: Vec<String> = names.iter().filter_map(holder).collect();
    if holders.is_empty() {
        return Ok("no worker, for none held a trial".into());
    }
    let victim = &holders[random(holders.len() as u64) as usize];
    // One that has just ended cannot be killed.
    Command::new("kill")
        .args(["-KILL", victim])
        .stderr(Stdio::null())
        .status()
        .context("cannot start kill")?;
    Ok(format!("worker {victim}"))
}
