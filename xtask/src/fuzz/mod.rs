//! `cargo xtask fuzz`: any bytes against every parser, with libFuzzer and AddressSanitizer.
//!
//! Each target keeps its corpus in `fuzz/corpus`, which is not part of the repository: the binary
//! `fuzz_corpus` fills it with models, configs and recordings to begin with, and every run adds inputs that
//! reach something new.

mod stats;
mod targets;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::setup::nightly::{self, Tool, nightly as run_nightly};
use crate::shell::{Shell, root};
use crate::table;
use stats::Stats;
use targets::Target;

/// The crate of the targets.
const FOLDER: &str = "fuzz";

#[derive(Args)]
pub(crate) struct Arguments {
    /// How long to go on, shared between the targets
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// Only these targets; those of the runtime (checkpoint, latent, state) build without Burn
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { minutes, targets } = arguments;
    ensure!((0.0..=1e6).contains(minutes), "--minutes must be from 0 to a million");
    let targets = targets::selected(targets)?;
    nightly::ensure(Tool::Fuzz)?;
    let seconds = ((minutes * 60.0 / targets.len() as f64).ceil() as u64).max(1);
    seed_corpus()?;
    let mut rows = vec![header()];
    let mut findings = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        eprintln!("[{}/{}] {}: build, then {seconds} s", index + 1, targets.len(), target.name);
        let stats = fuzz(target, seconds)?;
        rows.push(row(target, &stats));
        findings.extend(stats.finding.map(|input| finding(target, &input)));
    }
    table::print(&rows);
    if !findings.is_empty() {
        bail!("{}", findings.join("\n"));
    }
    Ok(())
}

/// Adds the seeds of every target to its corpus.
fn seed_corpus() -> Result<()> {
    Shell::cargo("run --quiet --release -p quaver-tests --bin fuzz_corpus").run()?;
    Ok(())
}

/// Builds and runs one target. What it prints is kept for the statistics.
fn fuzz(target: &Target, seconds: u64) -> Result<Stats> {
    build(target)?;
    let command = command(target, "run")
        .argument("--")
        .argument(format!("-max_total_time={seconds}"))
        .words("-print_final_stats=1 -rss_limit_mb=4096 -timeout=30");
    let captured = command.capture()?;
    let stats = Stats::parse(&captured.stderr);
    ensure!(
        captured.status.success() || stats.finding.is_some(),
        "{}\n{}\nto repeat: {command}",
        captured.status,
        captured.stderr.trim_end()
    );
    if stats.finding.is_some() {
        eprintln!("{}", captured.stderr.trim_end());
    }
    Ok(stats)
}

fn build(target: &Target) -> Result<()> {
    command(target, "build").run().map(drop).with_context(|| format!("cannot build {}", target.name))
}

/// cargo-fuzz with a target, in the folder of the targets.
fn command(target: &Target, task: &str) -> Shell {
    let features = if target.needs_trainer() { "" } else { "--no-default-features" };
    run_nightly("cargo fuzz")
        .words(task)
        .words("--fuzz-dir .")
        .words(features)
        .argument(&target.name)
        .in_folder(FOLDER)
}

fn finding(target: &Target, input: &Path) -> String {
    let shown = input.strip_prefix(root()).unwrap_or(input).display();
    let replay = command(target, "run").argument(input.display().to_string());
    format!("{}: a promise is broken by {shown}\n  to replay: {replay}", target.name)
}

fn header() -> Vec<String> {
    let titles = ["target", "executions", "per second", "features", "corpus", "added", "findings"];
    titles.map(String::from).to_vec()
}

fn row(target: &Target, stats: &Stats) -> Vec<String> {
    let Stats { executions, per_second, features, corpus, added, finding } = stats;
    let numbers = [*executions, *per_second, *features, *corpus, *added, u64::from(finding.is_some())];
    std::iter::once(target.name.clone()).chain(numbers.map(|number| number.to_string())).collect()
}
