//! Training on a terminal: a progress bar, or one line per epoch if standard error is not a terminal.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use super::print::print_note;
use crate::config::{Config, StateSelection};
use crate::fit::{BestEpoch, EpochMetrics, Progress, RunPlan, RunSummary, StepReport, StopReason};
use crate::printable::escaped;

/// Prints the progress of a run to standard error, so that standard output contains results only.
pub(super) struct TrainingConsole {
    bar: ProgressBar,
    plan: Option<RunPlan>,
}

impl TrainingConsole {
    pub(super) fn new() -> Self {
        let bar = if stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        TrainingConsole { bar, plan: None }
    }

    fn print_line(&self, line: &str) {
        if self.bar.is_hidden() { print_note(line) } else { self.bar.println(escaped(line)) }
    }
}

/// The best epoch of a run, in the units of `quaver eval`, and why the run ended.
pub(super) fn print_summary(summary: &RunSummary, config: &Config) {
    let Some(BestEpoch { epoch, valid_nll }) = summary.best else { return };
    let raw = summary
        .log_scale
        .map(|log_scale| format!("; in raw units, as `quaver eval` prints it: {:.4}", valid_nll + log_scale));
    let stop = match summary.stop {
        StopReason::Epochs => "all epochs are done".to_string(),
        StopReason::Patience => {
            format!("{} epochs have brought no improvement (training.patience)", config.training.patience)
        }
        StopReason::Time => "the time is up (training.max_minutes)".to_string(),
    };
    let (loss, raw) = (config.loss_name(), raw.unwrap_or_default());
    let kept = match config.training.keep {
        StateSelection::Best => "best",
        StateSelection::Last => "last",
    };
    print_note(&format!("{stop}; {kept} epoch {epoch}: validation {loss} {valid_nll:.4} nats per step{raw}"));
}

impl Progress for TrainingConsole {
    fn notice(&mut self, line: &str) {
        self.print_line(&format!("note: {line}"));
    }

    fn start(&mut self, plan: &RunPlan) {
        let style = ProgressStyle::with_template("{bar:32} epoch {msg}, {eta} left at most");
        self.bar.set_style(style.expect("a valid template"));
        self.bar.set_length((plan.epochs * plan.steps_per_epoch) as u64);
        self.bar.set_position((plan.done * plan.steps_per_epoch) as u64);
        self.bar.reset_eta();
        self.print_line(&format!(
            "training {} parameters, at most {} epochs of {} steps",
            plan.parameters, plan.epochs, plan.steps_per_epoch
        ));
        self.plan = Some(*plan);
    }

    fn step(&mut self, step: &StepReport) {
        self.bar.inc(1);
        let (epochs, loss) = self.plan.map_or((0, "NLL"), |plan| (plan.epochs, plan.loss));
        self.bar.set_message(format!("{}/{epochs}, training: {loss} {:.4}", step.epoch, step.train_nll));
    }

    fn epoch(&mut self, metrics: &EpochMetrics, seconds: f64) {
        let mark = if metrics.best { "  best so far" } else { "" };
        let loss = self.plan.map_or("NLL", |plan| plan.loss);
        let kl = metrics.valid_kl.map_or_else(String::new, |kl| format!(", of which KL {kl:>7.4}"));
        let skipped = match metrics.skipped {
            0 => String::new(),
            steps => format!("  {steps} steps left out: loss or gradient not finite"),
        };
        let perplexity = match self.plan.is_some_and(|plan| plan.per_token) {
            true => format!(" (perplexity {:.2})", metrics.valid_nll.exp()),
            false => String::new(),
        };
        self.print_line(&format!(
            "epoch {:>4}  {loss}: training {:>9.4}  validation {:>9.4}{perplexity}{kl}  {seconds:>6.1} s{mark}{skipped}",
            metrics.epoch, metrics.train_nll, metrics.valid_nll
        ));
    }
}

impl Drop for TrainingConsole {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
