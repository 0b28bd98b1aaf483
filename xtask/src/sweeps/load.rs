//! `cargo xtask sweep-load`: what a search asks of a shared file system, counted system call by system call.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::experiment::{EngineCall, Experiment};
use crate::setup::programs::{self, STRACE};
use crate::table;

/// Options of the count.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Worker processes
    #[arg(long, default_value_t = 16)]
    workers: usize,
    /// Trials
    #[arg(long, default_value_t = 27)]
    trials: usize,
}

/// Seconds between heartbeats, so that there are some.
const HEARTBEAT: &str = "1";

/// Subjects of an epoch; all others are of a claim or of time.
const OF_EPOCHS: [&str; 3] = ["metrics", "states", "folder syncs"];

/// System calls that reach a file server, or may.
const CALLS: &str = "open,openat,creat,read,pread64,write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,mkdir,\
                     mkdirat,rmdir,fsync,fdatasync,getdents64,stat,lstat,newfstatat,statx,access,faccessat2,ftruncate,link,linkat";

/// What was counted of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    calls: BTreeMap<String, usize>,
    read: usize,
    written: usize,
}

/// Runs a search whose workers are traced, then the finished search again, traced as well, and prints what
/// both have asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(line) = programs::missing(&[STRACE]) {
        bail!("{line}");
    }
    let experiment = Experiment::new()?;
    let options = ["--heartbeat", HEARTBEAT].map(String::from).to_vec();
    let call = EngineCall { trials: Some(arguments.trials), options, ..EngineCall::default() };
    let mut driver = experiment.start("load", &call)?;
    driver.wait_for("stage 1")?;
    let [workers, leader] = ["workers", "leader"].map(|name| experiment.path(name));
    [&workers, &leader].into_iter().try_for_each(fs::create_dir)?;
    let mut children = Vec::new();
    for _ in 0..arguments.workers {
        let worker = ["search", &path(&experiment, "load"), "--worker", "--heartbeat", HEARTBEAT];
        children.push(traced(&experiment, &workers, &worker)?);
    }
    for mut child in children {
        ensure!(child.wait()?.success(), "a worker has failed");
    }
    driver.finish()?;
    let again = experiment.arguments("load", &call);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    ensure!(traced(&experiment, &leader, &again)?.wait()?.success(), "the finished search fails");
    let by_workers = counted(&workers, &experiment)?;
    print(&format!("{} workers", arguments.workers), &by_workers);
    print_units(&by_workers);
    let again = counted(&leader, &experiment)?;
    print(&format!("the finished search again, {} trials", arguments.trials), &again);
    Ok(())
}

fn path(experiment: &Experiment, name: &str) -> String {
    experiment.path(name).display().to_string()
}

/// Starts the binary with a file of system calls per process.
fn traced(experiment: &Experiment, traces: &Path, arguments: &[&str]) -> Result<Child> {
    let number = fs::read_dir(traces)?.count();
    let trace = traces.join(format!("{number}-trace")).display().to_string();
    let filter = format!("trace=?{}", CALLS.replace(',', ",?"));
    let mut command = Command::new("strace");
    command.args(["-ff", "-y", "-qq", "-s", "0", "-e", "signal=none", "-e", &filter, "-o", &trace]);
    command.arg(experiment.quaver()).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start strace")
}

/// All calls on files of the experiment, by subject.
fn counted(traces: &Path, experiment: &Experiment) -> Result<BTreeMap<&'static str, Count>> {
    let root = path(experiment, "");
    let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
    for entry in fs::read_dir(traces)? {
        for line in fs::read_to_string(entry?.path())?.lines() {
            let Some((call, file, result)) = parsed(line, &root) else { continue };
            let count = counts.entry(subject(call, &file)).or_default();
            let bytes = result.max(0) as usize;
            match call {
                "read" | "pread64" => count.read += bytes,
                "write" | "pwrite64" => count.written += bytes,
                _ => {}
            }
            *count.calls.entry(call.to_string()).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The call, the file below `root` that it is about, and its result.
fn parsed<'a>(line: &'a str, root: &str) -> Option<(&'a str, String, i64)> {
    let (call, rest) = line.split_once('(')?;
    let file = rest.split_once(root)?.1;
    let file: String = file.chars().take_while(|c| !matches!(c, '"' | '>')).collect();
    let result = line.rsplit_once(" = ")?.1;
    let result = result.split([' ', '<']).next()?.parse().ok()?;
    Some((call, file, result))
}

/// What a file is for.
fn subject(call: &str, file: &str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_trial = name.bytes().take(4).all(|byte| byte.is_ascii_digit()) && !name.contains(".toml");
    match name {
        "rows.csv" => "data",
        "heartbeat" => "heartbeats",
        "trials" => "list of trials",
        _ if file.contains("/todo") => "tickets",
        _ if name.contains("metrics.") => "metrics",
        _ if name.contains(".state") => "states",
        _ if is_trial && matches!(call, "openat" | "fsync") => "folder syncs",
        _ if is_trial => "claims",
        _ => "configs and others",
    }
}

fn print(title: &str, counts: &BTreeMap<&'static str, Count>) {
    println!("\n{title}:");
    let mut rows = vec![["subject", "calls", "kB read", "kB written", "which"].map(String::from).to_vec()];
    for (subject, count) in counts {
        let which: Vec<String> = count.calls.iter().map(|(call, times)| format!("{times} {call}")).collect();
        let kilobytes = |bytes: usize| format!("{:.1}", bytes as f64 / 1000.0);
        rows.push(vec![
            subject.to_string(),
            count.calls.values().sum::<usize>().to_string(),
            kilobytes(count.read),
            kilobytes(count.written),
            which.join(", "),
        ]);
    }
    table::print(&rows);
}

/// Prints what an epoch, a claim and a heartbeat cost. The first writing of a claim is a heartbeat as well.
fn print_units(counts: &BTreeMap<&'static str, Count>) {
    let calls = |subject: &str, call: &str| {
        counts.get(subject).and_then(|count| count.calls.get(call)).copied().unwrap_or(0)
    };
    let (claims, epochs) = (calls("tickets", "unlink"), calls("metrics", "fdatasync") / 2);
    let sum = |is_wanted: &dyn Fn(&str) -> bool, of: &dyn Fn(&Count) -> usize| -> usize {
        counts.iter().filter(|(subject, _)| is_wanted(subject)).map(|(_, count)| of(count)).sum()
    };
    let all = |count: &Count| count.calls.values().sum();
    let of_epochs = |subject: &str| OF_EPOCHS.contains(&subject);
    let of_claims = |subject: &str| !of_epochs(subject) && subject != "heartbeats";
    let per = |amount: usize, unit: usize| amount as f64 / unit.max(1) as f64;
    println!(
        "{claims} claims, {epochs} epochs, {} heartbeats; {:.1} calls and {:.1} kB written per epoch, {:.1} calls and {:.1} kB \
         read per claim, 2 calls per heartbeat",
        calls("heartbeats", "write"),
        per(sum(&of_epochs, &all), epochs),
        per(sum(&of_epochs, &|count| count.written), epochs) / 1000.0,
        per(sum(&of_claims, &all), claims),
        per(sum(&of_claims, &|count| count.read), claims) / 1000.0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_with_their_file_and_result() {
        let root = "/tmp/x/";
        let line = r#"rename("/tmp/x/load/trials/0003", "/tmp/x/load/trials/0003@a.b.1.2.3.4") = -1 ENOENT (No such file)"#;
        assert_eq!(parsed(line, root), Some(("rename", "load/trials/0003".into(), -1)));
        let line = r"write(5</tmp/x/load/trials/0003@a.b/metrics.csv>, ..., 61) = 61";
        assert_eq!(parsed(line, root), Some(("write", "load/trials/0003@a.b/metrics.csv".into(), 61)));
        let line = r#"openat(AT_FDCWD, "/tmp/x/rows.csv", O_RDONLY|O_CLOEXEC) = 3</tmp/x/rows.csv>"#;
        assert_eq!(parsed(line, root), Some(("openat", "rows.csv".into(), 3)));
        assert_eq!(parsed(r#"openat(AT_FDCWD, "/etc/hostname", O_RDONLY) = 3</etc/hostname>"#, root), None);
    }

    #[test]
    fn files_have_subjects() {
        for (call, file, expected) in [
            ("unlink", "load/todo/0003.5", "tickets"),
            ("getdents64", "load/todo", "tickets"),
            ("getdents64", "load/trials", "list of trials"),
            ("rename", "load/trials/0003", "claims"),
            ("fsync", "load/trials/0003@a.b.1.2.3.4", "folder syncs"),
            ("write", "load/trials/0003@a.b.1.2.3.4/heartbeat", "heartbeats"),
            ("renameat", "load/trials/0003@a.b/.last.state.k3.tmp", "states"),
            ("read", "load/trials/0003.toml", "configs and others"),
        ] {
            assert_eq!(subject(call, file), expected, "{file}");
        }
    }
}
