//! Standardised inputs of a network, as both backends read them.

use crate::moments::Moments;

/// Standardised inputs of a network, two at a time.
pub(crate) trait InputPairs {
    /// Pairs from the first on, for a source whose values have no variance; `None` for a pair with a missing
    /// value or one beyond the limits of inputs. The iterator may end early.
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>>;

    /// Moments of pair `pair`. The last input of an odd number is paired with zero.
    fn any(&self, pair: usize) -> [Moments; 2];
}

/// What a step of a network reads and writes: inputs, then one row of the output map after the other.
pub(crate) trait StepIo: InputPairs {
    /// Receives the moments of the next row of the output map, in standardised units: of the pre-activation,
    /// or of the probability for a Bernoulli output.
    fn output(&mut self, row: Moments);
}
