//! Standardised inputs of a network, as both backends read them.

use crate::moments::Moments;

/// Standardised inputs of a network, two at a time.
pub(crate) trait InputPairs {
    /// Pairs from the first on, for a source whose values have no variance; `None` for a pair with a missing
    /// value or one beyond the limits of inputs. The iterator may end early.
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>>;

    /// Writes all inputs at once if none is missing, uncertain or beyond the limits; `false` if one is, and
    /// then what was written means nothing.
    #[cfg_attr(not(feature = "float"), allow(dead_code))] // for the float backend
    fn plain(&self, _: &mut [f32]) -> bool {
        false
    }

    /// Moments of pair `pair`. The last input of an odd number is paired with zero.
    fn any(&self, pair: usize) -> [Moments; 2];
}

/// What a step of a network reads and writes: inputs, then one row of the output map after the other.
pub(crate) trait StepIo {
    /// What it reads. A type of its own: steps that differ in what they write share the code of their inputs.
    type Inputs: InputPairs;

    /// The inputs.
    fn inputs(&self) -> &Self::Inputs;

    /// Receives the moments of the next row of the output map, in standardised units: of the pre-activation,
    /// or of the probability for a Bernoulli output.
    fn output(&mut self, row: Moments);
}
