//! Labels for rows while they are recorded: a key per label, or cues at fixed times.

use std::io::Read;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::Stop;
use crate::hub::Hub;
use crate::layout::cleaned;
use crate::record::Progress;

/// Most labels: one per digit.
const MAX_LABELS: usize = 9;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Label the rows to come: its number from 1, or 0 for none.
    Label(u8),
    /// End the recording.
    End,
}

/// The keys of some labels: digits in order, and first letters where they differ.
#[derive(Clone, Debug)]
pub struct Keys {
    labels: Vec<String>,
    letters: Vec<Option<char>>,
}

impl Keys {
    /// Keys for these labels.
    ///
    /// # Errors
    /// If there are none or too many, or two are equal, or one cannot be a name of a column.
    pub fn new(labels: &[String]) -> Result<Self> {
        ensure!(
            (1..=MAX_LABELS).contains(&labels.len()),
            "give from 1 to {MAX_LABELS} labels, separated by commas"
        );
        for (index, label) in labels.iter().enumerate() {
            if label.is_empty() || *label != cleaned(label) {
                bail!("the label `{}` is not a plain word: use letters, digits, - and _", cleaned(label));
            }
            ensure!(!labels[..index].contains(label), "the label `{label}` is given twice");
        }
        let first = |label: &String| label.chars().next().map(|letter| letter.to_ascii_lowercase());
        let firsts: Vec<Option<char>> = labels.iter().map(first).collect();
        let is_free = |letter: &char| {
            let is_unique = firsts.iter().filter(|other| **other == Some(*letter)).count() == 1;
            letter.is_alphabetic() && *letter != 'q' && is_unique
        };
        let letters = firsts.iter().map(|letter| letter.filter(is_free)).collect();
        Ok(Keys { labels: labels.to_vec(), letters })
    }

    /// The names, in order.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// What a key does; `None` for one without meaning.
    pub fn action(&self, key: char) -> Option<Action> {
        let key = key.to_ascii_lowercase();
        if matches!(key, '0' | ' ') {
            return Some(Action::Label(0));
        }
        let digit = key.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1));
        let index = digit.or_else(|| self.letters.iter().position(|letter| *letter == Some(key)));
        match index.filter(|index| *index < self.labels.len()) {
            Some(index) => Some(Action::Label(index as u8 + 1)),
            None if matches!(key, 'q' | '\u{4}') => Some(Action::End),
            None => None,
        }
    }

    /// One line that shows all keys: `1 r: rest   2 f: fist   0 or space: none   q: end`.
    pub fn help(&self) -> String {
        let key = |(index, (label, letter)): (usize, (&String, &Option<char>))| {
            let letter = letter.map_or(String::new(), |letter| format!(" {letter}"));
            format!("{}{letter}: {label}", index + 1)
        };
        let keys: Vec<String> = self.labels.iter().zip(&self.letters).enumerate().map(key).collect();
        format!("{}   0 or space: none   q: end", keys.join("   "))
    }

    /// Follows keys until they end. `stop` is set by the key that ends.
    pub fn follow(&self, mut keys: impl Read, hub: &Hub, stop: &Stop) {
        let mut buffer = [0; 64];
        while let Ok(count) = keys.read(&mut buffer) {
            let actions = buffer[..count].iter().map(|byte| self.action(char::from(*byte)));
            for action in actions.flatten() {
                match action {
                    Action::Label(label) => hub.set_label(label),
                    Action::End => return stop.set(),
                }
            }
            if count == 0 {
                return;
            }
        }
    }

    /// A line about a recording: `00:12  2,400 rows  now: fist  (rest 800, fist 1,600)`.
    pub fn line(&self, progress: &Progress, current: u8) -> String {
        let seconds = progress.seconds as u64;
        let now = usize::from(current).checked_sub(1).and_then(|index| self.labels.get(index));
        let counts = self.labels.iter().zip(&progress.labelled);
        let counts: Vec<String> = counts.map(|(label, count)| format!("{label} {count}")).collect();
        format!(
            "{:02}:{:02}  {} rows  now: {}  ({})",
            seconds / 60,
            seconds % 60,
            progress.rows,
            now.map_or("none", String::as_str),
            counts.join(", ")
        )
    }
}

/// Labels that change by themselves, for one who has no hand free.
#[derive(Clone, Copy, Debug)]
pub struct Cues {
    every: Duration,
    labels: u8,
    begun: Instant,
}

impl Cues {
    /// Each of so many labels in turn, `every` so often, from now on.
    pub fn new(every: Duration, labels: usize) -> Self {
        Cues { every, labels: labels as u8, begun: Instant::now() }
    }

    /// Number of the label that is due, and the time until the next.
    pub fn due(&self) -> (u8, Duration) {
        let (passed, every) = (self.begun.elapsed().as_secs_f64(), self.every.as_secs_f64());
        let count = (passed / every) as u64;
        let rest = every - passed % every;
        ((count % u64::from(self.labels)) as u8 + 1, Duration::from_secs_f64(rest))
    }
}

/// A terminal that passes keys on at once and does not show them, until this is dropped.
#[cfg(unix)]
#[derive(Debug)]
pub struct SingleKeys<T: std::os::fd::AsFd> {
    terminal: T,
    before: rustix::termios::Termios,
}

#[cfg(unix)]
impl<T: std::os::fd::AsFd> SingleKeys<T> {
    /// Changes the terminal; `None` if it is none. Ctrl-C still interrupts.
    pub fn new(terminal: T) -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(&terminal).ok()?;
        let mut single = before.clone();
        single.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        tcsetattr(&terminal, OptionalActions::Now, &single).ok()?;
        Some(SingleKeys { terminal, before })
    }
}

#[cfg(unix)]
impl<T: std::os::fd::AsFd> Drop for SingleKeys<T> {
    fn drop(&mut self) {
        let _ =
            rustix::termios::tcsetattr(&self.terminal, rustix::termios::OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(labels: &[&str]) -> Result<Keys> {
        Keys::new(&labels.iter().map(|label| label.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn digits_and_letters_that_differ_are_keys() {
        let keys = keys(&["rest", "fist", "Point", "pinch", "quiet"]).expect("labels");
        for (key, label) in [('1', 1), ('r', 1), ('F', 2), ('3', 3), ('4', 4), ('5', 5), (' ', 0), ('0', 0)] {
            assert_eq!(keys.action(key), Some(Action::Label(label)), "{key:?}");
        }
        assert_eq!([keys.action('p'), keys.action('6'), keys.action('\n')], [None; 3]);
        assert_eq!(keys.action('q'), Some(Action::End));
        assert!(keys.help().starts_with("1 r: rest   2 f: fist   3: Point"));
    }

    #[test]
    fn labels_are_plain_and_different() {
        assert!(keys(&[]).is_err() && keys(&["a"; 10]).is_err());
        assert!(keys(&["a", "a"]).expect_err("twice").to_string().contains("given twice"));
        assert!(keys(&["a,b"]).expect_err("a comma").to_string().contains("plain word"));
    }

    #[test]
    fn scripted_keys_set_labels_and_end() {
        let (hub, stop) = (Hub::default(), Stop::default());
        hub.set_layout(crate::layout::Layout::numbered(1, 0));
        keys(&["rest", "fist"]).expect("labels").follow(&b"x2\nq1"[..], &hub, &stop);
        assert!(stop.is_set());
        hub.push(crate::row::Meta::default(), &[1.0]);
        let mut batch = crate::hub::Batch::default();
        hub.read(&mut Default::default(), 9, 9, &mut batch);
        assert_eq!(batch.metas[0].label, 2);
    }

    #[test]
    fn cues_take_turns() {
        let cues = Cues { every: Duration::from_secs(3), labels: 2, begun: Instant::now() };
        assert_eq!(cues.due().0, 1);
        let earlier = |seconds| Cues { begun: Instant::now() - Duration::from_millis(seconds), ..cues };
        assert_eq!([earlier(3100).due().0, earlier(6100).due().0, earlier(9100).due().0], [2, 1, 2]);
        assert!(earlier(3100).due().1 < Duration::from_secs(3));
    }

    #[test]
    fn a_line_shows_what_was_recorded() {
        let keys = keys(&["rest", "fist"]).expect("labels");
        let progress = Progress { rows: 24, seconds: 72.5, labelled: vec![8, 16], ..Progress::default() };
        assert_eq!(keys.line(&progress, 2), "01:12  24 rows  now: fist  (rest 8, fist 16)");
        assert!(keys.line(&progress, 0).contains("now: none"));
    }

    /// A terminal gets back the modes that it had.
    #[cfg(unix)]
    #[test]
    fn a_terminal_is_left_as_it_was() {
        use rustix::termios::{LocalModes, tcgetattr};
        use serialport::SerialPort;
        let (_keyboard, terminal) = serialport::TTYPort::pair().expect("a pseudo terminal");
        let terminal = std::fs::File::open(terminal.name().expect("a name")).expect("a terminal");
        let mut modes = tcgetattr(&terminal).expect("modes");
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO;
        rustix::termios::tcsetattr(&terminal, rustix::termios::OptionalActions::Now, &modes).expect("modes");
        let single = SingleKeys::new(&terminal).expect("a terminal");
        assert!(!tcgetattr(&terminal).expect("modes").local_modes.contains(LocalModes::ICANON));
        drop(single);
        assert!(
            tcgetattr(&terminal).expect("modes").local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
        );
        assert!(SingleKeys::new(std::fs::File::open("Cargo.toml").expect("a file")).is_none());
    }
}
