//! The benchmarks behind docs/results.md: every repeat trained, exported and evaluated by the `quaver`
//! binary.
//!
//! The folder `benchmarks` defines what is run; there is no figure in here.

mod plan;
mod repeat;
mod summary;
mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell::{self, Shell};
use plan::Benchmark;
use repeat::Bench;

/// What is asked for.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The benchmarks, as benchmarks/results.toml names them
    #[arg(value_name = "NAME", required_unless_present = "list")]
    names: Vec<String>,
    /// The folder with the public data sets, see benchmarks/README.md
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Run these repeats only, for example --only 0,1,2
    #[arg(long, value_name = "REPEAT", value_delimiter = ',')]
    only: Vec<String>,
    /// Replace a value of the config, in all repeats
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where runs are kept; what is finished there is not run again
    #[arg(long, value_name = "DIR", default_value = "out/results")]
    out: PathBuf,
    /// Take this binary instead of building it
    #[arg(long, value_name = "PATH")]
    quaver: Option<PathBuf>,
    /// List the benchmarks and stop
    #[arg(long)]
    list: bool,
}

/// Runs the benchmarks asked for and prints a table for each.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let plan = plan::load(&shell::root().join("benchmarks"))?;
    if arguments.list {
        plan.iter().for_each(|benchmark| println!("{:<24} {}", benchmark.name, benchmark.title));
        return Ok(());
    }
    let wanted = arguments.names.iter().map(|name| find(&plan, name)).collect::<Result<Vec<_>>>()?;
    let quaver = match &arguments.quaver {
        Some(path) => path.clone(),
        None => build()?,
    };
    let series = Series { plan: &plan, quaver: &quaver, arguments };
    for benchmark in wanted {
        summary::print(benchmark, &series.measure(benchmark)?)?;
    }
    Ok(())
}

fn find<'a>(plan: &'a [Benchmark], name: &str) -> Result<&'a Benchmark> {
    plan.iter().find(|benchmark| benchmark.name == name).with_context(|| {
        let names: Vec<&str> = plan.iter().map(|benchmark| benchmark.name.as_str()).collect();
        format!("no benchmark `{name}`; benchmarks/results.toml has {}", names.join(", "))
    })
}

fn build() -> Result<PathBuf> {
    Shell::cargo("build --release -p quaver-trainer --bin quaver").run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(shell::root().join(target.unwrap_or("target".into())).join("release/quaver"))
}

/// What all benchmarks of one call share.
struct Series<'a> {
    plan: &'a [Benchmark],
    quaver: &'a Path,
    arguments: &'a Arguments,
}

impl Series<'_> {
    /// Runs all repeats of a benchmark that have not been run before.
    fn measure(&self, benchmark: &Benchmark) -> Result<Vec<repeat::Row>> {
        let only = &self.arguments.only;
        let asked = benchmark.repeats.iter().filter(|repeat| only.is_empty() || only.contains(repeat));
        let from = benchmark.from.as_ref().map(|name| self.source(name)).transpose()?;
        asked.map(|name| self.repeat(benchmark, name, from.clone())).collect()
    }

    /// The run of the first repeat of a benchmark, trained unless it has been before.
    fn source(&self, name: &str) -> Result<PathBuf> {
        let benchmark = find(self.plan, name)?;
        let first = benchmark.repeats.first().with_context(|| format!("{name} has no repeats"))?;
        self.repeat(benchmark, first, None)?;
        Ok(self.folder(benchmark)?.join(first).join("run"))
    }

    fn folder(&self, benchmark: &Benchmark) -> Result<PathBuf> {
        Ok(std::path::absolute(&self.arguments.out)?.join(&benchmark.name))
    }

    fn repeat(&self, benchmark: &Benchmark, name: &str, from: Option<PathBuf>) -> Result<repeat::Row> {
        let out = self.folder(benchmark)?;
        let data = match (benchmark.draw, &self.arguments.data) {
            (Some(_), _) => out.join("data"),
            (None, Some(data)) => std::path::absolute(data)?,
            (None, None) => bail!("{} needs public data; name their folder with --data", benchmark.name),
        };
        if let Some(kind) = benchmark.draw {
            fs::create_dir_all(&data).with_context(|| format!("cannot make {}", data.display()))?;
            synthetic::write(kind, name, &data)?;
        }
        let bench = Bench { benchmark, quaver: self.quaver, data: &data, set: &self.arguments.set, from };
        bench.repeat(name, &out.join(name)).with_context(|| format!("{}, {name}", benchmark.name))
    }
}
