//! How long a training step takes and how much memory it needs, compared with PyTorch if asked.

pub(crate) mod scale;
mod torch;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::shell::Shell;
use crate::table;
use torch::Torch;

/// Cell, units, and the share of PyTorch's time that a step may take at most.
const NETS: [(&str, u32, f64); 4] =
    [("tanh", 64, 0.2), ("tanh", 200, 0.33), ("lstm", 64, 0.4), ("lstm", 200, 0.4)];

/// Length of the sequences whose steps are timed, and those that show how memory grows with it.
const STEPS: u32 = 100;
const LENGTHS: [u32; 3] = [STEPS, 2 * STEPS, 4 * STEPS];

/// Training steps that are timed.
const COUNT: u32 = 30;

/// Where PyTorch comes from.
pub(crate) enum PyTorch {
    /// It is left out.
    Nothing,
    /// An environment that is made for this run and removed after it.
    Throwaway,
    /// This interpreter, which has it.
    Python(String),
}

/// All that was measured of one network.
struct NetworkTimes {
    cell: &'static str,
    units: u32,
    target: f64,
    quaver: Times,
    /// With the same formula for the moments of sigmoid and tanh, and with the shorter published one.
    torch: Option<[Times; 2]>,
    memory: Vec<Memory>,
}

/// Milliseconds per training step.
struct Times {
    median: f64,
    quartiles: [f64; 2],
}

/// Resident memory of the training steps of one process, above what it held before the first.
struct Memory {
    steps: u32,
    peak_kib: i64,
    /// By how much the peak rose after the first few steps.
    growth_kib: i64,
}

/// Measures every network.
pub(crate) fn run(torch: PyTorch, as_json: bool) -> Result<()> {
    build()?;
    let torch = match torch {
        PyTorch::Nothing => None,
        PyTorch::Throwaway => Some(Torch::install()?),
        PyTorch::Python(python) => Some(Torch::existing(python)),
    };
    let mut results = Vec::new();
    for (cell, units, target) in NETS {
        results.push(measure(cell, units, target, torch.as_ref())?);
        if !as_json {
            eprintln!("{cell} {units} measured");
        }
    }
    if as_json {
        println!("{:#}", Value::Array(results.iter().map(NetworkTimes::to_json).collect()));
    } else {
        print_times(&results);
        print_memory(&results);
    }
    Ok(())
}

fn measure(cell: &'static str, units: u32, target: f64, torch: Option<&Torch>) -> Result<NetworkTimes> {
    let mut runs = Vec::new();
    for steps in LENGTHS {
        runs.push((steps, quaver(&format!("{cell} {units} accurate {steps} {COUNT}"))?));
    }
    let torch = torch
        .map(|torch| {
            let times = |form| Times::new(&torch.run(&format!("{cell} {units} {form} {STEPS} {COUNT}"))?);
            Ok::<_, anyhow::Error>([times("accurate")?, times("paper")?])
        })
        .transpose()?;
    let memory = runs.iter().filter_map(|(steps, figures)| Memory::new(*steps, figures)).collect();
    Ok(NetworkTimes { cell, units, target, quaver: Times::new(&runs[0].1)?, torch, memory })
}

fn build() -> Result<()> {
    Shell::cargo("build --release -p quaver-trainer --example training_step").run().map(|_| ())
}

fn quaver(arguments: &str) -> Result<Value> {
    measured(command(arguments))
}

/// The same with a number of threads.
fn quaver_with(arguments: &str, threads: &str) -> Result<Value> {
    measured(command(arguments).variable("QUAVER_THREADS", threads))
}

fn command(arguments: &str) -> Shell {
    Shell::cargo("run --quiet --release -p quaver-trainer --example training_step --").words(arguments)
}

fn measured(run: Shell) -> Result<Value> {
    serde_json::from_str(&run.run()?).with_context(|| format!("not JSON: {run}"))
}

impl Times {
    fn new(figures: &Value) -> Result<Self> {
        let list = figures["milliseconds"].as_array().context("milliseconds are missing")?;
        let mut times: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        ensure!(!times.is_empty(), "no step was timed");
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(share * (times.len() - 1) as f64).round() as usize];
        Ok(Times { median: at(0.5), quartiles: [at(0.25), at(0.75)] })
    }

    fn to_text(&self) -> String {
        format!("{:.1} ({:.1} to {:.1})", self.median, self.quartiles[0], self.quartiles[1])
    }

    fn to_json(&self) -> Value {
        json!({ "median_ms": self.median, "quartiles_ms": self.quartiles })
    }
}

impl Memory {
    /// Nothing where the system does not report it.
    fn new(steps: u32, figures: &Value) -> Option<Self> {
        let kib = |name: &str| figures[name].as_i64();
        let peak = kib("kib_peak")?;
        Some(Memory { steps, peak_kib: peak - kib("kib_before")?, growth_kib: peak - kib("kib_warm")? })
    }
}

impl NetworkTimes {
    fn to_json(&self) -> Value {
        let memory = |memory: &Memory| json!({ "steps": memory.steps, "peak_kib": memory.peak_kib, "growth_kib": memory.growth_kib });
        json!({
            "cell": self.cell,
            "units": self.units,
            "quaver": self.quaver.to_json(),
            "torch_same_formula": self.torch.as_ref().map(|[same, _]| same.to_json()),
            "torch_published_formula": self.torch.as_ref().map(|[_, published]| published.to_json()),
            "target_ratio": self.target,
            "memory": self.memory.iter().map(memory).collect::<Vec<_>>(),
        })
    }
}

fn print_times(results: &[NetworkTimes]) {
    let mut rows = vec![vec!["net".to_string(), "Quaver, ms".into()]];
    if results.iter().any(|net| net.torch.is_some()) {
        let headings = ["PyTorch, ms", "ratio", "PyTorch, published moments, ms", "ratio", "target"];
        rows[0].extend(headings.map(String::from));
    }
    for net in results {
        let mut row = vec![format!("{} {}", net.cell, net.units), net.quaver.to_text()];
        for torch in net.torch.iter().flatten() {
            row.extend([torch.to_text(), format!("{:.2}", net.quaver.median / torch.median)]);
        }
        row.extend(net.torch.iter().map(|_| format!("{:.2}", net.target)));
        rows.push(row);
    }
    table::print(&rows);
    println!(
        "\nOne step of Adam: 16 sequences of {STEPS} steps, 88 inputs and outputs, dropout on every connection, Bernoulli \
         loss.\nMedian and quartiles of {COUNT} steps after 5 to warm up.\n"
    );
}

fn print_memory(results: &[NetworkTimes]) {
    let mut rows = vec![vec!["memory of a step, MiB".to_string()]];
    rows[0].extend(LENGTHS.map(|steps| format!("T = {steps}")));
    rows[0].push("growth in 30 steps, KiB".into());
    for net in results {
        let mut row = vec![format!("{} {}", net.cell, net.units)];
        row.extend(net.memory.iter().map(|memory| format!("{:.1}", memory.peak_kib as f64 / 1024.0)));
        let growth: Vec<String> = net.memory.iter().map(|memory| memory.growth_kib.to_string()).collect();
        row.push(growth.join(", "));
        rows.push(row);
    }
    table::print(&rows);
    println!(
        "\nPeak of resident memory above that before the first step, and by how much it rose after the fifth."
    );
}
