//! The progress of a search on a terminal, or as plain lines.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::auto::{SearchEvent, TimedSearchReport};
use crate::commands::print::print_note;
use crate::printable::escaped;
use crate::survey::short;

/// Prints to standard error, so that standard output contains results only.
pub(super) struct FitConsole {
    bar: ProgressBar,
    time: Duration,
}

impl FitConsole {
    pub(super) fn new(time: Duration) -> Self {
        let bar = if stderr().is_terminal() {
            ProgressBar::new(time.as_secs().max(1))
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template(
            "{spinner} {elapsed_precise} {msg}  (Ctrl-C ends with the best so far)",
        );
        bar.set_style(style.expect("a valid template"));
        bar.set_message(format!("searching for {}", in_words(time)));
        bar.enable_steady_tick(Duration::from_millis(250));
        FitConsole { bar, time }
    }

    fn print_line(&self, line: &str) {
        if self.bar.is_hidden() { print_note(line) } else { self.bar.println(escaped(line)) }
    }

    pub(super) fn show(&self, event: &SearchEvent) {
        match event {
            SearchEvent::Planned { epoch_seconds, epochs } => self.print_line(&format!(
                "search   for {}; an epoch takes {} s, a whole run {epochs} of them",
                in_words(self.time),
                short(*epoch_seconds)
            )),
            SearchEvent::Trial { name, epochs, result, best, left } => {
                let result = match result {
                    Ok(loss) => format!("validation loss {loss:>8.4}"),
                    Err(reason) => format!("failed: {reason}"),
                };
                let best = best.map_or("none".into(), |best| format!("{best:.4}"));
                let left = in_words(*left);
                self.bar.set_message(format!("best so far {best}, {left} left"));
                self.print_line(&format!(
                    "trial {name:<38} {epochs:>4} epochs  {result}  best so far {best}, {left} left"
                ));
            }
        }
    }

    pub(super) fn finish(&self, searched: &TimedSearchReport) {
        let why = if searched.was_interrupted { "stopped; the same command continues" } else { "time is up" };
        self.bar.finish_and_clear();
        print_note(&format!("{why}: {} trials, the best is {}", searched.trials.len(), searched.best().name));
    }
}

impl Drop for FitConsole {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A time such as 9:05 min or 42 s.
pub(super) fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    if seconds < 100 { format!("{seconds} s") } else { format!("{}:{:02} min", seconds / 60, seconds % 60) }
}
