//! Golden streams: the same bits on the host and on every emulated core.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, Result, bail, ensure};

use crate::machine::{DEFAULT_TARGET, MACHINES, Machine};
use crate::shell::{Shell, root};
use crate::{image, kernels, table};

/// The images that hold the cases: several, because the smallest core has no room for all in one.
pub(crate) const IMAGES: [&str; 14] = [
    "golden",
    "golden_2",
    "golden_3",
    "golden_4",
    "golden_5",
    "golden_6",
    "golden_7",
    "golden_8",
    "golden_9",
    "golden_latent",
    "golden_latent_2",
    "golden_adaptive",
    "golden_text",
    "golden_reducer",
];

/// The images that hold some of the cases again, as models that are known while compiling.
pub(crate) const KNOWN_IMAGES: [&str; 2] = ["golden_known", "golden_known_latent"];

const FILE: &str = "tests/golden/streams.txt";
const PREAMBLE: &str = "\
# Fingerprints of the golden streams (tests/src/golden.rs): FNV-1a over the bits of every number predicted.
# To refresh after a change that is meant to change results: cargo xtask qemu --overwrite
";

/// What one machine answers: (case, steps and hash).
struct Answers {
    machine: &'static str,
    lines: Vec<(String, String)>,
}

/// Replays every case everywhere, prints the table, and compares it with the golden file or rewrites that.
pub(crate) fn run(overwrite: bool) -> Result<()> {
    let answers = replay_everywhere()?;
    let host = &answers[0];
    let golden = if overwrite { host.lines.clone() } else { golden_lines()? };
    table::print(&rows(&golden, &answers));
    println!("{}", check(&golden, &answers)?);
    if overwrite {
        write_golden(&host.lines)?;
        println!("{FILE} rewritten");
    }
    Ok(())
}

/// Like [`run`], but shows the table only when something differs.
pub(crate) fn run_quietly() -> Result<String> {
    let (answers, golden) = (replay_everywhere()?, golden_lines()?);
    check(&golden, &answers).inspect_err(|_| table::print(&rows(&golden, &answers)))
}

/// What the host answers, then every machine. One machine runs its images while those of the next are built.
fn replay_everywhere() -> Result<Vec<Answers>> {
    let host = Shell::cargo("run --quiet --release -p quaver-tests --bin golden").run()?;
    let mut answers = vec![Answers { machine: "host", lines: parsed(&host) }];
    thread::scope(|scope| {
        let mut running: Option<ScopedJoinHandle<'_, Result<Answers>>> = None;
        for machine in &MACHINES {
            let images = Images::build(machine)?;
            if let Some(previous) = running.take() {
                answers.push(joined(previous)?);
            }
            running = Some(scope.spawn(move || images.replay(machine)));
        }
        running.map_or(Ok(()), |last| joined(last).map(|last| answers.push(last)))
    })?;
    Ok(answers)
}

fn joined(running: ScopedJoinHandle<'_, Result<Answers>>) -> Result<Answers> {
    running.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Builds images and copies them to where no other build of the same target overwrites them.
fn kept(build: &Shell, purpose: &str) -> Result<BTreeMap<String, PathBuf>> {
    let mut images = image::paths_of(build)?;
    for path in images.values_mut() {
        let copy = path.with_extension(purpose.replace(' ', "-"));
        fs::copy(&path, &copy).with_context(|| format!("cannot copy {}", path.display()))?;
        *path = copy;
    }
    Ok(images)
}

/// The images of one machine.
struct Images {
    /// Those of [`IMAGES`], in order.
    loaded: Vec<PathBuf>,
    /// Models that are known while compiling; for one machine also with the feature `small-code`.
    known: Vec<PathBuf>,
}

impl Images {
    fn build(machine: &Machine) -> Result<Self> {
        let all = machine
            .adapted(image::build_command_of_all(IMAGES.into_iter().chain(KNOWN_IMAGES), machine.target));
        let mut built = kept(&all, machine.core)?;
        let mut take = |name: &str| built.remove(name).with_context(|| format!("no {name} came of: {all}"));
        let loaded: Result<Vec<PathBuf>> = IMAGES.into_iter().map(&mut take).collect();
        let known: Result<Vec<PathBuf>> = KNOWN_IMAGES.into_iter().map(&mut take).collect();
        let mut images = Images { loaded: loaded?, known: known? };
        if machine.target == DEFAULT_TARGET && !machine.is_variant {
            let small = machine.adapted(image::build_command_of_all(KNOWN_IMAGES, machine.target));
            let small = small.words("--features small-code");
            images.known.extend(kept(&small, &format!("{} small-code", machine.core))?.into_values());
        }
        Ok(images)
    }

    fn replay(&self, machine: &Machine) -> Result<Answers> {
        let mut lines = Vec::new();
        for (name, image) in IMAGES.iter().zip(&self.loaded) {
            kernels::check_image(image, machine.kernel)
                .with_context(|| format!("{name} for {}", machine.core))?;
            let printed = machine.run(image)?;
            if *name == IMAGES[0] {
                kernels::check_acceleration(&printed, machine.kernel)
                    .with_context(|| format!("{name} on {}", machine.core))?;
            }
            lines.extend(parsed(&printed));
        }
        self.check_known(machine, &lines)?;
        Ok(Answers { machine: machine.core, lines })
    }

    /// Whether models that are known while compiling give the answers of those that are loaded.
    fn check_known(&self, machine: &Machine, loaded: &[(String, String)]) -> Result<()> {
        for image in &self.known {
            let known = parsed(&machine.run(image)?);
            let differing: Vec<_> = known.iter().filter(|line| !loaded.contains(line)).collect();
            ensure!(
                !known.is_empty() && differing.is_empty(),
                "on {}, models that are known while compiling differ from those that are loaded: {differing:?}; the \
                 image is {}",
                machine.core,
                image.display()
            );
        }
        Ok(())
    }
}

pub(crate) fn parsed(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(case, rest)| (case.into(), rest.into())).collect()
}

pub(crate) fn golden_lines() -> Result<Vec<(String, String)>> {
    let text = fs::read_to_string(root().join(FILE))
        .with_context(|| format!("cannot read {FILE}; to make it: cargo xtask qemu --overwrite"))?;
    Ok(parsed(&text))
}

/// One row per case: its golden hash, then the first digits of what each machine found.
fn rows(golden: &[(String, String)], answers: &[Answers]) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["case".into(), "golden".into()]];
    rows[0].extend(answers.iter().map(|answer| answer.machine.into()));
    let found: Vec<BTreeMap<_, _>> =
        answers.iter().map(|answer| answer.lines.iter().cloned().collect()).collect();
    for (case, expected) in golden {
        let mut row = vec![case.clone(), hash(expected).into()];
        let short = |line: &String| hash(line).chars().take(8).collect();
        row.extend(found.iter().map(|lines| lines.get(case).map_or("missing".into(), short)));
        rows.push(row);
    }
    rows
}

fn hash(line: &str) -> &str {
    line.split_once("hash=").map_or(line, |(_, hash)| hash)
}

/// The message when every machine gives the golden answers, or which machines do not.
fn check(golden: &[(String, String)], answers: &[Answers]) -> Result<String> {
    // Images hold the cases in another order than the file.
    let sorted = |lines: &[(String, String)]| {
        let mut lines = lines.to_vec();
        lines.sort();
        lines
    };
    let expected = sorted(golden);
    let differs = |answers: &&Answers| sorted(&answers.lines) != expected;
    let differing: Vec<_> = answers.iter().filter(differs).map(|answer| answer.machine).collect();
    if !differing.is_empty() {
        bail!(
            "{} differ from the golden streams; to repeat: cargo xtask qemu; if all agree and the change is meant: \
             cargo xtask qemu --overwrite",
            differing.join(", ")
        );
    }
    Ok(format!("{} golden streams, the same bits on {} machines", golden.len(), answers.len()))
}

fn write_golden(lines: &[(String, String)]) -> Result<()> {
    let mut text = String::from(PREAMBLE);
    lines.iter().for_each(|(case, rest)| text.push_str(&format!("{case} {rest}\n")));
    let (path, temporary) = (root().join(FILE), root().join(format!("{FILE}.tmp")));
    fs::write(&temporary, text).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, &path).with_context(|| format!("cannot rename to {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_differing_bit_is_found() {
        let golden = parsed("# comment\na steps=2 hash=00FF\nb steps=2 hash=01FF\n");
        let answers = |text| [Answers { machine: "M0", lines: parsed(text) }];
        assert!(check(&golden, &answers("a steps=2 hash=00FF\nb steps=2 hash=01FF\n")).is_ok());
        assert!(check(&golden, &answers("a steps=2 hash=00FF\nb steps=2 hash=01FE\n")).is_err());
        assert!(check(&golden, &answers("a steps=2 hash=00FF\n")).is_err());
    }
}
