//! How time and memory of a training step grow with the units of a network and the length of sequences.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Memory, Times, quaver_with};
use crate::table;

/// The cell: an Elman network is nearly all products of matrices.
const CELL: &str = "tanh";
const UNITS: [u32; 4] = [8, 64, 256, 1024];
const LENGTHS: [u32; 3] = [100, 1000, 10_000];
const THREADS: [u32; 2] = [1, 2];

/// Training steps before the clock starts, and those that are timed.
const WARM_UP: u32 = 1;
const COUNT: u32 = 3;

/// Seconds of processor time that a measurement may take.
const LONGEST: f64 = 150.0;

/// Share of the memory that is available which a measurement may take.
const MOST_MEMORY: f64 = 0.6;

/// A step of one network.
struct Point {
    units: u32,
    length: u32,
    threads: u32,
    result: Result<Step, Skipped>,
}

#[derive(Clone, Copy)]
struct Step {
    ms: f64,
    /// Of all threads.
    cpu_ms: f64,
    mib: f64,
}

/// Why a step was not measured: what it would take, by what was.
#[derive(Clone, Copy)]
enum Skipped {
    Seconds(f64),
    Mib(f64),
}

/// Measures what is within reach, and prints the table.
pub(crate) fn run(as_json: bool) -> Result<()> {
    super::build()?;
    let mut points: Vec<Point> = Vec::new();
    for threads in THREADS {
        for units in UNITS {
            for length in LENGTHS {
                let result = match out_of_reach(&points, units, length, threads) {
                    Some(skipped) => Err(skipped),
                    None => Ok(measure(units, length, threads)?),
                };
                if !as_json {
                    eprintln!("{units} units, T = {length}, {threads} threads: {}", text(&result));
                }
                points.push(Point { units, length, threads, result });
            }
        }
    }
    if as_json {
        println!("{:#}", Value::Array(points.iter().map(Point::to_json).collect()));
    } else {
        print_table(&points, "ms per step", |step| step.ms);
        print_table(&points, "processor ms", |step| step.cpu_ms);
        print_table(&points, "MiB per step", |step| step.mib);
        println!(
            "One step of Adam: 16 sequences of T steps, {CELL}, 88 inputs and outputs, dropout on every connection, Bernoulli \
             loss.\nMedian of {COUNT} steps after {WARM_UP}; processor time is the mean, of all threads, in ticks of 10 ms; memory \
             is the peak above\nthat before the first step. Exponents are slopes of logarithms between the first and the last \
             figure of a row, and between\nthe last two of a column. Left out is what would take more than {LONGEST} s of \
             processor time, or {:.0} % of the memory that\nis available. Several seeds at once: quaver search.",
            100.0 * MOST_MEMORY
        );
    }
    Ok(())
}

fn measure(units: u32, length: u32, threads: u32) -> Result<Step> {
    let figures =
        quaver_with(&format!("{CELL} {units} accurate {length} {COUNT} {WARM_UP}"), &threads.to_string())?;
    let mib = Memory::new(length, &figures).map_or(f64::NAN, |memory| memory.peak_kib as f64 / 1024.0);
    let ms = Times::new(&figures)?.median;
    Ok(Step { ms, cpu_ms: figures["cpu_milliseconds"].as_f64().unwrap_or(f64::from(threads) * ms), mib })
}

/// What a step would take, from the nearest that were measured: time and memory grow with the length, time
/// at most with the square of the units, and memory with the units.
fn out_of_reach(points: &[Point], units: u32, length: u32, threads: u32) -> Option<Skipped> {
    let guess = |point: &Point| {
        let step = point.result.as_ref().ok()?;
        let longer = f64::from(length) / f64::from(point.length);
        let wider = f64::from(units) / f64::from(point.units);
        let slower = longer * wider.powi(2);
        Some(Step { ms: step.ms * slower, cpu_ms: step.cpu_ms * slower, mib: step.mib * longer * wider })
    };
    let is_near = |point: &&Point| {
        point.threads == threads && (point.units == units || (point.length == length && point.units < units))
    };
    let found = points.iter().filter(is_near).filter_map(guess).next_back()?;
    let seconds = f64::from(WARM_UP + COUNT) * found.cpu_ms / 1000.0;
    let available = available_mib().unwrap_or(f64::INFINITY);
    if found.mib > MOST_MEMORY * available {
        return Some(Skipped::Mib(found.mib));
    }
    (seconds > LONGEST).then_some(Skipped::Seconds(found.cpu_ms / 1000.0))
}

fn available_mib() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

impl Point {
    fn to_json(&self) -> Value {
        let step = self.result.as_ref().ok();
        json!({
            "units": self.units,
            "steps": self.length,
            "threads": self.threads,
            "ms": step.map(|step| step.ms),
            "processor_ms": step.map(|step| step.cpu_ms),
            "mib": step.map(|step| step.mib),
        })
    }
}

fn text(result: &Result<Step, Skipped>) -> String {
    match result {
        Ok(step) => format!("{:.1} ms, {:.1} of all threads, {:.1} MiB", step.ms, step.cpu_ms, step.mib),
        Err(skipped) => skipped.text(),
    }
}

impl Skipped {
    fn text(self) -> String {
        match self {
            Skipped::Seconds(seconds) => format!("left out (about {seconds:.0} s)"),
            Skipped::Mib(mib) => format!("left out (about {:.0} GiB)", mib / 1024.0),
        }
    }
}

fn print_table(points: &[Point], what: &str, figure: fn(&Step) -> f64) {
    let mut rows = vec![vec![what.to_string(), "threads".into()]];
    rows[0].extend(LENGTHS.map(|length| format!("T = {length}")));
    rows[0].push("exponent of T".into());
    for threads in THREADS {
        let of =
            |units: u32| points.iter().filter(move |point| (point.units, point.threads) == (units, threads));
        for units in UNITS {
            let cell = |point: &Point| match &point.result {
                Ok(step) => format!("{:.1}", figure(step)),
                Err(skipped) => skipped.text(),
            };
            let mut row = vec![format!("{units} units"), threads.to_string()];
            row.extend(of(units).map(cell));
            let measured: Vec<[f64; 2]> = of(units)
                .filter_map(|point| Some([f64::from(point.length), figure(point.result.as_ref().ok()?)]))
                .collect();
            row.push(slope(measured.first(), measured.last()));
            rows.push(row);
        }
        let mut row = vec!["exponent of units".to_string(), threads.to_string()];
        row.extend(LENGTHS.map(|length| {
            let column: Vec<[f64; 2]> = points
                .iter()
                .filter(|point| (point.length, point.threads) == (length, threads))
                .filter_map(|point| Some([f64::from(point.units), figure(point.result.as_ref().ok()?)]))
                .collect();
            slope(column.iter().rev().nth(1), column.last())
        }));
        rows.push(row);
    }
    table::print(&rows);
    println!();
}

/// The slope between two points in logarithms.
fn slope(first: Option<&[f64; 2]>, last: Option<&[f64; 2]>) -> String {
    match (first, last) {
        (Some([x, y]), Some([later, end])) if x != later => {
            format!("{:.2}", (end / y).ln() / (later / x).ln())
        }
        _ => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(units: u32, length: u32, ms: f64) -> Point {
        Point { units, length, threads: 1, result: Ok(Step { ms, cpu_ms: ms, mib: 1.0 }) }
    }

    #[test]
    fn what_takes_too_long_is_left_out_with_a_guess() {
        let points = [point(64, 100, 20.0), point(64, 1000, 200.0), point(256, 100, 300.0)];
        assert!(out_of_reach(&points, 256, 1000, 1).is_none());
        let Some(Skipped::Seconds(seconds)) = out_of_reach(&points, 256, 100_000, 1) else {
            panic!("300 s a step are too long")
        };
        assert!((seconds - 300.0).abs() < 1e-9, "{seconds}");
        assert!(out_of_reach(&points, 256, 100_000, 2).is_none(), "nothing is known of two threads");
        assert!(matches!(
            out_of_reach(&points, 64, u32::MAX, 1),
            Some(Skipped::Mib(_) | Skipped::Seconds(_))
        ));
    }

    #[test]
    fn slopes_are_exponents() {
        assert_eq!(slope(Some(&[10.0, 3.0]), Some(&[1000.0, 3e4])), "2.00");
        assert_eq!(slope(Some(&[10.0, 3.0]), Some(&[10.0, 3.0])), "-");
        assert_eq!(slope(None, None), "-");
    }
}
