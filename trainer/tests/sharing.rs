//! Searches by many processes in one folder: workers that are killed at random, and one that stands still
//! until another has taken its trial over.
#![cfg(unix)]

mod place;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use place::{CONFIG, Place, fails, quaver, succeeds};

const SEARCH: &str = "
[search]
training.learning_rate = { log_uniform = [1e-4, 1e-1] }
model.layers = { choice = [[4], [8]] }
halving = { first_epochs = 10, factor = 3 }
";

/// Seconds between heartbeats: six that are missed are over soon.
const HEARTBEAT: &str = "0.2";

fn place() -> Place {
    let place = Place::new();
    place.write("search.toml", &(CONFIG.replace("epochs = 4", "epochs = 30\npatience = 0") + SEARCH));
    place
}

fn driver(place: &Place, out: &str) -> Command {
    let mut command = quaver();
    command.args(["search", &place.at("search.toml"), "--trials", "9", "--out", &place.at(out)]);
    command.args(["--heartbeat", HEARTBEAT]);
    command
}

fn worker(place: &Place, out: &str) -> Child {
    let arguments = ["search", &place.at(out), "--worker", "--heartbeat", HEARTBEAT];
    quaver().args(arguments).stderr(Stdio::null()).spawn().expect("the binary starts")
}

fn assert_same(place: &Place, one: &str, other: &str) {
    let best = fs::read_dir(place.path(one).join("best")).expect("the best run");
    let best = best.map(|entry| Path::new("best").join(entry.expect("a file").file_name()));
    for file in best.chain(["leaderboard.csv".into(), "trials/0003/last.state".into()]) {
        let read = |out: &str| fs::read(place.path(out).join(&file)).expect("a file of the search");
        assert_eq!(read(one), read(other), "{}", file.display());
    }
    let names = held(place, other);
    assert!(names.is_empty(), "trials are still held: {names:?}");
}

/// Run folders that somebody holds.
fn held(place: &Place, out: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(out).join("trials")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains('@')).collect()
}

/// The process in the name of a folder that is held.
fn process_of(name: &str) -> &str {
    name.split('.').nth(3).expect("the number of a process")
}

fn signal(name: &str, processes: &[&str]) {
    let sent = Command::new("kill").arg(format!("-{name}")).args(processes).status().expect("kill");
    assert!(sent.success());
}

fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn workers_that_are_killed_at_random_change_nothing() {
    let place = place();
    assert!(driver(&place, "whole").output().expect("the binary starts").status.success());
    let mut random = 0x9E37_79B9_u32 ^ std::process::id();
    let mut next = |below: u32| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % below
    };
    let mut leader =
        driver(&place, "parts").stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
    wait_until("tickets are written", || place.path("parts/todo").is_dir());
    let mut workers: Vec<Child> = (0..5).map(|_| worker(&place, "parts")).collect();
    for round in 0..12 {
        thread::sleep(Duration::from_millis(u64::from(next(120))));
        let victim = next(workers.len() as u32) as usize;
        workers[victim].kill().expect("it can be killed, or has ended");
        workers[victim].wait().expect("it ends");
        workers[victim] = worker(&place, "parts");
        if round == 6 {
            leader.kill().expect("it can be killed, or has ended");
            leader.wait().expect("it ends");
            leader =
                driver(&place, "parts").stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
        }
    }
    assert!(leader.wait().expect("it ends").success());
    for mut worker in workers {
        assert!(worker.wait().expect("it ends").success());
    }
    assert_same(&place, "whole", "parts");
}

#[test]
fn a_worker_that_stood_still_has_lost_its_trial() {
    let place = place();
    assert!(driver(&place, "whole").output().expect("the binary starts").status.success());
    // The search is stopped while its workers work, so that it takes no trial itself.
    let mut leader =
        driver(&place, "parts").stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
    wait_until("a trial is held", || !held(&place, "parts").is_empty());
    leader.kill().expect("it can be killed");
    leader.wait().expect("it ends");
    let first = held(&place, "parts");
    let mut slow = worker(&place, "parts");
    let id = slow.id().to_string();
    let own = || held(&place, "parts").into_iter().find(|name| process_of(name) == id);
    wait_until("the worker holds a trial", || own().is_some());
    signal("STOP", &[&id]);
    let name = own().expect("it stands still while it holds a trial");
    assert!(!first.contains(&name));
    let finished = driver(&place, "parts").output().expect("the binary starts");
    let errors = String::from_utf8_lossy(&finished.stderr);
    assert!(finished.status.success(), "{errors}");
    assert!(errors.contains(&format!("process {id} on")) && errors.contains("has ended"), "{errors}");
    signal("CONT", &[&id]);
    assert!(slow.wait().expect("it ends").success(), "it stops in peace");
    assert_same(&place, "whole", "parts");
    assert!(!place.path("parts/trials").join(&name).exists(), "it leaves nothing behind");
}

#[test]
fn errors_of_engines_say_what_and_where() {
    let place = place();
    let (config, out) = (place.at("search.toml"), place.at("out"));
    let search = |more: &[&str], names: &[&str]| {
        fails(&[&["search", &config, "--trials", "3", "--out", &out], more].concat(), names);
        assert!(!place.path("out").exists(), "a search that cannot start leaves nothing behind");
    };
    search(&["--partition", "long"], &["--partition is for --engine slurm"]);
    search(&["--slurm-arg=--qos=low"], &["--qos is for --engine slurm"]);
    search(&["--server-dir", "x", "--engine", "slurm"], &["--server-dir is for --engine hyperqueue"]);
    search(&["--cpus", "2"], &["--cpus is for clusters", "QUAVER_THREADS"]);
    search(&["--engine", "pbs"], &["pbs", "slurm", "hyperqueue"]);
    search(&["--engine", "hq", "--python", "/no/python"], &["no `/no/python`", "pip install hyperqueue"]);
    fails(&["search", &place.at(""), "--worker"], &["contains no search", "does this machine see it"]);
    fails(&["search", &out, "--worker", "--trials", "3"], &["--worker", "--trials"]);
}

#[test]
fn without_slurm_the_search_says_so() {
    let place = place();
    let mut command = driver(&place, "out");
    let failed =
        command.args(["--engine", "slurm"]).env("PATH", "/nowhere").output().expect("the binary starts");
    let errors = String::from_utf8_lossy(&failed.stderr);
    assert!(!failed.status.success() && errors.contains("there is no `sbatch` here"), "{errors}");
    assert!(!place.path("out").exists());
}

#[test]
fn a_dry_run_prints_and_does_nothing() {
    let place = place();
    let (config, out) = (place.at("search.toml"), place.at("out"));
    let dry = |more: &[&str]| {
        let fixed = ["search", &config, "--trials", "9", "--out", &out, "--dry-run"];
        succeeds(&[&fixed, more].concat())
    };
    let slurm = dry(&["--engine", "slurm", "--time", "2:00:00", "--slurm-arg=--qos=low", "--jobs", "4"]);
    for part in
        ["stage 2 of 2: 3 trials up to epoch 30", "--array=0-3", "--time=2:00:00", "--qos=low", "--worker"]
    {
        assert!(slurm.contains(part), "{slurm}");
    }
    let python = dry(&["--engine", "hyperqueue", "--python", "/opt/python"]);
    assert!(python.contains("from hyperqueue import") && python.contains("/opt/python"), "{python}");
    assert!(dry(&[]).contains("1 at a time on this machine"));
    assert!(!place.path("out").exists());
}
