//! Random search with successive halving: many trials of one config, the bad ones stopped early.
//!
//! A search is a folder. Trial 7 is the run `trials/0007`, made from the config `trials/0007.toml`; its
//! values depend only on the seed, its number and the key ([`draw`]). All trials train for a few epochs, the
//! best of them for more ([`halving`]), and so on. There is no other state: which trials continue follows
//! from their metrics. A search that was killed continues with the command that started it, and ends as if it
//! had not been interrupted.
//!
//! The trials of a stage are trained by [`worker`]s, in this process or on other machines: an [`engine`]
//! starts them and waits until nothing is left.

pub mod draw;
pub mod engine;
pub mod halving;
pub mod importance;
pub mod launch;
pub mod leaderboard;
mod page;
mod run;
mod sharing;
mod trial;
pub mod worker;

#[cfg(test)]
mod tests;

pub use engine::local::Local;
pub use launch::{ChildProcesses, Deadline, Launcher, SearchStopped, TrialOutcome, TrialWatch};
pub use leaderboard::{Leaderboard, LeaderboardEntry, TrialStatus};
pub use page::page;
pub use run::{NoSearchProgress, SearchPlan, SearchProgress, copy_run, run, run_trials, stages};
pub use trial::{Trial, TrialProgress};
