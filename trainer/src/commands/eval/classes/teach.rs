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

/// Teaches class number `class` by training sequences of it, evenly spaced.
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
    // From the middle of each of `shots` parts of equal size.
    let chosen = (0..shots).map(|shot| candidates[(2 * shot + 1) * candidates.len() / (2 * shots)]);
    let examples: Vec<(usize, &Rows)> = chosen.map(|index| (class, train.rows[index])).collect();
    Ok(TaughtPrototypes::new(bytes, &examples)?)
}
