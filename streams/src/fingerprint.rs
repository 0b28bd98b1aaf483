//! A hash of a stream of predictions: 64 bits of FNV-1a.

use quaver::Prediction;

/// Where FNV-1a starts, and what it multiplies by (Fowler, Noll and Vo).
const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01B3;

/// The FNV-1a hash of some bytes.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    extend(OFFSET, bytes)
}

fn extend(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Every number of a prediction, in one fixed order: means, epistemic and aleatoric variances; for models
/// that predict their own input, the negative log-likelihood and the z-scores of the sample just seen; for
/// models with an input density, the distance of that sample; for models that detect faults, its score; for
/// models with plausible ranges, the channels outside of theirs.
pub fn words<'p>(prediction: &Prediction<'p>) -> impl Iterator<Item = f32> + 'p {
    let (nll, z) = match prediction.surprise() {
        Some(surprise) => (Some(surprise.nll), surprise.z),
        None => (None, &[][..]),
    };
    let outputs = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
    let distance = prediction.novelty().map(|novelty| novelty.distance);
    let score = prediction.anomaly().map(|anomaly| anomaly.score);
    let implausible = prediction.implausible().map(|channel| channel as f32);
    let scores = nll.into_iter().chain(z.iter().copied()).chain(distance).chain(score);
    outputs.into_iter().flatten().copied().chain(scores).chain(implausible)
}

/// The hash of one prediction after another.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(OFFSET)
    }
}

impl Fingerprint {
    /// Adds every number of a prediction.
    pub fn add(&mut self, prediction: &Prediction<'_>) {
        self.add_words(words(prediction));
    }

    /// Adds some numbers.
    pub fn add_words(&mut self, words: impl Iterator<Item = f32>) {
        self.0 = extend(self.0, words.flat_map(|word| word.to_bits().to_le_bytes()));
    }

    /// The hash so far.
    pub fn value(self) -> u64 {
        self.0
    }
}
