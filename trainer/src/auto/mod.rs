//! From files to a model that fits a board, without a config: what `quaver fit` does.
//!
//! [`boards`] and [`Budget`] tell what a model may take; [`split`] divides recordings; an [`Experiment`] is
//! a task on these data, written as a commented config; [`candidates`] lists the architectures that fit, and
//! draws trials from them; [`TimedSearch`] trains trials by successive halving until time is up; and a
//! [`Verdict`] compares the best with what needs no network.

mod boards;
mod budget;
mod candidates;
mod costing;
mod experiment;
mod settings;
mod split;
mod timed_search;
mod verdict;

pub use boards::{Board, Core, board, boards, user_file};
pub use budget::{Budget, ModelCost, Use};
pub use candidates::{Candidate, Candidates, candidates};
pub use experiment::{AheadTask, Experiment, LabelledTask, Task};
pub use settings::{Settings, TrainingSize};
pub use split::{Splits, split};
pub use timed_search::{BestTrial, SearchEvent, TimedSearch, TimedSearchReport};
pub use verdict::{BetterOnTest, Differences, LossUnit, Rival, Verdict, VerdictKind};
