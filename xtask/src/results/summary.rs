//! Repeats as one row: means with their standard errors.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::plan::Benchmark;
use super::repeat::Row;
use crate::table;

/// Prints the results of a benchmark: the net as trained, the int8 model through the runtime, and the
/// baselines.
pub(super) fn print(benchmark: &Benchmark, rows: &[Row]) -> Result<()> {
    println!("\n{}: {}, mean ± standard error of {} repeats", benchmark.name, benchmark.title, rows.len());
    let classifies = rows.iter().any(|row| row.net.get("accuracy").is_some());
    let columns = if classifies { &CLASS_COLUMNS[..] } else { &ROW_COLUMNS[..] };
    let heading = std::iter::once("").chain(columns.iter().map(|column| column.heading));
    let mut lines = vec![heading.map(String::from).collect()];
    lines.push(scores("net", columns, rows.iter().map(|row| &row.net))?);
    lines.push(scores("int8, runtime", columns, rows.iter().map(|row| &row.runtime))?);
    for name in baselines(rows) {
        let of = |row: &'_ Row| row.net["baselines"].as_array()?.iter().find(|b| b["name"] == name).cloned();
        let found: Vec<Value> = rows.iter().filter_map(of).collect();
        lines.push(scores(&name, columns, found.iter())?);
    }
    table::print(&lines);
    println!("{}", costs(rows)?);
    Ok(())
}

/// A score in the output of `quaver eval --json`.
struct Column {
    heading: &'static str,
    pick: fn(&Value) -> Option<f64>,
    digits: usize,
    /// Whether some models and baselines have no such score.
    optional: bool,
}

const fn column(heading: &'static str, digits: usize, pick: fn(&Value) -> Option<f64>) -> Column {
    Column { heading, pick, digits, optional: false }
}

/// Scores of models that predict rows.
const ROW_COLUMNS: [Column; 5] = [
    column("NLL", 3, |scores| scores["nll"].as_f64()),
    column("standardised", 3, |scores| scores["nll_standardised"].as_f64()),
    column("RMSE", 3, |scores| scores["mse"].as_f64().map(f64::sqrt)),
    column("R²", 3, |scores| scores["r2"].as_f64()),
    column("90 %", 1, |scores| scores["coverage"]["90"].as_f64().map(|share| 100.0 * share)),
];

/// Scores of models that classify sequences. Nearest neighbours have no probabilities, and there may be no
/// sequences of unknown classes.
const CLASS_COLUMNS: [Column; 5] = [
    column("accuracy", 4, |scores| scores["accuracy"].as_f64()),
    column("balanced", 4, |scores| scores["balanced_accuracy"].as_f64()),
    Column { optional: true, ..column("NLL", 3, |scores| scores["nll"].as_f64()) },
    Column { optional: true, ..column("ECE", 3, |scores| scores["reliability"]["ece"].as_f64()) },
    Column {
        optional: true,
        ..column("AUROC of unknown", 3, |scores| {
            scores["unknown"]["auroc"].as_f64().or(scores["unknown_auroc"].as_f64())
        })
    },
];

fn scores<'a>(
    name: &str,
    columns: &[Column],
    scores: impl Iterator<Item = &'a Value> + Clone,
) -> Result<Vec<String>> {
    let cell = |column: &Column| -> Result<String> {
        let values: Option<Vec<f64>> = scores.clone().map(column.pick).collect();
        match values {
            Some(values) => Ok(mean_and_error(&values, column.digits)),
            None if column.optional => Ok("–".into()),
            None => bail!("{name}: {} is missing in a repeat", column.heading),
        }
    };
    std::iter::once(Ok(name.to_string())).chain(columns.iter().map(cell)).collect()
}

/// Names of the baselines that every repeat has, in their order.
fn baselines(rows: &[Row]) -> Vec<String> {
    let names = |row: &Row| -> Vec<String> {
        let list = row.net["baselines"].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|baseline| baseline["name"].as_str().map(String::from)).collect()
    };
    let mut common = rows.first().map(names).unwrap_or_default();
    common.retain(|name| rows.iter().all(|row| names(row).contains(name)));
    common
}

/// Flash, RAM, layouts and time.
fn costs(rows: &[Row]) -> Result<String> {
    let range = |key: &str| -> Result<String> {
        let values: Option<Vec<u64>> = rows.iter().map(|row| row.model[key].as_u64()).collect();
        let values = values.with_context(|| format!("`quaver inspect` prints no {key}"))?;
        let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
        Ok(match (least, most) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => "no".into(),
        })
    };
    let layout = |row: &'_ Row| {
        row.model["layout"].as_str().or(row.model["network"]["layout"].as_str()).map(String::from)
    };
    let mut layouts: Vec<String> = rows.iter().filter_map(layout).collect();
    layouts.sort_unstable();
    layouts.dedup();
    let seconds: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
    Ok(format!(
        "{} bytes of flash, {} bytes of RAM, layout {}; {} s of training per repeat, {:.0} s in all",
        range("flash_bytes")?,
        range("ram_bytes")?,
        layouts.join(" or "),
        mean_and_error(&seconds, 2),
        seconds.iter().sum::<f64>()
    ))
}

/// The mean and, from two values on, the standard error of the mean.
fn mean_and_error(values: &[f64], digits: usize) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return format!("{mean:.digits$}");
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    format!("{mean:.digits$} ± {:.digits$}", (variance / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_mean() {
        // The squares add up to 16: √(16 / 3 / 4).
        assert_eq!(mean_and_error(&[1.0, 1.0, 5.0, 5.0], 2), "3.00 ± 1.15");
        assert_eq!(mean_and_error(&[1.25], 1), "1.2");
    }
}
