//! Claims on trials: the name of a run folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::claimant;

/// What separates the number of a trial from its claimant.
const HELD_BY: char = '@';

/// The file of the heartbeat in a run folder that is held.
const HEARTBEAT: &str = "heartbeat";

/// A trial that this process holds.
#[derive(Debug)]
pub(in super::super) struct Claim {
    at_rest: PathBuf,
    held: PathBuf,
}

/// A run folder of a search.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Seat {
    /// The number of the trial.
    pub(in super::super) trial: usize,
    /// Who holds it, if anybody does.
    pub(in super::super) claimant: Option<String>,
}

/// The folder of a trial that nobody holds.
pub(in super::super) fn folder_at_rest(trials: &Path, trial: usize) -> PathBuf {
    trials.join(format!("{trial:04}"))
}

fn folder_held(trials: &Path, trial: usize, claimant: &str) -> PathBuf {
    trials.join(format!("{trial:04}{HELD_BY}{claimant}"))
}

/// All run folders in `trials`, by number. What was renamed meanwhile may be listed under its old name, its
/// new one, both or none.
///
/// # Errors
/// When the folder cannot be listed.
pub(in super::super) fn seats(trials: &Path) -> Result<Vec<Seat>> {
    let cannot = || format!("cannot list `{}`", trials.display());
    let mut seats = Vec::new();
    for entry in fs::read_dir(trials).with_context(cannot)? {
        let name = entry.with_context(cannot)?.file_name();
        seats.extend(name.to_str().and_then(seat));
    }
    seats.sort();
    Ok(seats)
}

fn seat(name: &str) -> Option<Seat> {
    let (number, claimant) = match name.split_once(HELD_BY) {
        Some((number, claimant)) => (number, Some(claimant.to_string())),
        None => (name, None),
    };
    let is_number = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    Some(Seat { trial: number.parse().ok().filter(|_| is_number)?, claimant })
}

impl Seat {
    /// Its folder.
    pub(in super::super) fn folder(&self, trials: &Path) -> PathBuf {
        match &self.claimant {
            Some(claimant) => folder_held(trials, self.trial, claimant),
            None => folder_at_rest(trials, self.trial),
        }
    }

    /// Who holds it, for people.
    pub(in super::super) fn holder(&self) -> String {
        self.claimant.as_deref().map_or("nobody".into(), claimant::described)
    }

    /// Whether the process of this machine with this number holds it.
    pub(in super::super) fn is_held_by(&self, process: u32) -> bool {
        self.claimant.as_deref().is_some_and(|name| claimant::is_process(name, process))
    }

    /// The content of its heartbeat; `None` if there is none yet. Opening the file, rather than asking for
    /// its time, makes network file systems look at the server.
    pub(super) fn heartbeat(&self, trials: &Path) -> Option<Vec<u8>> {
        fs::read(self.folder(trials).join(HEARTBEAT)).ok()
    }

    /// Takes a trial from its claimant and lets it rest. Returns whether that was necessary.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(in super::super) fn evict(&self, trials: &Path) -> Result<bool> {
        let Some(claimant) = &self.claimant else { return Ok(false) };
        let held = folder_held(trials, self.trial, claimant);
        Claim { at_rest: folder_at_rest(trials, self.trial), held }.release()
    }
}

impl Claim {
    /// Tries to take a trial that is at rest; `None` if somebody else has.
    ///
    /// # Errors
    /// When it cannot be renamed for another reason.
    pub(in super::super) fn take(trials: &Path, trial: usize) -> Result<Option<Self>> {
        let at_rest = folder_at_rest(trials, trial);
        let held = folder_held(trials, trial, &claimant::next_name());
        match fs::rename(&at_rest, &held) {
            Ok(()) => {}
            // A server may repeat a request whose answer was lost, and then find nothing to rename.
            Err(error) if error.kind() == ErrorKind::NotFound && held.is_dir() => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot claim `{}`", at_rest.display()));
            }
        }
        let claim = Claim { at_rest, held };
        Ok(claim.beat(0).then_some(claim))
    }

    /// The run folder, for as long as the claim lasts.
    pub(in super::super) fn folder(&self) -> &Path {
        &self.held
    }

    /// Shows that the claimant lives. Returns whether it still holds the trial.
    pub(in super::super) fn beat(&self, count: u64) -> bool {
        let path = self.held.join(HEARTBEAT);
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let written = file.and_then(|mut file: File| file.write_all(format!("{count:20}\n").as_bytes()));
        // Anything but a missing folder may pass: a server that restarts, a full disk.
        !written.is_err_and(|error| error.kind() == ErrorKind::NotFound && !self.held.is_dir())
    }

    /// Ends the claim. Returns whether it lasted until now: if not, what was computed counts for nothing.
    ///
    /// # Errors
    /// When the folder cannot be renamed.
    pub(in super::super) fn release(self) -> Result<bool> {
        // Only the heartbeat of a claimant means something.
        drop(fs::remove_file(self.held.join(HEARTBEAT)));
        let cannot = || format!("cannot release `{}`", self.held.display());
        match fs::rename(&self.held, &self.at_rest) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            // Another copy of the trial is there already, with the same bits or on its way to them.
            Err(error) if is_occupied(&error) => {
                fs::remove_dir_all(&self.held).with_context(cannot).map(|()| false)
            }
            Err(error) => Err(error).with_context(cannot),
        }
    }
}

fn is_occupied(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("0007")).unwrap();
        fs::write(folder.path().join("0007.toml"), "").unwrap();
        fs::write(folder.path().join("0007/last.state"), "weights").unwrap();
        folder
    }

    #[test]
    fn a_trial_has_one_claimant() {
        let folder = folder();
        let trials = folder.path();
        let claim = Claim::take(trials, 7).unwrap().expect("nobody has it");
        assert!(Claim::take(trials, 7).unwrap().is_none());
        assert_eq!(fs::read(claim.folder().join("last.state")).unwrap(), b"weights");
        let [seat] = &seats(trials).unwrap()[..] else { panic!("one folder") };
        assert_eq!((seat.trial, seat.claimant.is_some()), (7, true));
        assert!(claim.release().unwrap());
        assert_eq!(seats(trials).unwrap(), [Seat { trial: 7, claimant: None }]);
        assert_eq!(fs::read_dir(trials.join("0007")).unwrap().count(), 1, "no heartbeat is left");
    }

    #[test]
    fn of_many_that_try_one_succeeds() {
        let folder = folder();
        let (trials, round) = (folder.path(), &std::sync::Barrier::new(8));
        let claims = move || {
            let mut won = 0;
            for _ in 0..100 {
                round.wait();
                let claim = Claim::take(trials, 7).unwrap();
                won += usize::from(claim.is_some());
                round.wait();
                claim.into_iter().for_each(|claim| assert!(claim.release().unwrap()));
            }
            won
        };
        let won: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(claims)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 100);
    }

    #[test]
    fn who_lost_a_trial_can_neither_write_nor_finish() {
        let folder = folder();
        let trials = folder.path();
        let slow = Claim::take(trials, 7).unwrap().unwrap();
        assert!(slow.beat(1));
        assert!(seats(trials).unwrap()[0].evict(trials).unwrap());
        let next = Claim::take(trials, 7).unwrap().unwrap();
        assert!(!slow.beat(2) && next.beat(1));
        crate::files::replace(&slow.folder().join("last.state"), b"late").unwrap_err();
        assert!(!slow.release().unwrap());
        assert!(next.release().unwrap());
        assert_eq!(fs::read(trials.join("0007/last.state")).unwrap(), b"weights");
    }

    #[test]
    fn a_second_copy_gives_way() {
        let folder = folder();
        let trials = folder.path();
        let claim = Claim::take(trials, 7).unwrap().unwrap();
        fs::create_dir(trials.join("0007")).unwrap();
        fs::write(trials.join("0007/last.state"), "weights").unwrap();
        assert!(!claim.release().unwrap());
        assert_eq!(seats(trials).unwrap(), [Seat { trial: 7, claimant: None }]);
    }

    #[test]
    fn other_names_are_no_trials() {
        assert_eq!(seat("0012"), Some(Seat { trial: 12, claimant: None }));
        assert_eq!(seat("12345@a.b"), Some(Seat { trial: 12_345, claimant: Some("a.b".into()) }));
        for name in ["0012.toml", "12", ".0012.toml.x.tmp", "0012x", "+012"] {
            assert_eq!(seat(name), None, "{name}");
        }
    }
}
