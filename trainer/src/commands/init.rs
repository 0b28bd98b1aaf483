//! `quaver init`: a commented config for files, and nothing else.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::fit::{DataArguments, Understanding};
use super::print::print_text;
use crate::auto::TrainingSize;
use crate::files;
use crate::printable::escaped;

/// Write a commented config for your recordings, without training
///
/// Looks at the files as `quaver fit` does, prints what each column is taken for, and writes a config with
/// the splits, a small network and comments, to edit and to train with `quaver train`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver init rows.csv --target force
  quaver init monday.csv tuesday.csv --next -o next.toml
  quaver train config.toml --out runs/first")]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,
    /// The config to write.
    #[arg(short, long, value_name = "CONFIG.toml", default_value = "config.toml")]
    output: PathBuf,
    /// Replace the config if there is one.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let output = &arguments.output;
    ensure!(
        arguments.force || !output.exists(),
        "`{}` exists: give another name with -o, or --force",
        output.display()
    );
    let folder = output.with_extension("data");
    let found = Understanding::new(&arguments.data, &folder)?;
    eprint!("{}", escaped(&found.render()));
    let (experiment, rows) = (&found.experiment, found.experiment.splits.train_rows);
    let size = match experiment.is_reducer() {
        true => TrainingSize::for_sequences(found.data.train.len()),
        false => TrainingSize::for_rows(rows),
    };
    let mut settings = experiment.default_settings(size, size.most_epochs().min(100));
    settings.set("model.cell", "lstm");
    settings.set("model.layers", vec![if rows < 2000 { 16_i64 } else { 32 }]);
    let head = format!(
        "Written by quaver init: {}.\n\nTo train it:\n  quaver train {} --out runs/first",
        experiment.task_in_words(),
        output.display()
    );
    files::replace(output, experiment.config_text(&settings, &head).as_bytes())?;
    print_text(&format!("wrote {0}; next: quaver train {0} --out runs/first\n", output.display()))
}
