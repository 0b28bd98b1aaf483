//! How far rows are from the training rows, as a device measures it.

use quaver::Model;

use crate::data::Sequence;

/// Distance beyond the familiar of the row that the model read last before each prediction; 0 for a familiar
/// row, for the first prediction of a model of its own next input, and without an input density.
///
/// # Errors
/// If the stream does not start.
pub(crate) fn excess_distances(model: &Model<'_>, sequence: &Sequence) -> Result<Vec<f64>, quaver::Error> {
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    let late = usize::from(model.spec().target.is_next());
    let mut step = |row: &[f32]| {
        let novelty = model.step(&mut state, row).novelty();
        novelty.map_or(0.0, |novelty| f64::from(novelty.distance - novelty.familiar).max(0.0))
    };
    let read = sequence.inputs.iter().take(sequence.len() - late.min(sequence.len()));
    let found: Vec<f64> = read.map(&mut step).collect();
    Ok(std::iter::repeat_n(0.0, late).chain(found).collect())
}
