//! Bursts of garbage between stretches of a clean stream, and how streams find back: the program `soak` of
//! `quaver-tests`, with overflow checks on.

use anyhow::{Result, ensure};
use clap::Args;

use crate::attack;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Steps of all models together; each gets the same share
    #[arg(long, value_name = "N", default_value_t = 1e8)]
    steps: f64,
    /// Seed of the bursts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print a JSON object per model instead of a table
    #[arg(long)]
    json: bool,
    /// Only models whose names begin so
    #[arg(value_name = "MODEL")]
    models: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { steps, seed, json, models } = arguments;
    ensure!((1.0..=1e15).contains(steps), "--steps must be from 1 to 1e15");
    let soak = attack::program("soak")?
        .argument((*steps as u64).to_string())
        .argument(seed.to_string())
        .argument(if *json { "json" } else { "table" });
    let soak = models.iter().fold(soak, |soak, model| soak.argument(model));
    ensure!(soak.stream()?.success(), "findings: see above");
    Ok(())
}
