//! `quaver convert`: a checkpoint in the newest version of the format.

mod compare;

use std::path::PathBuf;

use anyhow::{Context, Result};
use quaver::checkpoint::rewrite;
use serde::Serialize;

use super::checkpoint_file;
use super::print::{print_json, print_text};
use crate::files;

/// Write a checkpoint in the newest version of the format
///
/// Reads a checkpoint of any version that loads, and writes the same model in the newest version for its
/// contents. Weights are copied, not rounded again. Old and new checkpoint run on the same rows, with and
/// without gaps, and nothing is written unless every bit of every prediction is the same.
///
/// Checkpoints of versions 2 and 3 are current: they come out as they went in. A signed checkpoint is
/// verified and taken out of its envelope first (`quaver verify`), and signed again afterwards.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver convert old.qvr -o new.qvr
  quaver convert old.qvr -o new.qvr --json | jq .already_current")]
pub struct Arguments {
    /// The checkpoint of a network or of a latent model.
    #[arg(value_name = "OLD.qvr")]
    old: PathBuf,
    /// The checkpoint to write, atomically; not the old one.
    #[arg(short, long, value_name = "NEW.qvr")]
    output: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What has changed.
#[derive(Debug, PartialEq, Serialize)]
struct Conversion {
    already_current: bool,
    /// Versions of the format, of the old file and of the new one.
    version: [u16; 2],
    /// Lengths of both.
    bytes: [usize; 2],
    /// Rows that both models were run on, with the same predictions.
    rows: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { old: path, output, json } = arguments;
    files::ensure_distinct(path, output)?;
    let old = checkpoint_file::read(path, "")?;
    let new = rewrite(&old).with_context(|| format!("{} is not a usable checkpoint", path.display()))?;
    let rows = compare::assert_same_predictions(&old, &new)?;
    files::replace(output, &new)?;
    let conversion = Conversion {
        already_current: old == new,
        version: [version(&old), version(&new)],
        bytes: [old.len(), new.len()],
        rows,
    };
    if *json {
        return print_json(&conversion);
    }
    print_text(&format!(
        "{}: {}\n{}: written; the same bits of every prediction in {rows} rows\n",
        path.display(),
        described(&conversion),
        output.display()
    ))
}

/// What has changed, for people.
fn described(conversion: &Conversion) -> String {
    let Conversion { already_current, version: [from, to], bytes: [before, after], .. } = conversion;
    if *already_current {
        return format!("already current: version {from}, {before} bytes, unchanged");
    }
    format!("version {from}, {before} bytes; now version {to}, {after} bytes")
}

/// The version of the format, behind the magic bytes.
fn version(checkpoint: &[u8]) -> u16 {
    match checkpoint {
        [_, _, _, _, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_is_described() {
        let same = Conversion { already_current: true, version: [3, 3], bytes: [900, 900], rows: 1 };
        assert_eq!(described(&same), "already current: version 3, 900 bytes, unchanged");
        let newer = Conversion { already_current: false, version: [2, 4], bytes: [900, 916], rows: 1 };
        assert_eq!(described(&newer), "version 2, 900 bytes; now version 4, 916 bytes");
    }
}
