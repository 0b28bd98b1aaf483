//! `benchmarks/results.toml`: which benchmarks there are, and what changes from repeat to repeat.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// One benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Benchmark {
    /// What it is called on the command line: the name of its table.
    #[serde(skip)]
    pub(super) name: String,
    /// What it is, in a line.
    pub(super) title: String,
    /// Its config, next to the plan.
    pub(super) config: PathBuf,
    /// Names of the repeats: splits, seeds or recordings.
    pub(super) repeats: Vec<String>,
    /// Values of the config that change, with `{}` for the name of the repeat.
    pub(super) set: Vec<String>,
    /// Whether variances are calibrated on the validation data when the model is exported.
    #[serde(default)]
    pub(super) calibrate: bool,
    /// The benchmark whose first repeat every repeat begins with (`quaver train --from`).
    pub(super) from: Option<String>,
    /// The synthetic data that it is trained on, if it has no recordings.
    pub(super) draw: Option<SyntheticData>,
}

/// Synthetic data.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SyntheticData {
    /// A curve with noise that depends on the input (Bayer 2015, thesis, 2.6.3.1).
    Toy,
    /// Two sines with noise that is switched by the first.
    TwoSines,
}

/// Reads the plan in a folder.
pub(super) fn load(folder: &Path) -> Result<Vec<Benchmark>> {
    let path = folder.join("results.toml");
    let shown = path.display();
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
    let tables: BTreeMap<String, Benchmark> =
        toml::from_str(&text).with_context(|| format!("{shown} is not a plan"))?;
    let named = |(name, benchmark): (String, Benchmark)| Benchmark {
        name,
        config: folder.join(&benchmark.config),
        ..benchmark
    };
    Ok(tables.into_iter().map(named).collect())
}

impl Benchmark {
    /// What is set for one repeat.
    pub(super) fn settings(&self, repeat: &str) -> impl Iterator<Item = String> {
        self.set.iter().map(move |set| set.replace("{}", repeat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn every_benchmark_has_a_config_and_tells_its_repeats_apart() {
        let plan = load(&shell::root().join("benchmarks")).expect("a plan");
        assert!(!plan.is_empty());
        for benchmark in &plan {
            let source = |from: &String| plan.iter().any(|other| other.name == *from && other.from.is_none());
            assert!(benchmark.from.as_ref().is_none_or(source), "{}: begins with nothing", benchmark.name);
            assert!(benchmark.config.is_file(), "{}", benchmark.config.display());
            let all: Vec<Vec<String>> =
                benchmark.repeats.iter().map(|repeat| benchmark.settings(repeat).collect()).collect();
            assert!(!all.is_empty(), "{} is never run", benchmark.name);
            for (index, settings) in all.iter().enumerate() {
                assert!(!all[..index].contains(settings), "{}: {settings:?} twice", benchmark.name);
            }
        }
    }
}
