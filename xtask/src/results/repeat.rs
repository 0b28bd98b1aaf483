//! One repeat of a benchmark: train, evaluate, export, evaluate through the runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Benchmark;
use crate::shell::Shell;

/// What all repeats of a benchmark share.
pub(super) struct Bench<'a> {
    pub(super) benchmark: &'a Benchmark,
    pub(super) quaver: &'a Path,
    pub(super) data: &'a Path,
    pub(super) set: &'a [String],
    /// The run that training begins with.
    pub(super) from: Option<PathBuf>,
}

/// What one repeat has come to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Row {
    /// Wall time of training, from the start of the program to its end.
    pub(super) seconds: f64,
    /// Scores of the trained net on the test data, as `quaver eval --json` prints them, baselines included.
    pub(super) net: Value,
    /// The same of the int8 checkpoint, through the runtime.
    pub(super) runtime: Value,
    /// The checkpoint, as `quaver inspect --json` describes it.
    pub(super) model: Value,
}

impl Bench<'_> {
    /// Runs a repeat in a folder of its own, or reads its earlier result.
    pub(super) fn repeat(&self, name: &str, folder: &Path) -> Result<Row> {
        let done = folder.join("row.json");
        if let Ok(text) = fs::read_to_string(&done) {
            return serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged; remove it", done.display()));
        }
        // A repeat that was interrupted starts again: its wall time is to be that of one whole run.
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let row = self.run(name, folder)?;
        let unfinished = done.with_extension("tmp");
        fs::write(&unfinished, serde_json::to_string_pretty(&row)?)
            .and_then(|()| fs::rename(&unfinished, &done))
            .with_context(|| format!("cannot write {}", done.display()))?;
        Ok(row)
    }

    fn run(&self, name: &str, folder: &Path) -> Result<Row> {
        let text = |path: &Path| path.display().to_string();
        let (run, model) = (folder.join("run"), folder.join("model.qvr"));
        let settings = self.benchmark.settings(name).chain(self.set.iter().cloned());
        let train = self.quaver("train").argument(text(&self.benchmark.config)).argument("--data-dir");
        let train = train.argument(text(self.data)).argument("--out").argument(text(&run));
        let from = self.from.iter().flat_map(|run| ["--from".into(), text(run)]);
        let train = from.fold(train, |train, argument: String| train.argument(argument));
        let train = settings.fold(train, |train, setting| train.argument("--set").argument(setting));
        let clock = Instant::now();
        train.run()?;
        let seconds = clock.elapsed().as_secs_f64();
        let export = self.quaver("export").argument(text(&run)).argument("-o").argument(text(&model));
        if self.benchmark.calibrate { export.argument("--calibrate") } else { export }.run()?;
        let config = text(&run.join("config.toml"));
        let runtime = self.quaver("eval").argument(text(&model)).argument("--data").argument(config);
        eprintln!("{} {name}: trained in {seconds:.1} s", self.benchmark.name);
        Ok(Row {
            seconds,
            net: json(&self.quaver("eval").argument(text(&run)))?,
            runtime: json(&runtime.argument("--no-baselines"))?,
            model: json(&self.quaver("inspect").argument(text(&model)))?,
        })
    }

    fn quaver(&self, command: &str) -> Shell {
        Shell::new(self.quaver.display().to_string()).argument(command)
    }
}

fn json(command: &Shell) -> Result<Value> {
    let command = command.clone().argument("--json");
    serde_json::from_str(&command.run()?).with_context(|| format!("not JSON: {command}"))
}
