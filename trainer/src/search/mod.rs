//! Random search with successive halving: many trials of one config, the bad ones stopped early.
//!
//! A search is a folder. Trial 7 is the run `trials/0007`, made from the config `trials/0007.toml`; its
//! values depend only on the seed, its number and the key ([`draw`]). All trials train for a few epochs, the
//! best of them for more ([`halving`]), and so on. There is no other state: which trials continue follows
//! from their metrics. A search that was killed continues with the command that started it, and ends as if it
//! had not been interrupted.

pub mod draw;
pub mod halving;
pub mod importance;
pub mod launch;
pub mod leaderboard;
mod page;
mod run;
mod trial;

#[cfg(test)]
mod tests;

pub use launch::{ChildProcesses, Deadline, Launcher, SearchStopped, TrialOutcome};
pub use leaderboard::{Leaderboard, LeaderboardEntry, TrialStatus};
pub use page::page;
pub use run::{NoSearchProgress, SearchPlan, SearchProgress, copy_run, run, run_trials};
pub use trial::{Trial, TrialProgress};
