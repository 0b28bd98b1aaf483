//! Claims whose claimants have ended.
//!
//! A claimant of this machine that has ended is seen at once. Of any other, the heartbeat is read again and
//! again: while it changes, the claimant lives. Time is measured by the observer's own monotonic clock
//! between its own readings, and a long gap between two of them counts as a short one: after this machine, or
//! the server, or everything has stood still, claimants get their time to show themselves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::claim::{Seat, seats};
use super::claimant;

/// Heartbeats that a claimant may miss.
const MISSED: u32 = 6;

/// An observer of claims.
#[derive(Debug)]
pub(in super::super) struct Watcher {
    trials: PathBuf,
    heartbeat: Duration,
    seen: HashMap<String, Seen>,
}

/// What was last seen of a claim.
#[derive(Debug)]
struct Seen {
    heartbeat: Option<Vec<u8>>,
    at: Instant,
    /// How long it has not changed.
    unchanged: Duration,
}

impl Watcher {
    /// An observer of the run folders in `trials`, whose claimants show themselves every `heartbeat`.
    pub(in super::super) fn new(trials: &Path, heartbeat: Duration) -> Self {
        Watcher { trials: trials.to_path_buf(), heartbeat, seen: HashMap::new() }
    }

    /// Lists the run folders and lets those rest whose claimants have ended. Returns the others as they are,
    /// and the claims that were ended.
    ///
    /// # Errors
    /// When the folder cannot be listed or a claim not be ended.
    pub(in super::super) fn sweep(&mut self) -> Result<(Vec<Seat>, Vec<Seat>)> {
        let (mut seats, mut ended) = (seats(&self.trials)?, Vec::new());
        let now = Instant::now();
        self.seen.retain(|name, _| seats.iter().any(|seat| seat.claimant.as_ref() == Some(name)));
        for seat in &mut seats {
            let Some(name) = seat.claimant.clone() else { continue };
            let is_over = claimant::is_dead(&name) || {
                let heartbeat = seat.heartbeat(&self.trials);
                self.is_stale(&name, heartbeat, now)
            };
            if is_over && seat.evict(&self.trials)? {
                ended.push(seat.clone());
                seat.claimant = None;
            }
        }
        Ok((seats, ended))
    }

    fn is_stale(&mut self, name: &str, heartbeat: Option<Vec<u8>>, now: Instant) -> bool {
        let longest_gap = 2 * self.heartbeat;
        let unchanged = match self.seen.get(name).filter(|seen| seen.heartbeat == heartbeat) {
            Some(seen) => seen.unchanged + now.saturating_duration_since(seen.at).min(longest_gap),
            None => Duration::ZERO,
        };
        self.seen.insert(name.to_string(), Seen { heartbeat, at: now, unchanged });
        unchanged >= MISSED * self.heartbeat
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::Claim;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ages(steps: &[(u32, Option<&str>)]) -> Vec<bool> {
        let mut watcher = Watcher::new(Path::new("trials"), SECOND);
        let begun = Instant::now();
        let mut look = |&(seconds, content): &(u32, Option<&str>)| {
            watcher.is_stale("name", content.map(Vec::from), begun + seconds * SECOND)
        };
        steps.iter().map(&mut look).collect()
    }

    #[test]
    fn six_heartbeats_may_be_missed() {
        let beats: Vec<_> = (0..8).map(|second| (second, Some("1"))).collect();
        assert_eq!(ages(&beats), [false, false, false, false, false, false, true, true]);
        let none: Vec<_> = (0..8).map(|second| (second, None)).collect();
        assert_eq!(ages(&none), [false, false, false, false, false, false, true, true]);
    }

    #[test]
    fn a_change_of_any_kind_is_a_sign_of_life() {
        let steps = [(0, Some("1")), (5, Some("1")), (7, Some("0")), (12, Some("0")), (13, Some("0"))];
        assert_eq!(ages(&steps), [false; 5]);
    }

    #[test]
    fn an_observer_that_stood_still_takes_its_time() {
        assert_eq!(ages(&[(0, Some("1")), (3600, Some("1")), (3601, Some("1"))]), [false; 3]);
        assert!(ages(&[(0, Some("1")), (3600, Some("1")), (3602, Some("1")), (3604, Some("1"))])[3]);
    }

    #[test]
    fn claims_of_other_machines_end_after_some_time_and_those_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let trials = folder.path();
        std::fs::create_dir(trials.join("0001")).unwrap();
        std::fs::create_dir(trials.join("0002@far.0123.4.5.6.7")).unwrap();
        let claim = Claim::take(trials, 1).unwrap().unwrap();
        let mut watcher = Watcher::new(trials, Duration::from_millis(20));
        let mut ended = Vec::new();
        for count in 0..60 {
            assert!(claim.beat(count));
            ended.extend(watcher.sweep().unwrap().1);
            std::thread::sleep(Duration::from_millis(5));
        }
        let [seat] = &ended[..] else { panic!("{ended:?}") };
        assert_eq!((seat.trial, seat.claimant.as_deref()), (2, Some("far.0123.4.5.6.7")));
        assert!(trials.join("0002").is_dir() && claim.release().unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_of_this_machine_that_has_ended_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let trials = folder.path();
        // This process, had it started at another time.
        let name = claimant::next_name();
        let mut parts: Vec<&str> = name.split('.').collect();
        parts[4] = "1";
        std::fs::create_dir(trials.join(format!("0003@{}", parts.join(".")))).unwrap();
        let (seats, ended) = Watcher::new(trials, SECOND).sweep().unwrap();
        assert_eq!((seats[0].claimant.is_none(), ended.len()), (true, 1));
    }
}
