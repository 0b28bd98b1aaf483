//! What a network's first layer reads.

use crate::moments::Moments;

/// Standardised inputs of a network, two at a time.
pub(crate) trait InputPairs {
    /// Pairs from the first on, as long as their source is known to be without variance; `None` for one that misses a value all
    /// the same. May end early.
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>>;

    /// The pair at an index, whatever is known of it; a last input stands beside a zero.
    fn any(&self, pair: usize) -> [Moments; 2];
}

/// The pairs of the first `count` inputs, one after the other.
#[cfg(feature = "float")]
pub(crate) fn each_pair(inputs: &impl InputPairs, count: usize) -> impl Iterator<Item = [Moments; 2]> {
    let mut deterministic = inputs.deterministic();
    (0..count.div_ceil(2)).map(move |index| match deterministic.next().flatten() {
        Some(pair) => pair.map(|mean| Moments { mean, var: 0.0 }),
        None => inputs.any(index),
    })
}
