//! The reading of large files on a terminal: a progress bar, or plain lines if standard error is none.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::print::print_note;
use crate::data::ReadingObserver;

/// What takes less is not worth a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two lines where there is no terminal.
const INTERVAL: Duration = Duration::from_secs(10);

/// Shows how far the reading of files has come, from two seconds on.
#[derive(Default)]
pub(super) struct ReadingConsole(Mutex<Option<Shown>>);

/// Files that are being read.
struct Shown {
    begun: Instant,
    files: usize,
    bytes: u64,
    read: u64,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Shown {
    /// Shows the bar, or a line, if it is time.
    fn show(&mut self, now: Instant, is_terminal: bool) -> Option<String> {
        if now.duration_since(self.begun) < PATIENCE {
            return None;
        }
        if !is_terminal {
            let is_due = self.last_line.is_none_or(|last| now.duration_since(last) >= INTERVAL);
            return is_due.then(|| {
                self.last_line = Some(now);
                format!("reading {}: {} of {}", self.what(), megabytes(self.read), megabytes(self.bytes))
            });
        }
        let (what, bytes) = (self.what(), self.bytes);
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(bytes);
            let style = "{bar:32} reading {msg}: {decimal_bytes} of {decimal_total_bytes}, {eta} left";
            bar.set_style(ProgressStyle::with_template(style).expect("a valid template"));
            bar.set_message(what);
            bar
        });
        bar.set_position(self.read.min(bytes));
        None
    }

    fn what(&self) -> String {
        if self.files == 1 { "a file".into() } else { format!("{} files", self.files) }
    }
}

impl ReadingObserver for ReadingConsole {
    fn begin(&self, files: usize, bytes: u64) {
        let shown = Shown { begun: Instant::now(), files, bytes, read: 0, bar: None, last_line: None };
        *self.0.lock().expect("no observer panics") = Some(shown);
    }

    fn advance(&self, bytes: u64) {
        if let Some(shown) = self.0.lock().expect("no observer panics").as_mut() {
            shown.read += bytes;
            if let Some(line) = shown.show(Instant::now(), stderr().is_terminal()) {
                print_note(&line);
            }
        }
    }

    fn end(&self) {
        let Some(shown) = self.0.lock().expect("no observer panics").take() else { return };
        if let Some(bar) = &shown.bar {
            bar.finish_and_clear();
        }
        if shown.last_line.is_some() {
            let seconds = shown.begun.elapsed().as_secs_f64();
            print_note(&format!("read {} in {seconds:.1} s", megabytes(shown.read)));
        }
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_shown_now_and_then() {
        let begun = Instant::now();
        let mut shown =
            Shown { begun, files: 100, bytes: 5_000_000, read: 1_000_000, bar: None, last_line: None };
        let mut at = |seconds: u64| shown.show(begun + Duration::from_secs(seconds), false);
        assert_eq!(at(1), None);
        assert_eq!(at(2).as_deref(), Some("reading 100 files: 1 MB of 5 MB"));
        assert_eq!(at(3), None);
        assert!(at(12).is_some());
        assert_eq!(shown.show(begun + Duration::from_secs(13), true), None);
        assert_eq!(shown.bar.as_ref().map(ProgressBar::position), Some(1_000_000));
    }
}
