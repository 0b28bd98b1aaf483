//! What is in the files that people have: columns and their roles, the sampling rate, recordings.
//!
//! A file is read once as text ([`FileSurvey`]): every column becomes a [`ColumnStatistics`]. From these
//! follows the [`ColumnRole`] of each column with a reason ([`guess_roles`]); every guess can be overruled
//! ([`RoleOptions`]). The time column gives rate, jitter, gaps and order ([`Clock`]). Where rows have to be
//! cut at gaps, or resampled, [`prepare`] writes files that the rest of the trainer reads.

mod clock;
mod column;
mod column_names;
mod column_role;
mod file;
mod guess_roles;
mod prepare;
mod roles;
mod timestamp;
mod unit;

pub(crate) use clock::short;
pub use clock::{Clock, ClockSummary, TimeUnit};
pub use column::ColumnStatistics;
pub use file::{FileSurvey, Survey};
pub use guess_roles::guess_roles;
pub use prepare::{Preparation, PreparedFile, prepare};
pub use roles::{ColumnGuess, ColumnRole, RoleOptions, Roles, TaskRequest};
pub use timestamp::parse_timestamp;
pub use unit::name_and_unit;
