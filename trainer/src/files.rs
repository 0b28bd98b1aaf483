//! Files that appear whole or not at all.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};

/// Writes `content` beside `path` and renames it into place, so that nobody ever reads half a file.
///
/// # Errors
/// When the folder is missing or cannot be written to; the message names the file.
pub(crate) fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let name = path.file_name().ok_or_else(|| anyhow!("`{}` names a folder: give a file", path.display()))?;
    let temporary = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    fs::write(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))
        .with_context(|| format!("cannot write `{}`: is its folder there and writable?", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        replace(&path, b"old").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn says_which_file_failed() {
        let folder = tempfile::tempdir().unwrap();
        let message = replace(&folder.path().join("no/such/a.txt"), b"").unwrap_err().to_string();
        assert!(message.contains("a.txt"), "{message}");
    }
}
