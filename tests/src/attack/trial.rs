//! What an accepted file of one network has to stand.

use quaver::Model;

use super::dice::Dice;
use super::network::Network;
use super::rows::{bits, check, garbage, masked, refused, row, same, same_as_missing, same_state, vars};

/// Rows before a stream is saved, and after it is restored.
const ROWS: [usize; 2] = [5, 3];

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Refused, with an error.
    Refused,
    /// Accepted, and stepped this often.
    Stepped(u64),
}

/// Loads a file of one network and, if it is accepted, steps it.
///
/// # Errors
/// Says which promise was broken.
pub fn run(bytes: &[u8], dice: &mut Dice) -> Result<Outcome, String> {
    let Ok(model) = Model::load(bytes) else { return Ok(Outcome::Refused) };
    let written = Network::decode(bytes).map(|network| network.encode());
    if written.as_deref() != Some(bytes) {
        return Err("what was read is written as other bytes".into());
    }
    // At another address: sums read their words in another way.
    let shifted = [&[0], bytes].concat();
    let twin = Model::load(&shifted[1..]).map_err(|error| format!("refused at another address: {error}"))?;

    let spec = model.spec();
    let cost = spec.step_cost();
    if Model::load_within(bytes, cost).is_err() || Model::load_within(bytes, cost - 1).is_ok() {
        return Err(format!("a budget of {cost} multiply-accumulates is not that of a step"));
    }
    let [mut words, mut other] = [garbage(spec.arena_words()), garbage(spec.arena_words())];
    let mut state = model.start_in(&mut words).map_err(|error| error.to_string())?;
    check(&model.prediction(&state))?;
    let (inputs, outputs) = (usize::from(spec.inputs), usize::from(spec.outputs));
    for _ in 0..ROWS[0] {
        let (row, vars, truth) = (row(inputs, dice), vars(inputs, dice), row(outputs, dice));
        let prediction = model.step_uncertain(&mut state, &row, &vars);
        check(&prediction)
            .map_err(|error| format!("{error} after the row {row:?} with variances {vars:?}"))?;
        for (index, output) in prediction.iter().enumerate() {
            let [low, high] =
                model.interval(index, output, dice.pick(&[0.5, 0.9, 0.99, f32::NAN, 2.0, -1.0]));
            if !(low.is_finite() && high.is_finite() && low <= high) {
                return Err(format!("interval {low} to {high} of {output:?}"));
            }
        }
        model.observe(&mut state, &truth);
        if model.variance_scales(&state).iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
            return Err(format!("factors on variances {:?}", model.variance_scales(&state)));
        }
    }

    model.check_state(&state).map_err(|error| format!("check_state: {error}"))?;
    let [mut saved, mut again] = [garbage(spec.saved_words()), garbage(spec.saved_words())];
    model.save(&state, &mut saved).map_err(|error| format!("save: {error}"))?;
    let mut restored = twin.start_in(&mut other).map_err(|error| error.to_string())?;
    twin.restore(&mut restored, &saved).map_err(|error| refused(error, &saved))?;
    twin.save(&restored, &mut again).map_err(|error| format!("save again: {error}"))?;
    same_state(&saved, &again)?;
    for _ in 0..ROWS[1] {
        let (row, vars) = (row(inputs, dice), vars(inputs, dice));
        let first = model.step_uncertain(&mut state, &row, &vars);
        check(&first)?;
        let second = twin.step_uncertain(&mut restored, &row, &vars);
        same(&bits(&first), &bits(&second), "a restored stream continues with other bits")?;
    }
    let (row, vars) = (row(inputs, dice), vars(inputs, dice));
    let (masked, channels) = masked(&row, model.ranges());
    let before = model.implausible_count(&state) as usize;
    let first = model.step_uncertain(&mut state, &row, &vars);
    same_as_missing(&first, &channels, &twin.step_uncertain(&mut restored, &masked, &vars))?;
    if model.implausible_count(&state) as usize != before + channels.len() {
        return Err(format!("{} implausible values are not counted", channels.len()));
    }
    Ok(Outcome::Stepped(1 + ROWS.iter().sum::<usize>() as u64))
}
