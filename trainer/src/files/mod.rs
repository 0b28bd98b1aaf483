//! Files that survive: each appears whole or not at all, also after a power loss, and a folder has one
//! writer.

pub(crate) mod lock;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use anyhow::{anyhow, ensure};
use tempfile::NamedTempFile;

/// The end of the name of a file that is being written.
const TEMPORARY: &str = ".tmp";

/// Replaces the file `path` by one with this content; see [`replace_with`].
///
/// # Errors
/// As [`replace_with`].
pub(crate) fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    replace_with(path, |file| Ok(file.write_all(content)?))
}

/// Replaces the file `path` by what `fill` writes, so that no reader ever sees half a file.
///
/// The content goes to a new file in the same folder, with a random name and opened exclusively: a file or a
/// symbolic link that waits there under a name that could be guessed is never written to. It is synced to the
/// disk before it is renamed, and its folder after that. A power loss therefore leaves the old file or the
/// new one, and once this function has returned, the new one.
///
/// # Errors
/// When the folder is missing, full or cannot be written to, with a message that names the file; or that of
/// `fill`. The old file is unchanged then.
pub(crate) fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.file_name().ok_or_else(|| anyhow!("`{}` names a folder: give a file", path.display()))?;
    ensure!(
        fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir()),
        "`{}` is a device or a pipe, which a file cannot replace: give the path of a file",
        path.display()
    );
    let failed = |error| explained(error, "write", path);
    let mut file = temporary(folder_of(path), &name.to_string_lossy(), Access::Everybody).map_err(failed)?;
    let mut writer = BufWriter::new(file.as_file_mut());
    let filled = fill(&mut writer).and_then(|()| Ok(writer.flush()?));
    drop(writer);
    filled.map_err(|error| match error.chain().len() {
        // An error with a context of its own is about something else, such as the source of the rows.
        1 => error.downcast::<io::Error>().map_or_else(|error| error, failed),
        _ => error,
    })?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    sync_folder(folder_of(path)).map_err(failed)
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Whoever the process's mask lets.
    Everybody,
    /// Its owner alone, from the moment that it exists. Windows leaves it to the folder.
    Owner,
}

/// Writes a new file, whole or not at all, and never over another.
///
/// # Errors
/// When there is a file of this name, or as [`replace_with`].
pub(crate) fn create(path: &Path, content: &[u8], access: Access) -> anyhow::Result<()> {
    let name = path.file_name().ok_or_else(|| anyhow!("`{}` names a folder: give a file", path.display()))?;
    let failed = |error| explained(error, "write", path);
    let mut file = temporary(folder_of(path), &name.to_string_lossy(), access).map_err(failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => {
            anyhow!("`{}` exists and is not overwritten: give another name", path.display())
        }
        _ => failed(error.error),
    })?;
    sync_folder(folder_of(path)).map_err(failed)
}

/// Refuses to write a result over the file that it is made from.
///
/// # Errors
/// When both paths lead to one file.
pub(crate) fn ensure_distinct(input: &Path, output: &Path) -> anyhow::Result<()> {
    let is_same = match (fs::canonicalize(input), fs::canonicalize(output)) {
        (Ok(input), Ok(output)) => input == output,
        _ => false, // one of them does not exist
    };
    ensure!(!is_same, "`{}` would be written over its own input: give another output", output.display());
    Ok(())
}

/// Appends a line to an existing file and syncs it. An interruption may leave part of the line: readers must
/// expect that.
///
/// # Errors
/// When the file is missing, the disk full, or either cannot be written to; the message names the file.
pub(crate) fn append(path: &Path, line: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_data()))
        .map_err(|error| explained(error, "add to", path))
}

/// Removes the temporary files that processes which were killed have left in a folder. The caller has locked
/// it. What cannot be removed stays: it is in nobody's way.
pub(crate) fn remove_temporary(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(TEMPORARY) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// A new file in `folder` that nothing else has opened.
fn temporary(folder: &Path, name: &str, access: Access) -> io::Result<NamedTempFile> {
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY);
    #[cfg(unix)]
    {
        // The process's mask is applied to it.
        let mode = if access == Access::Owner { 0o600 } else { 0o666 };
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = access;
    builder.tempfile_in(folder)
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a renamed file's new name durable. Windows has no such call, and some file systems neither.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        result => result,
    }
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
    use anyhow::Context;

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
    fn what_waits_under_a_temporary_name_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("model.qvr"), folder.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&victim, folder.path().join(".model.qvr.tmp")).unwrap();
        replace(&path, b"model").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "written through a symbolic link");
        assert_eq!(fs::read(&path).unwrap(), b"model");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_a_device_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("a.txt"), folder.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&victim).unwrap()),
            (b"new".into(), b"precious".into())
        );
        let error = replace(Path::new("/dev/null"), b"").unwrap_err().to_string();
        assert!(error.contains("`/dev/null` is a device"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions();
        fs::write(folder.path().join("plain"), "").unwrap();
        replace(&folder.path().join("replaced"), b"").unwrap();
        assert_eq!(mode("replaced"), mode("plain"));
    }

    #[test]
    fn a_new_file_is_never_written_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        create(&path, b"old", Access::Owner).unwrap();
        let error = create(&path, b"new", Access::Owner).unwrap_err().to_string();
        assert!(error.contains("a.key` exists and is not overwritten"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
            create(&folder.path().join("link"), b"", Access::Owner).unwrap_err();
        }
    }

    #[test]
    fn a_result_does_not_replace_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let [input, other] = ["a.qvr", "b.qvr"].map(|name| folder.path().join(name));
        fs::write(&input, "").unwrap();
        ensure_distinct(&input, &other).unwrap();
        fs::write(&other, "").unwrap();
        ensure_distinct(&input, &other).unwrap();
        ensure_distinct(&input, &folder.path().join(".").join("a.qvr")).unwrap_err();
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        replace(&path, b"old").unwrap();
        let fill = |file: &mut dyn Write| {
            file.write_all(b"ne")?;
            Err(anyhow!("no more rows"))
        };
        assert_eq!(replace_with(&path, fill).unwrap_err().to_string(), "no more rows");
        let cannot = |_: &mut dyn Write| Err(io::Error::from(ErrorKind::StorageFull).into());
        assert!(
            replace_with(&path, cannot).unwrap_err().to_string().contains("a.txt`: there is no space left")
        );
        let source =
            |_: &mut dyn Write| Err(io::Error::from(ErrorKind::StorageFull)).context("cannot read b.csv");
        assert_eq!(replace_with(&path, source).unwrap_err().to_string(), "cannot read b.csv");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_killed_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("last.state"), "").unwrap();
        temporary(folder.path(), "last.state", Access::Everybody).unwrap().keep().unwrap();
        remove_temporary(folder.path());
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["last.state"]);
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
