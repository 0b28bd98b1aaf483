//! One writer per folder: a lock of the operating system on the file `lock` in it.
//!
//! The system releases it when its holder ends in whatever way, killed or without power, so that a lock is
//! never stale; what the file says about its holder is for people alone. Processes on one machine always
//! exclude each other. On network file systems (NFS 4, NFS 3 with its lock service, SMB) so do machines,
//! unless a file system is mounted with local locks (`nolock`, `local_lock=all`); where there are no locks at
//! all, [`Locking::Unsupported`] is returned and the caller goes on with a notice.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, bail, ensure};

/// The most that is read of what a lock says about its holder.
const SHOWN: u64 = 200;

/// The result of trying to lock a folder.
#[derive(Debug)]
pub(crate) enum Locking {
    /// It is locked until the file is closed, here and in every process that inherits it.
    Locked(File),
    /// The file system has no locks.
    Unsupported,
}

/// Locks an existing folder, or refuses at once if another process has locked it.
///
/// # Errors
/// When the folder is in use, with a message that names the process and the machine; or when the file `lock`
/// cannot be written.
pub(crate) fn lock(folder: &Path) -> Result<Locking> {
    let path = folder.join("lock");
    let file = open(&path)?;
    match file.try_lock() {
        Ok(()) => signed(file, &path).map(Locking::Locked),
        Err(TryLockError::WouldBlock) => bail!(
            "`{}` is in use by {}: wait until it ends or stop it, or choose another folder",
            folder.display(),
            holder(file)
        ),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(Locking::Unsupported),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| cannot_lock(&path)),
    }
}

/// The notice for a folder that cannot be locked.
pub(crate) fn unsupported(folder: &Path) -> String {
    format!(
        "the file system of `{}` has no locks: make sure that no other process writes there",
        folder.display()
    )
}

/// Whether an error means that a file system has no locks.
fn has_no_locks(error: &io::Error) -> bool {
    /// The number of ENOLCK on Linux, for which there is no kind: NFS without its lock service.
    const NO_LOCKS: i32 = 37;
    let no_service = cfg!(target_os = "linux") && error.raw_os_error() == Some(NO_LOCKS);
    error.kind() == ErrorKind::Unsupported || no_service
}

fn cannot_lock(path: &Path) -> String {
    format!("cannot lock `{}`", path.display())
}

fn open(path: &Path) -> Result<File> {
    let link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    ensure!(!link, "`{}` is a symbolic link, which is not written through: remove it", path.display());
    let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
    file.with_context(|| cannot_lock(path))
}

/// Writes who holds a lock into it.
fn signed(mut file: File, path: &Path) -> Result<File> {
    let text = format!("process {} on {}\n", process::id(), host());
    let written = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map(drop);
    written.and_then(|()| file.write_all(text.as_bytes())).with_context(|| cannot_lock(path))?;
    Ok(file)
}

/// Who holds a lock, as far as that can be read: Windows does not let others read what is locked.
fn holder(file: File) -> String {
    let mut text = String::new();
    let read = file.take(SHOWN).read_to_string(&mut text);
    match text.lines().next() {
        Some(found) if read.is_ok() && !found.is_empty() => found.to_string(),
        _ => "another process".to_string(),
    }
}

/// The name of this machine, as far as it is known without asking the network.
pub(crate) fn host() -> String {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"].map(PathBuf::from);
    let from_files = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let from_environment =
        ["HOSTNAME", "COMPUTERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut names = from_files.chain(from_environment).map(|name| name.trim().to_string());
    names.find(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_other_learns_who() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        assert!(matches!(first, Locking::Locked(_)));
        let error = lock(folder.path()).unwrap_err().to_string();
        let holder = format!("is in use by process {} on {}:", process::id(), host());
        assert!(error.contains(&holder), "{error}");
        drop(first);
        lock(folder.path()).unwrap();
    }

    #[test]
    fn what_the_file_says_is_not_what_locks() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lock"), "process 1 on a machine that was switched off\n").unwrap();
        let taken = lock(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("lock")).unwrap();
        assert_eq!(text, format!("process {} on {}\n", process::id(), host()));
        drop(taken);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("lock")).unwrap();
        assert!(lock(folder.path()).unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
