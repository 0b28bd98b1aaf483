//! `quaver keygen`: a pair of keys for signed models.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::print::print_text;
use crate::signing::{SecretKey, create_public, create_rust, create_secret, rust_constant};

/// Make a pair of keys that sign and verify models
///
/// Writes three new files: NAME.key, the secret key, which its owner alone can read; NAME.pub, the public
/// key; and NAME.rs, the public key as a constant for firmware, which is printed as well. Whoever has the
/// secret key can sign models for your devices: keep it off them, off shared folders and out of version
/// control.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver keygen --out ours
  quaver keygen --out ~/keys/wristband-2026")]
pub struct Arguments {
    /// The files' name, without an ending.
    #[arg(long, value_name = "NAME")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let name = arguments.out.file_name().with_context(|| {
        format!("`{}` names a folder: give the name of a key as well", arguments.out.display())
    })?;
    // Not `with_extension`, which would shorten a name with a dot in it.
    let file = |end: &str| arguments.out.with_file_name(format!("{}.{end}", name.to_string_lossy()));
    let [secret, public, rust] = ["key", "pub", "rs"].map(file);
    for path in [&secret, &public, &rust] {
        // Checked before anything is written; a file that appears meanwhile is not overwritten either.
        let is_free = fs::symlink_metadata(path).is_err();
        ensure!(is_free, "`{}` exists: keys are never overwritten; give another name", path.display());
    }
    let key = SecretKey::generate()?;
    create_secret(&secret, &key)?;
    let others = create_public(&public, &key.public()).and_then(|()| create_rust(&rust, &key.public()));
    others.inspect_err(|_| [&secret, &public].into_iter().for_each(|path| remove(path)))?;
    print_text(&format!(
        "{}: the secret key; keep it in a safe place, and away from the devices\n\
         {}: the public key\n{}: the public key for firmware:\n\n{}",
        secret.display(),
        public.display(),
        rust.display(),
        rust_constant(&key.public())
    ))
}

/// Half a pair is of no use.
fn remove(path: &Path) {
    drop(fs::remove_file(path));
}
