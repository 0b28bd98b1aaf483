//! A session as one endless stream, with a class after every sample.

use anyhow::{Context, Result};
use quaver::{Reducer, ReducerModel};

use crate::data::Rows;
use crate::demo::signal::{GESTURES, GestureRecording};
use crate::evaluate::{ClassificationScores, Classified};

/// Rows of an example: a window of the config, and those before it that warm the network up.
const WINDOW: usize = 20;
const WARM_UP: usize = 20;

/// The answers after every sample of a session.
pub(in crate::commands::demo) struct StreamScores {
    /// Scores of the samples of known classes.
    pub(in crate::commands::demo) scores: ClassificationScores,
    /// The class after every sample, none if the model refused.
    pub(in crate::commands::demo) answers: Vec<Option<usize>>,
}

impl StreamScores {
    /// Feeds the whole session to the runtime without a new beginning.
    pub(super) fn new(bytes: &[u8], classes: &[String], session: &GestureRecording) -> Result<Self> {
        let mut words = vec![0.0; ReducerModel::load(bytes)?.arena_words()];
        let mut reducer = Reducer::load_in(bytes, &mut words)?;
        let (mut answers, mut labels, mut predicted) = (Vec::new(), Vec::new(), Vec::new());
        let mut probabilities = Rows::new(classes.len());
        for (row, gesture) in session.emg.iter().zip(&session.gesture) {
            reducer.step(row);
            let found = reducer.classify().context("the model has a classifier")?;
            answers.push(found.known.then_some(found.class));
            let Some(label) = gesture.and_then(|gesture| index(classes, gesture)) else { continue };
            labels.push(label);
            predicted.push(found.class);
            probabilities.values.extend(found.probabilities);
        }
        let classified = Classified {
            classes,
            labels: &labels,
            predicted: &predicted,
            probabilities: Some(&probabilities),
        };
        Ok(Self { scores: classified.scores(), answers })
    }
}

/// The index of a gesture among the classes of a model, which are in the order of the alphabet.
pub(super) fn index(classes: &[String], gesture: usize) -> Option<usize> {
    classes.iter().position(|class| class == GESTURES[gesture])
}

/// All rows of a session.
pub(super) fn rows(session: &GestureRecording) -> Rows {
    let channels = session.emg.first().map_or(0, |row| row.len());
    Rows { channels, values: session.emg.iter().flatten().copied().collect() }
}

/// Windows in the middle of the first efforts of a gesture.
pub(super) fn examples(session: &GestureRecording, gesture: usize, count: usize) -> Vec<Rows> {
    let rows = rows(session);
    let mut examples = Vec::new();
    let mut start = 0;
    for run in session.gesture.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        let middle = usize::midpoint(start, end);
        start = end;
        if run[0] == Some(gesture) && run.len() >= WINDOW && examples.len() < count {
            let first = (middle - WINDOW / 2).max(end - run.len());
            examples.push(rows.slice(first.saturating_sub(WARM_UP)..first + WINDOW));
        }
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::signal::generate_gestures;

    #[test]
    fn examples_are_whole_windows_of_one_gesture() {
        let session = generate_gestures(5, 60.0);
        let gesture = GESTURES.len() - 1;
        let found = examples(&session, gesture, 3);
        assert_eq!(found.iter().map(Rows::len).collect::<Vec<_>>(), [WARM_UP + WINDOW; 3]);
        let all = rows(&session);
        for example in found {
            let at = (0..all.len() - example.len()).find(|start| {
                let bits = |rows: &Rows| rows.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                bits(&all.slice(*start..start + example.len())) == bits(&example)
            });
            let at = at.expect("an example is a part of the session") + WARM_UP;
            assert!(session.gesture[at..at + WINDOW].iter().all(|label| *label == Some(gesture)));
        }
    }
}
