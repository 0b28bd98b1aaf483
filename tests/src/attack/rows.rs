//! Hostile rows, and what a prediction must be whatever the row.

use quaver::{Error, Prediction};

use super::dice::Dice;

/// Values that sensors never send, and some that they do.
const VALUES: [f32; 16] = [
    0.0,
    1.0,
    -1.5,
    0.25,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    1e38,
    -1e38,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -1e-40,
    1e6,
    -1e20,
    3e4,
];

/// Variances of a reading, possible and impossible ones.
const VARS: [f32; 10] =
    [0.0, 1.0, 1e-30, f32::from_bits(1), 1e38, f32::MAX, f32::INFINITY, f32::NAN, -1.0, 1e12];

/// A row of about `channels` values: some are too short or too long.
pub fn row(channels: usize, dice: &mut Dice) -> Vec<f32> {
    let length = match dice.below(10) {
        0 => dice.below(channels + 1),
        1 => channels + 3,
        _ => channels,
    };
    match dice.below(6) {
        0 => vec![dice.pick(&VALUES); length],
        1 => (0..length).map(|_| dice.pick(&VALUES)).collect(),
        2 => (0..length).map(|_| f32::from_bits(dice.below(1 << 32) as u32)).collect(),
        _ => {
            let some = (0..length).map(|_| if dice.once_in(6) { dice.pick(&VALUES) } else { ordinary(dice) });
            some.collect()
        }
    }
}

/// A value as training would have it in standardised units.
fn ordinary(dice: &mut Dice) -> f32 {
    dice.numbers().between(-2.0, 2.0)
}

/// Variances for a row; mostly none.
pub fn vars(channels: usize, dice: &mut Dice) -> Vec<f32> {
    if !dice.once_in(3) {
        return Vec::new();
    }
    (0..channels).map(|_| dice.pick(&VARS)).collect()
}

/// An error unless a prediction is finite and its variances are not negative.
pub fn check(prediction: &Prediction<'_>) -> Result<(), String> {
    for (index, output) in prediction.iter().enumerate() {
        let parts = [output.variance, output.epistemic, output.aleatoric];
        let sound = output.mean.is_finite() && parts.iter().all(|var| var.is_finite() && *var >= 0.0);
        if !sound || !output.std_dev().is_finite() {
            return Err(format!("output {index} is {output:?}"));
        }
    }
    let surprise = prediction.surprise().is_none_or(|surprise| {
        surprise.nll.is_finite() && surprise.z.iter().all(|z| z.is_nan() || z.is_finite())
    });
    if !surprise {
        return Err(format!("surprise {:?}", prediction.surprise()));
    }
    if prediction.novelty().is_some_and(|novelty| !(0.0..=f32::MAX).contains(&novelty.distance)) {
        return Err(format!("novelty {:?}", prediction.novelty()));
    }
    if prediction.anomaly().is_some_and(|anomaly| !anomaly.score.is_finite()) {
        return Err(format!("anomaly {:?}", prediction.anomaly()));
    }
    Ok(())
}

/// A row with NaN in place of every value that is not plausible, and the channels of those.
pub fn masked(row: &[f32], ranges: impl Iterator<Item = [f32; 2]>) -> (Vec<f32>, Vec<usize>) {
    let (mut masked, mut channels) = (row.to_vec(), Vec::new());
    for (channel, (value, [low, high])) in masked.iter_mut().zip(ranges).enumerate() {
        if value.is_infinite() || *value < low || *value > high {
            *value = f32::NAN;
            channels.push(channel);
        }
    }
    (masked, channels)
}

/// An error unless a prediction names these channels, and its other numbers are those of `twin`, which read
/// the masked row. An implausible channel is an anomaly, a missing one is none.
pub fn same_as_missing(
    prediction: &Prediction<'_>,
    channels: &[usize],
    twin: &Prediction<'_>,
) -> Result<(), String> {
    let found: Vec<usize> = prediction.implausible().collect();
    if found != channels {
        return Err(format!("implausible channels {channels:?} are reported as {found:?}"));
    }
    let without_anomaly = |prediction: &Prediction<'_>| {
        let mut bits = bits(prediction);
        bits.truncate(bits.len() - usize::from(prediction.anomaly().is_some()));
        bits
    };
    same(&without_anomaly(prediction), &without_anomaly(twin), "an implausible value is not as a missing one")
}

/// Every number of a prediction, to compare two.
pub fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let parts = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
    let surprise = prediction.surprise();
    let scores = surprise.iter().flat_map(|surprise| surprise.z.iter().copied().chain([surprise.nll]));
    let novelty = prediction.novelty().map(|novelty| novelty.distance);
    let anomaly = prediction.anomaly().map(|anomaly| anomaly.score);
    parts
        .into_iter()
        .flatten()
        .copied()
        .chain(scores)
        .chain(novelty)
        .chain(anomaly)
        .map(f32::to_bits)
        .collect()
}

/// An error unless two predictions have the same bits.
pub fn same(first: &[u32], second: &[u32], what: &str) -> Result<(), String> {
    if first == second { Ok(()) } else { Err(format!("{what}: {first:x?} and {second:x?}")) }
}

/// The same number of words with other contents, to restore into.
pub fn garbage(words: usize) -> Vec<f32> {
    vec![f32::NAN; words]
}

/// An error unless two saved streams have the same bits.
pub fn same_state(first: &[f32], second: &[f32]) -> Result<(), String> {
    let differs = first.iter().zip(second).position(|(a, b)| a.to_bits() != b.to_bits());
    match differs {
        Some(word) => {
            Err(format!("word {word} of a saved stream: {} restored as {}", first[word], second[word]))
        }
        None => Ok(()),
    }
}

/// A stream that was saved and cannot be restored.
pub fn refused(error: Error, saved: &[f32]) -> String {
    let value = if let Error::StateValue { word } = error { saved.get(word) } else { None };
    format!("restore of a saved stream of {} words: {error}: {value:?}", saved.len())
}
