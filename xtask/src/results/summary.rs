//! Repeats as one row: means with their standard errors.

use anyhow::{Context, Result};
use serde_json::Value;

use super::plan::Benchmark;
use super::repeat::Row;
use crate::table;

/// Prints the results of a benchmark: the net as trained, the int8 model through the runtime, and the
/// baselines.
pub(super) fn print(benchmark: &Benchmark, rows: &[Row]) -> Result<()> {
    println!("\n{}: {}, mean ± standard error of {} repeats", benchmark.name, benchmark.title, rows.len());
    let heading = ["", "NLL", "standardised", "RMSE", "R²", "90 %"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.push(scores("net", rows.iter().map(|row| &row.net))?);
    lines.push(scores("int8, runtime", rows.iter().map(|row| &row.runtime))?);
    for name in baselines(rows) {
        let of = |row: &'_ Row| row.net["baselines"].as_array()?.iter().find(|b| b["name"] == name).cloned();
        let found: Vec<Value> = rows.iter().filter_map(of).collect();
        lines.push(scores(&name, found.iter())?);
    }
    table::print(&lines);
    println!("{}", costs(rows)?);
    Ok(())
}

fn scores<'a>(name: &str, scores: impl Iterator<Item = &'a Value> + Clone) -> Result<Vec<String>> {
    let column = |pick: &dyn Fn(&Value) -> Option<f64>, digits: usize| -> Result<String> {
        let values: Option<Vec<f64>> = scores.clone().map(pick).collect();
        Ok(mean_and_error(&values.with_context(|| format!("a score of {name} is missing"))?, digits))
    };
    Ok(vec![
        name.to_string(),
        column(&|scores| scores["nll"].as_f64(), 3)?,
        column(&|scores| scores["nll_standardised"].as_f64(), 3)?,
        column(&|scores| scores["mse"].as_f64().map(f64::sqrt), 3)?,
        column(&|scores| scores["r2"].as_f64(), 3)?,
        column(&|scores| scores["coverage"]["90"].as_f64().map(|share| 100.0 * share), 1)?,
    ])
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
    let mut layouts: Vec<&str> = rows.iter().filter_map(|row| row.model["layout"].as_str()).collect();
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
