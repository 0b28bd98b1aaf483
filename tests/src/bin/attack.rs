//! Loads and steps crafted checkpoints, see `quaver_tests::attack`; started by `cargo xtask attack`.
//!
//! Arguments: seconds, seed, and the folder for findings; or `replay` and a file. Prints progress to standard
//! error and the counts to standard output; fails if anything was found.

use std::env::args;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use quaver_tests::attack::campaign::{Counts, attack, file, try_file};
use quaver_tests::attack::dice::Dice;

/// Times that a replayed file is stepped, each with other rows.
const REPLAYS: u64 = 1000;
/// Findings after which an attack ends.
const MOST_FINDINGS: u64 = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["replay", path] => replay(Path::new(path)),
        [seconds, seed, folder] => match (seconds.parse(), seed.parse()) {
            (Ok(seconds), Ok(seed)) => run(Duration::from_secs(seconds), seed, Path::new(folder)),
            _ => Err(io::Error::other("seconds and seed must be whole numbers")),
        },
        _ => Err(io::Error::other("usage: attack SECONDS SEED FOLDER, or attack replay FILE")),
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

/// Makes and tries files until the time is up; the number of findings.
fn run(time: Duration, seed: u64, folder: &Path) -> io::Result<u64> {
    let (begin, mut said) = (Instant::now(), Instant::now());
    let (mut counts, mut findings, mut index) = (Counts::default(), 0, 0);
    while begin.elapsed() < time && findings < MOST_FINDINGS {
        match attack(seed, index) {
            Ok(one) => counts += one,
            Err(finding) => {
                findings += 1;
                fs::create_dir_all(folder)?;
                let path = folder.join(format!("{seed}-{index}.qvr"));
                fs::write(&path, finding.bytes)?;
                println!("finding: {}", finding.what);
                println!("  to replay: cargo xtask attack --replay {}", path.display());
            }
        }
        index += 1;
        if said.elapsed() > Duration::from_secs(2) {
            said = Instant::now();
            let Counts { files, accepted, steps } = counts;
            eprint!("\r{files} files, {accepted} accepted, {steps} steps, {findings} findings ");
        }
    }
    eprintln!();
    let Counts { files, accepted, steps } = counts;
    println!("seed {seed}: {files} files, {accepted} accepted, {steps} steps, {findings} findings");
    Ok(findings)
}

/// Steps one file with many rows.
fn replay(path: &Path) -> io::Result<u64> {
    let bytes = fs::read(path)?;
    let mut counts = Counts::default();
    let dice = (0..REPLAYS).map(|seed| Dice::new(seed, 0));
    for mut dice in first_rows(path, &bytes).into_iter().chain(dice) {
        match try_file(&bytes, &mut dice) {
            Ok(one) => counts += one,
            Err(what) => {
                println!("finding: {what}");
                return Ok(1);
            }
        }
    }
    println!(
        "{} times loaded, {} times accepted, {} steps, no finding",
        counts.files, counts.accepted, counts.steps
    );
    Ok(0)
}

/// The rows with which a file was found, if it has the name and the bytes that it was given then.
fn first_rows(path: &Path, bytes: &[u8]) -> Option<Dice> {
    let (seed, index) = path.file_stem()?.to_str()?.split_once('-')?;
    let (found, dice) = file(seed.parse().ok()?, index.parse().ok()?);
    (found == bytes).then_some(dice)
}
