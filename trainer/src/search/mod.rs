//! Random search: many trials of one config, each with values of its own, the bad ones stopped early.
//!
//! A search is a folder. Trial 7 is the run `trials/0007`, made from the config `trials/0007.toml`; what it draws depends on the
//! seed, its number and the key alone ([`parameters`]). All trials train for a few epochs, the best part of them goes on for more
//! ([`halving`]), and so forth. Nothing else is remembered: which trials go on follows from their metrics, so that a search
//! that was killed goes on with the command that began it, and ends as if nothing had happened.

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

pub use launch::{ChildProcesses, Launcher, TrialOutcome};
pub use leaderboard::{Leaderboard, LeaderboardEntry, TrialStatus};
pub use page::page;
pub use run::{NoSearchProgress, SearchPlan, SearchProgress, run};
pub use trial::{Trial, TrialProgress};
