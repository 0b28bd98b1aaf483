//! What an accepted file of a reducer has to stand.

use quaver::checkpoint::ClassifierSpec;
use quaver::{Reducer, ReducerModel};

use super::dice::Dice;
use super::reducer_spec::CraftedReducer;
use super::rows::{garbage, masked, refused, row, same, same_state, vars};
use super::trial::Outcome;

/// Rows before a stream is saved, and after it is restored.
const ROWS: [usize; 2] = [5, 3];

/// Loads a file of a reducer and, if it is accepted, steps it.
///
/// # Errors
/// Says which promise was broken.
pub fn run(bytes: &[u8], dice: &mut Dice) -> Result<Outcome, String> {
    let Ok(model) = ReducerModel::load(bytes) else { return Ok(Outcome::Refused) };
    let written = CraftedReducer::decode(bytes).map(|reducer| reducer.encode());
    if written.as_deref() != Some(bytes) {
        return Err("what was read is written as other bytes".into());
    }
    let cost = model.step_cost();
    if ReducerModel::load_within(bytes, cost).is_err() || ReducerModel::load_within(bytes, cost - 1).is_ok() {
        return Err(format!("a budget of {cost} multiply-accumulates is not that of a step"));
    }
    let channels = usize::from(model.network().spec().inputs);
    let [mut words, mut other] = [garbage(model.arena_words()), garbage(model.arena_words())];
    let mut memory = garbage(model.classes() + 1 + 2 * (model.dimensions() + 1));
    let mut reducer = Reducer::load_in(bytes, &mut words).map_err(|error| error.to_string())?;
    if matches!(model.spec().classifier, ClassifierSpec::Nearest { .. }) && dice.once_in(2) {
        reducer = reducer.teach_in(&mut memory, 1).map_err(|error| format!("teach_in: {error}"))?;
    }
    for _ in 0..ROWS[0] {
        let (row, vars) = (row(channels, dice), vars(channels, dice));
        reducer.step_uncertain(&row, &vars);
        answers(&mut reducer).map_err(|error| format!("{error} after {row:?} with variances {vars:?}"))?;
        if dice.once_in(3) {
            reducer.teach(dice.below(model.classes() + 2));
        }
    }
    let taught = reducer.taught().to_vec();
    if reducer.restore_taught(&taught) == taught.is_empty() && !taught.is_empty() {
        return Err(format!("what was taught is refused: {taught:?}"));
    }
    let [mut saved, mut again] = [garbage(model.saved_words()), garbage(model.saved_words())];
    reducer.check_state().map_err(|error| format!("check_state: {error}"))?;
    reducer.save(&mut saved).map_err(|error| format!("save: {error}"))?;
    // At another address: sums read their words in another way.
    let shifted = [&[0], bytes].concat();
    let mut restored = Reducer::load_in(&shifted[1..], &mut other)
        .map_err(|error| format!("refused at another address: {error}"))?;
    restored.restore(&saved).map_err(|error| refused(error, &saved))?;
    restored.save(&mut again).map_err(|error| format!("save again: {error}"))?;
    same_state(&saved, &again)?;
    damaged_states(&mut restored, &saved, channels, dice)?;
    reducer.forget_taught();
    for _ in 0..ROWS[1] {
        let row = row(channels, dice);
        reducer.step(&row);
        restored.step(&row);
        let (first, second) = (embedding(&mut reducer), embedding(&mut restored));
        same(&first, &second, "a restored reducer continues with other bits")?;
    }
    let row = row(channels, dice);
    let (masked, _) = masked(&row, model.network().ranges());
    reducer.step(&row);
    restored.step(&masked);
    let (first, second) = (embedding(&mut reducer), embedding(&mut restored));
    same(&first, &second, "an implausible value is not as a missing one")?;
    reducer.begin();
    if reducer.embedding().is_some() || reducer.classify().is_some() {
        return Err("an answer before the first row".into());
    }
    Ok(Outcome::Stepped(1 + ROWS.iter().sum::<usize>() as u64))
}

/// A saved stream with other words is refused, or continues with possible answers; then the saved one is
/// restored.
fn damaged_states(
    reducer: &mut Reducer<'_, '_>,
    saved: &[f32],
    channels: usize,
    dice: &mut Dice,
) -> Result<(), String> {
    const WORDS: [f32; 10] = [0.0, 0.5, -1.0, 1e-30, 3.0, 1e6, -1e6, 1e12, 1e24, 16_777_216.0];
    for _ in 0..4 {
        let mut damaged = saved.to_vec();
        for _ in 0..=dice.below(3) {
            let word = dice.below(damaged.len());
            damaged[word] = dice.pick(&WORDS);
        }
        if reducer.restore(&damaged).is_ok() {
            reducer.step(&row(channels, dice));
            answers(reducer).map_err(|error| format!("{error} after the state {damaged:?}"))?;
            reducer.check_state().map_err(|error| format!("{error} after the state {damaged:?}"))?;
        }
    }
    reducer.restore(saved).map_err(|error| refused(error, saved))
}

fn embedding(reducer: &mut Reducer<'_, '_>) -> Vec<u32> {
    reducer.embedding().map_or(Vec::new(), |embedding| {
        embedding.mean.iter().chain(embedding.var).map(|value| value.to_bits()).collect()
    })
}

/// An error unless the embedding and its class are possible ones.
fn answers(reducer: &mut Reducer<'_, '_>) -> Result<(), String> {
    let embedding = reducer.embedding().ok_or("no embedding")?;
    for component in embedding.iter() {
        if !(component.mean.is_finite() && component.var.is_finite() && component.var >= 0.0) {
            return Err(format!("a component is {component:?}"));
        }
    }
    let Some(class) = reducer.classify() else { return Ok(()) };
    let sum: f32 = class.probabilities.iter().sum();
    let sound = class.class < class.probabilities.len()
        && class.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
        && (sum - 1.0).abs() < 1e-3
        && class.novelty.is_finite()
        && class.distance.is_none_or(|distance| distance.is_finite() && distance >= 0.0);
    if sound { Ok(()) } else { Err(format!("a classification is {class:?}")) }
}
