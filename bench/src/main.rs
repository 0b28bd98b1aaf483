//! Times and instructions of a step, compared with those of our LSTM: `cargo xtask bench-host`.

mod count;
mod streams;
mod time;

use quaver_bench::{EvaluatedModel, row, subjects};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--counted", name] => count::run_counted(name),
        ["--json"] => {
            println!("{:#}", Value::Array(measure().into_iter().chain(streams::measure()).collect()))
        }
        ["--streams"] => streams::print(&streams::measure()),
        [] => {
            print(&measure());
            streams::print(&streams::measure());
        }
        _ => eprintln!("usage: quaver-bench [--json | --streams]"),
    }
}

/// One object per subject; `instructions` is null where the system does not let them be counted.
fn measure() -> Vec<Value> {
    let row = row();
    let figures = |mut evaluated: EvaluatedModel| {
        let seconds = time::per_call(|| (evaluated.step)(&row));
        (evaluated.name.clone(), evaluated.moments, seconds, count::instructions(&evaluated.name))
    };
    let figures: Vec<_> = subjects().into_iter().map(figures).collect();
    let ours = figures.first().map_or(f64::NAN, |(_, _, seconds, _)| *seconds);
    let entry = |(name, moments, seconds, instructions): (String, &str, f64, Option<u64>)| {
        json!({
            "name": name,
            "moments": moments,
            "microseconds": (seconds * 1e9).round() / 1e3,
            "times_ours": (seconds / ours * 100.0).round() / 100.0,
            "instructions": instructions,
            "vectors": vectors(),
        })
    };
    figures.into_iter().map(entry).collect()
}

/// What our f32 steps find on this machine.
fn vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if std::is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "portable"
}

fn print(figures: &[Value]) {
    println!("vectors of this machine: {}\n", vectors());
    println!(
        "{:<36} {:<14} {:>10} {:>10} {:>14}",
        "one step", "moments", "µs", "× the first", "instructions"
    );
    for figure in figures {
        let text = |key: &str| figure[key].as_str().unwrap_or_default().to_string();
        let instructions =
            figure["instructions"].as_u64().map_or("not counted".into(), |count| count.to_string());
        println!(
            "{:<36} {:<14} {:>10.2} {:>10.2} {:>14}",
            text("name"),
            text("moments"),
            figure["microseconds"].as_f64().unwrap_or(f64::NAN),
            figure["times_ours"].as_f64().unwrap_or(f64::NAN),
            instructions,
        );
    }
    if figures.iter().any(|figure| figure["instructions"].is_null()) {
        println!(
            "\nInstructions are counted by single steps of the processor: on Linux, where a program may trace its child."
        );
    }
}
