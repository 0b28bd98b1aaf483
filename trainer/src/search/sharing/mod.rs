//! Trials shared by many processes on many machines, by files alone.
//!
//! Three rules, which need of a file system that a rename is atomic, and nothing else: no locks, no daemon,
//! no clock that two machines agree on.
//!
//! 1. **A ticket** `todo/0007.12` says that trial 7 is to be trained up to epoch 12 ([`tickets`]). It is
//!    removed after that. Tickets are only a list of what is left: nothing depends on who sees which.
//! 2. **A claim** is the name of the trial's run folder. Whoever renames `trials/0007` to
//!    `trials/0007@claimant` trains the trial, and renames it back when it is done ([`claim`]). Of several
//!    processes that try, one succeeds.
//! 3. **A heartbeat** in the folder changes while its claimant lives. Where it does not change for a while,
//!    by the observer's own clock, the observer renames the folder back ([`stale`]). A claimant that was
//!    merely slow finds its folder gone: every path it writes to has the old name in it, so that it can
//!    neither disturb its successor nor finish. It stops, and takes another trial.

pub(super) mod claim;
mod claimant;
pub(super) mod stale;
pub(super) mod tickets;
