//! A search on a terminal: a progress bar over all epochs of a stage, and one line per trial.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::print::print_note;
use crate::printable::escaped;
use crate::search::halving::Rung;
use crate::search::worker::TrainedTrial;
use crate::search::{SearchProgress, Trial, TrialOutcome, TrialProgress};

/// Prints the progress of a search to standard error, so that standard output contains results only.
pub(super) struct SearchConsole {
    bar: ProgressBar,
}

impl SearchConsole {
    pub(super) fn new() -> Self {
        let bar = if stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style =
            ProgressStyle::with_template("{bar:32} {pos}/{len} epochs of this stage, {eta} left at most");
        bar.set_style(style.expect("a valid template"));
        SearchConsole { bar }
    }

    fn print_line(&self, line: &str) {
        if self.bar.is_hidden() { print_note(line) } else { self.bar.println(escaped(line)) }
    }
}

impl SearchProgress for SearchConsole {
    fn notice(&self, line: &str) {
        self.print_line(&format!("note: {line}"));
    }

    fn rung(&self, number: usize, of: usize, rung: &Rung, epochs_left: usize) {
        self.bar.set_length(epochs_left as u64);
        self.bar.set_position(0);
        self.bar.reset_eta();
        self.print_line(&format!(
            "stage {number} of {of}: {} trials up to epoch {}, {epochs_left} epochs left to train",
            rung.trials, rung.epochs
        ));
    }

    fn epoch(&self) {
        self.bar.inc(1);
    }

    fn trial(&self, trial: &Trial, progress: &TrialProgress, outcome: &TrialOutcome) {
        let trained = TrainedTrial { index: trial.index, progress: *progress, outcome: outcome.clone() };
        self.print_line(&trial_line(&trained));
    }
}

/// The line of a trial that has completed a stage.
pub(super) fn trial_line(trained: &TrainedTrial) -> String {
    let TrainedTrial { index, progress, outcome } = trained;
    match (outcome, progress.best) {
        (TrialOutcome::Failed(reason), _) => format!("trial {index:>4}  failed: {reason}"),
        (TrialOutcome::Done, None) => format!("trial {index:>4}  no epoch completed"),
        (TrialOutcome::Done, Some(best)) => format!(
            "trial {index:>4}  {:>4} epochs  validation NLL {:>9.4} in epoch {}",
            progress.epochs, best.valid_nll, best.epoch
        ),
    }
}

impl Drop for SearchConsole {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
