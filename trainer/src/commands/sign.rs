//! `quaver sign`: a checkpoint in a signed envelope.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::checkpoint_file;
use super::print::{print_note, print_text};
use crate::files;
use crate::signing::{hex, read_secret};

/// Sign a checkpoint, so that devices accept it and no other
///
/// Checks that the checkpoint is valid, puts it into an envelope with a counter and an Ed25519 signature, and
/// writes the envelope. A device opens it with `quaver::signed::open`, the public key, and the highest
/// counter that it has accepted so far: give every release a higher counter, so that no older one is
/// accepted after it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver sign model.qvr --key ours.key --counter 7 -o model.qvs
  quaver sign model.qvr --key ours.key --counter $(date +%s) -o model.qvs")]
pub struct Arguments {
    /// The checkpoint of a network or of a latent model.
    #[arg(value_name = "MODEL.qvr")]
    model: PathBuf,
    /// The secret key, written by `quaver keygen`.
    #[arg(long, value_name = "SECRET.key")]
    key: PathBuf,
    /// The counter of this release, higher than that of every release before.
    #[arg(long, value_name = "N")]
    counter: u32,
    /// The envelope to write, atomically.
    #[arg(short, long, value_name = "SIGNED.qvs")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { model, key, counter, output } = arguments;
    files::ensure_distinct(model, output)?;
    files::ensure_distinct(key, output)?;
    let checkpoint = checkpoint_file::read(model, "")?;
    checkpoint_file::kind_of(&checkpoint)
        .with_context(|| format!("{} is not a usable checkpoint, and is not signed", model.display()))?;
    warn_if_readable(key);
    let key = read_secret(key)?;
    let envelope = key.seal(&checkpoint, *counter)?;
    files::replace(output, &envelope)?;
    print_text(&format!(
        "{}: {} bytes, counter {counter}, signed with the key {}\n",
        output.display(),
        envelope.len(),
        hex(key.public().as_bytes())
    ))
}

/// Warns about a secret key that others on this machine can read.
fn warn_if_readable(key: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if std::fs::metadata(key).is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
            let shown = key.display();
            print_note(&format!("warning: others can read the secret key {shown}; chmod 600 {shown}"));
        }
    }
    #[cfg(not(unix))]
    let _ = (key, print_note);
}
