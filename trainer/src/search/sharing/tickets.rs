//! Tickets: what is left to train in the present stage.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A trial, and the epoch up to which to train it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct Ticket {
    /// The number of the trial.
    pub(in super::super) trial: usize,
    /// The epoch.
    pub(in super::super) epochs: usize,
}

/// The tickets of a search: empty files in the folder `todo`.
#[derive(Clone, Debug)]
pub(in super::super) struct Tickets {
    folder: PathBuf,
}

impl Ticket {
    fn parse(name: &str) -> Option<Self> {
        let (trial, epochs) = name.split_once('.')?;
        Some(Ticket { trial: trial.parse().ok()?, epochs: epochs.parse().ok()? })
    }

    fn name(self) -> String {
        format!("{:04}.{}", self.trial, self.epochs)
    }
}

impl Tickets {
    /// The tickets of the search in the folder `out`.
    pub(in super::super) fn of(out: &Path) -> Self {
        Tickets { folder: out.join("todo") }
    }

    /// The tickets that are left, by number. Where nothing was ever to be done there are none.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub(in super::super) fn left(&self) -> Result<Vec<Ticket>> {
        let cannot = || format!("cannot list `{}`", self.folder.display());
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(cannot)?,
        };
        let mut tickets = Vec::new();
        for entry in entries {
            let name = entry.with_context(cannot)?.file_name();
            tickets.extend(name.to_str().and_then(Ticket::parse));
        }
        tickets.sort();
        Ok(tickets)
    }

    /// Replaces all tickets by these.
    ///
    /// # Errors
    /// When a file cannot be written or removed.
    pub(in super::super) fn replace(&self, wanted: &[Ticket]) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create `{}`", self.folder.display()))?;
        let left = self.left()?;
        left.iter().filter(|ticket| !wanted.contains(ticket)).try_for_each(|ticket| self.remove(*ticket))?;
        for ticket in wanted.iter().filter(|ticket| !left.contains(ticket)) {
            let path = self.folder.join(ticket.name());
            fs::write(&path, "").with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        Ok(())
    }

    /// Removes a ticket, unless somebody has.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(in super::super) fn remove(&self, ticket: Ticket) -> Result<()> {
        let path = self.folder.join(ticket.name());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::of(folder.path());
        let ticket = |trial, epochs| Ticket { trial, epochs };
        assert_eq!(tickets.left().unwrap(), []);
        tickets.replace(&[ticket(12_345, 4), ticket(7, 4)]).unwrap();
        assert_eq!(tickets.left().unwrap(), [ticket(7, 4), ticket(12_345, 4)]);
        tickets.replace(&[ticket(7, 12), ticket(12_345, 4)]).unwrap();
        assert_eq!(tickets.left().unwrap(), [ticket(7, 12), ticket(12_345, 4)]);
        tickets.remove(ticket(7, 12)).unwrap();
        tickets.remove(ticket(7, 12)).unwrap();
        assert_eq!(tickets.left().unwrap(), [ticket(12_345, 4)]);
        assert!(folder.path().join("todo/12345.4").is_file());
    }
}
