//! Bursts of garbage between clean rows, see `quaver_tests::soak`; started by `cargo xtask soak`.
//!
//! Arguments: steps, seed, `table` or `json`, and the beginnings of the names of models, if not all. Prints
//! progress and a line per model to standard error, so that whoever stops it has the models that are done;
//! the table, or a line of JSON per model, goes to standard output. Fails if anything was found.

use std::env::args;
use std::io::{IsTerminal, stderr};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quaver_tests::Case;
use quaver_tests::soak::campaign::{Outcome, soak_all};
use quaver_tests::soak::{cases, table};

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [steps, seed, form @ ("table" | "json"), ref names @ ..] => match (steps.parse(), seed.parse()) {
            (Ok(steps), Ok(seed)) => selected(names).map(|cases| run(&cases, steps, seed, form == "json")),
            _ => Err("steps and seed must be whole numbers".into()),
        },
        _ => Err(String::from("usage: soak STEPS SEED table|json [MODEL…]")),
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn selected(names: &[&str]) -> Result<Vec<Case>, String> {
    let all = cases::cases();
    let known = || all.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
    for name in names {
        if !all.iter().any(|case| case.name.starts_with(name)) {
            return Err(format!("no model begins with `{name}`; there are {}", known()));
        }
    }
    let is_wanted = |case: &Case| names.is_empty() || names.iter().any(|name| case.name.starts_with(name));
    Ok(all.iter().filter(|case| is_wanted(case)).cloned().collect())
}

/// Soaks the cases; the number of findings.
fn run(cases: &[Case], steps: u64, seed: u64, as_json: bool) -> usize {
    let (begin, taken, is_done) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
    let (mut outcomes, mut findings) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| print_progress(steps, &taken, &is_done));
        soak_all(cases, steps, seed, &taken, |case, result| {
            let finding = result.as_ref().map_or_else(|what| Some(what.clone()), Outcome::finding);
            findings.extend(finding.map(|what| format!("finding: {}: {what}", case.name)));
            if let Ok(outcome) = result {
                eprintln!("{}", table::line(&outcome));
                if as_json {
                    println!("{}", table::json(&outcome));
                }
                outcomes.push(outcome);
            }
        });
        is_done.store(true, Ordering::Relaxed);
    });
    if !as_json {
        print!("{}", table::table(&outcomes));
    }
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    let (count, seconds) = (taken.load(Ordering::Relaxed), begin.elapsed().as_secs_f64());
    let (models, found) = (cases.len(), findings.len());
    eprintln!("seed {seed}: {models} models, {count} steps in {seconds:.0} s, {found} findings");
    found
}

/// A line that is written over on a terminal, plain lines elsewhere.
fn print_progress(steps: u64, taken: &AtomicU64, is_done: &AtomicBool) {
    let on_terminal = stderr().is_terminal();
    let pause = Duration::from_secs(if on_terminal { 2 } else { 10 });
    let mut said = Instant::now();
    while !is_done.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        if said.elapsed() > pause {
            said = Instant::now();
            let taken = taken.load(Ordering::Relaxed);
            let line = format!("{taken} of {steps} steps, {:.0} %", 100.0 * taken as f64 / steps as f64);
            if on_terminal { eprint!("{line} \r") } else { eprintln!("{line}") }
        }
    }
}
