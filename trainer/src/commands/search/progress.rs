//! A search as seen from a terminal: a bar over all epochs of a stage, and one line per trial.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::search::halving::Rung;
use crate::search::{Outcome, Standing, Trial, Watch};

/// Follows a search on standard error, so that standard output stays clean for results.
pub(super) struct Console {
    bar: ProgressBar,
}

impl Console {
    pub(super) fn new() -> Self {
        let bar = if stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style =
            ProgressStyle::with_template("{bar:32} {pos}/{len} epochs of this stage, {eta} left at most");
        bar.set_style(style.expect("a valid template"));
        Console { bar }
    }

    fn say(&self, line: &str) {
        if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
    }
}

impl Watch for Console {
    fn rung(&self, number: usize, of: usize, rung: &Rung, epochs_left: usize) {
        self.bar.set_length(epochs_left as u64);
        self.bar.set_position(0);
        self.bar.reset_eta();
        self.say(&format!(
            "stage {number} of {of}: {} trials up to epoch {}, {epochs_left} epochs left to train",
            rung.trials, rung.epochs
        ));
    }

    fn epoch(&self) {
        self.bar.inc(1);
    }

    fn trial(&self, trial: &Trial, standing: &Standing, outcome: &Outcome) {
        let index = trial.index;
        match (outcome, standing.best) {
            (Outcome::Failed(reason), _) => self.say(&format!("trial {index:>4}  failed: {reason}")),
            (Outcome::Done, None) => self.say(&format!("trial {index:>4}  no epoch is done")),
            (Outcome::Done, Some(best)) => self.say(&format!(
                "trial {index:>4}  {:>4} epochs  validation NLL {:>9.4} in epoch {}",
                standing.epochs, best.valid_nll, best.epoch
            )),
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
