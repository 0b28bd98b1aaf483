//! Atomic writes: a file appears whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::anyhow;

/// Writes `content` to a temporary file next to `path` and renames it, so that no reader ever sees half a
/// file.
///
/// # Errors
/// When the folder is missing, full or cannot be written to; the message names the file.
pub(crate) fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let name = path.file_name().ok_or_else(|| anyhow!("`{}` names a folder: give a file", path.display()))?;
    let temporary = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    fs::write(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))
        .map_err(|error| explained(error, "write", path))
}

/// Appends a line to an existing file. An interruption may leave part of the line: readers must expect that.
///
/// # Errors
/// When the file is missing, the disk full, or either cannot be written to; the message names the file.
pub(crate) fn append(path: &Path, line: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| explained(error, "add to", path))
}

/// Adds the failed operation, the file and a hint to an error.
fn explained(error: io::Error, what: &str, path: &Path) -> anyhow::Error {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "there is no space left; the previous file is unchanged"
        }
        _ => "does its folder exist, and is it writable?",
    };
    anyhow::Error::new(error).context(format!("cannot {what} `{}`: {advice}", path.display()))
}

/// Compares a generated page of the repository with what it should be, or writes it if `QUAVER_REFRESH` is
/// set.
#[cfg(test)]
pub(crate) fn assert_up_to_date(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if std::env::var_os("QUAVER_REFRESH").is_some() {
        fs::create_dir_all(file.parent().expect("a page lies in a folder")).expect("the folder can be made");
        return fs::write(&file, expected).expect("the page can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    let line = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "{path} is out of date from line {} on; refresh it with\n  \
         QUAVER_REFRESH=1 cargo test --release -p quaver-trainer --lib reference",
        line.unwrap_or(found.lines().count().min(expected.lines().count())) + 1
    );
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

    #[test]
    fn a_full_disk_is_reported_as_such() {
        let full = |kind: ErrorKind| explained(kind.into(), "write", Path::new("a.txt")).to_string();
        assert!(full(ErrorKind::StorageFull).contains("cannot write `a.txt`: there is no space left"));
        assert!(full(ErrorKind::PermissionDenied).contains("writable?"));
    }
}
