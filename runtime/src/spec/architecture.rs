//! Architectures that are known while a program is compiled.

use super::ModelSpec;

/// The architecture of a network, as far as it is known while compiling.
///
/// A parameter of the functions that a step is made of. What an architecture does not use is left out of
/// them: conditions on these constants are decided in every build, whatever the level of optimisation.
#[doc(hidden)]
pub trait Architecture {
    /// The whole of it, if it is known.
    const SPEC: Option<&'static ModelSpec>;
    /// What may occur in it.
    const USES: Uses;
    /// The payload of its checkpoint from the first layer on, and from the output map on, if they are known:
    /// nothing of them is then to be looked for.
    const MAPS: Option<[&'static [u8]; 2]>;

    /// The architecture as a constant if it is known, or the one that was loaded.
    #[inline(always)]
    fn known_spec(loaded: &ModelSpec) -> &ModelSpec {
        Self::SPEC.unwrap_or(loaded)
    }
}

/// An architecture of which nothing is known: that of a model which is loaded at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyArchitecture;

impl Architecture for AnyArchitecture {
    const SPEC: Option<&'static ModelSpec> = None;
    const USES: Uses = Uses::ANYTHING;
    const MAPS: Option<[&'static [u8]; 2]> = None;
}

/// What may occur in a network: layers differ, and a loop over them has the code of all.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// Layers of the cells `Elman` and `Dense`.
    pub(crate) elman: bool,
    /// Such layers whose activation is not tanh.
    pub(crate) other_activations: bool,
    /// LSTM layers.
    pub(crate) lstm: bool,
    /// GRU layers.
    pub(crate) gru: bool,
    /// Maps that variances go through.
    pub(crate) variances: bool,
    /// Maps of means alone.
    pub(crate) means_only: bool,
    /// Maps that list pairs of columns (layout `sparse`).
    pub(crate) lists: bool,
    /// Variances without stored squares of weights (layout `small`).
    pub(crate) unsquared: bool,
    /// Variances of weights.
    pub(crate) weight_vars: bool,
    /// Layers whose units are no multiple of four, and layers of an odd number of units.
    pub(crate) odd_units: bool,
    /// Noise on units after which a variance may be above one ([`UnitNoise::is_strong`](super::UnitNoise)).
    pub(crate) strong_noise: bool,
    /// Bytes at an address that is no multiple of four.
    pub(crate) unaligned: bool,
}

impl Uses {
    /// Everything may occur.
    pub(crate) const ANYTHING: Self = Uses {
        elman: true,
        other_activations: true,
        lstm: true,
        gru: true,
        variances: true,
        means_only: true,
        lists: true,
        unsquared: true,
        weight_vars: true,
        odd_units: true,
        strong_noise: true,
        unaligned: true,
    };

    /// Nothing occurs.
    pub(crate) const NOTHING: Self = Uses {
        elman: false,
        other_activations: false,
        lstm: false,
        gru: false,
        variances: false,
        means_only: false,
        lists: false,
        unsquared: false,
        weight_vars: false,
        odd_units: false,
        strong_noise: false,
        unaligned: false,
    };
}
