//! A class that a model was trained without, taught by examples as a device would.

use anyhow::{Result, bail, ensure};
use serde::Serialize;

use super::samples::LabelledSamples;
use crate::config::DataConfig;
use crate::data::Rows;
use crate::prediction::TaughtPrototypes;

/// What was taught.
#[derive(Debug, Serialize)]
pub(super) struct Teaching {
    pub(super) class: String,
    pub(super) shots: usize,
}

/// Takes a class out of the list of those that the data leave out.
pub(super) fn include(data: &mut DataConfig, class: &str, classes: &[String]) -> Result<()> {
    if classes.iter().any(|known| known == class) {
        bail!(
            "--teach {class}: the model was trained on this class; train one without it: \
             --set 'data.labels.exclude=[\"{class}\"]'"
        );
    }
    let Some(labels) = &mut data.labels else { return Ok(()) };
    let is_it =
        |excluded: &String| excluded == class || labels.names.get(excluded).is_some_and(|name| name == class);
    let Some(index) = labels.exclude.iter().position(is_it) else {
        bail!(
            "--teach {class}: not one of the classes that were left out of training (data.labels.exclude: {})",
            labels.exclude.join(", ")
        )
    };
    labels.exclude.remove(index);
    Ok(())
}

/// Teaches class number `class` by training sequences of it, evenly spaced; those of windows are from the
/// middle of its repetitions.
pub(super) fn by_examples(
    bytes: &[u8],
    name: &str,
    class: usize,
    train: &LabelledSamples<'_>,
    shots: usize,
) -> Result<TaughtPrototypes> {
    let candidates = train.of_class(class);
    ensure!(
        candidates.len() >= shots,
        "--teach {name}: {} training sequences of it, but --shots is {shots}",
        candidates.len()
    );
    let examples: Vec<(usize, &Rows)> =
        chosen(&candidates, shots).into_iter().map(|index| (class, train.rows[index])).collect();
    Ok(TaughtPrototypes::new(bytes, &examples)?)
}

/// `shots` of the candidates, in order: from the middle of as many runs of neighbouring candidates, which are
/// the repetitions of a gesture in a stream that was cut into windows; where there are fewer runs, from the
/// middle of parts of equal size. At the borders of a repetition a person is still about to begin or to end
/// it, and nobody teaches so.
fn chosen(candidates: &[usize], shots: usize) -> Vec<usize> {
    let runs: Vec<&[usize]> = candidates.chunk_by(|one, next| one + 1 == *next).collect();
    let middle = |count: usize, shot: usize| (2 * shot + 1) * count / (2 * shots);
    let of_shot = |shot: usize| {
        if runs.len() < shots {
            return candidates[middle(candidates.len(), shot)];
        }
        let run = runs[middle(runs.len(), shot)];
        run[run.len() / 2]
    };
    (0..shots).map(of_shot).collect()
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn examples_are_from_the_middle_of_repetitions() {
        let repetitions: Vec<usize> = [10..20, 40..50, 70..80, 100..110].into_iter().flatten().collect();
        assert_eq!(chosen(&repetitions, 2), [45, 105]);
        assert_eq!(chosen(&repetitions, 4), [15, 45, 75, 105]);
        // Fewer repetitions than examples, or sequences on their own.
        assert_eq!(chosen(&[3, 4, 5, 6, 7, 8], 3), [4, 6, 8]);
        assert_eq!(chosen(&[1, 5, 9, 20], 2), [5, 20]);
    }
}
