//! What an accepted file has to stand while its output layer learns.

use quaver::{AdaptOptions, AdaptivePredictor, Covariance, Model};

use super::dice::{Dice, Style};
use super::rows::{bits, check, garbage, refused, row, same, same_state};
use super::trial::Outcome;

/// Rows with labels before a stream is saved, and after it is restored.
const ROWS: [usize; 2] = [6, 3];
/// Most features of a full covariance: it has their square.
const MOST_FEATURES: usize = 64;

/// Adapts a model to hostile labels, if it can be adapted.
///
/// # Errors
/// Says which promise was broken.
pub fn run(bytes: &[u8], dice: &mut Dice) -> Result<Outcome, String> {
    let Ok(model) = Model::load(bytes) else { return Ok(Outcome::Refused) };
    let features = model.spec().layers.last().map_or(0, |layer| usize::from(layer.units)) + 1;
    let covariance = match features <= MOST_FEATURES && dice.once_in(2) {
        true => Covariance::Full,
        false => Covariance::Diagonal,
    };
    let options = AdaptOptions {
        covariance,
        prior: dice.number([1e-6, 1e6], Style::Mixed),
        forgetting: dice.number([0.9_f32.next_up(), 1.0], Style::Mixed),
        correlation: dice.number([1.0, 1e6], Style::Mixed),
    };
    let words = AdaptivePredictor::arena_words(&model, &options);
    let [mut words, mut other] = [garbage(words), garbage(words)];
    let Ok(mut predictor) = AdaptivePredictor::load_in(bytes, &mut words, options) else {
        return Ok(Outcome::Refused);
    };
    let (inputs, outputs) = (usize::from(model.spec().inputs), usize::from(model.spec().outputs));
    for _ in 0..ROWS[0] {
        let (row, truth) = (row(inputs, dice), row(outputs, dice));
        check(&predictor.step(&row)).map_err(|error| format!("adaptive: {error} after {row:?}"))?;
        predictor.learn(&truth);
    }
    predictor.check_state().map_err(|error| format!("adaptive: check_state: {error}"))?;
    let [mut saved, mut again] = [garbage(predictor.saved_words()), garbage(predictor.saved_words())];
    predictor.save(&mut saved).map_err(|error| format!("adaptive: save: {error}"))?;
    let mut restored =
        AdaptivePredictor::load_in(bytes, &mut other, options).map_err(|error| error.to_string())?;
    restored.restore(&saved).map_err(|error| refused(error, &saved))?;
    restored.save(&mut again).map_err(|error| format!("adaptive: save again: {error}"))?;
    same_state(&saved, &again)?;
    for _ in 0..ROWS[1] {
        let (row, truth) = (row(inputs, dice), row(outputs, dice));
        let (first, second) = (bits(&predictor.step(&row)), bits(&restored.step(&row)));
        same(&first, &second, "a restored adaptive predictor continues with other bits")?;
        if predictor.learn(&truth) != restored.learn(&truth) {
            return Err("a restored adaptive predictor learns otherwise".into());
        }
    }
    Ok(Outcome::Stepped(ROWS.iter().sum::<usize>() as u64))
}
