//! How error bars fare on rows unlike the training data.

use quaver::Model;
use serde::Serialize;

use super::scores::for_each_value;
use crate::data::Sequence;
use crate::prediction::{SequencePrediction, excess_distances};

/// Half the width of the central 90 % interval of a normal distribution, in standard deviations.
const NORMAL_90: f64 = 1.644_853_6;

/// Steps whose rows a model with an input density calls novel
/// ([`Novelty::is_novel`](quaver::Novelty::is_novel)), and the coverage of 90 % intervals on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NovelRows {
    /// Values that were predicted from a novel row.
    pub novel_values: usize,
    /// The proportion of them inside their interval, if there are any.
    pub novel_coverage: Option<f64>,
    /// Values that were predicted from a familiar row.
    pub familiar_values: usize,
    /// The proportion of them inside their interval, if there are any.
    pub familiar_coverage: Option<f64>,
}

/// Counts novel rows; nothing for a checkpoint without an input density.
///
/// # Errors
/// If the bytes are not a checkpoint.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn novel_rows(
    bytes: &[u8],
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Result<Option<NovelRows>, quaver::Error> {
    let model = Model::load(bytes)?;
    if model.spec().extensions.density.is_none() {
        return Ok(None);
    }
    let distances =
        sequences.iter().map(|sequence| excess_distances(&model, sequence)).collect::<Result<Vec<_>, _>>()?;
    let (mut values, mut inside) = ([0_usize; 2], [0_usize; 2]);
    for_each_value(sequences, predictions, |place, value| {
        let novel = usize::from(distances[place.sequence][place.step] > 0.0);
        values[novel] += 1;
        inside[novel] += usize::from(value.z().abs() <= NORMAL_90);
    });
    let [familiar_coverage, novel_coverage] =
        [0, 1].map(|kind| (values[kind] > 0).then(|| inside[kind] as f64 / values[kind] as f64));
    Ok(Some(NovelRows {
        novel_values: values[1],
        novel_coverage,
        familiar_values: values[0],
        familiar_coverage,
    }))
}
