//! What others need for the mean alone: figures to compare with, measured once in the same emulator, batch 1.

/// Instructions per step of another implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    pub(super) core: &'static str,
    pub(super) cell: &'static str,
    pub(super) name: &'static str,
    /// At 8/32, 16/64 and 48/128 inputs/units.
    pub(super) instructions: [u64; 3],
}

/// int8 weights, means only; the layer alone, without output map, scaling of inputs or outputs.
pub(super) const REFERENCES: [Reference; 5] = [
    Reference { core: "M4F", cell: "lstm", name: "CMSIS-NN s8", instructions: [28_940, 75_493, 241_589] },
    Reference { core: "M4F", cell: "lstm", name: "NNoM", instructions: [39_841, 130_459, 506_171] },
    Reference {
        core: "M4F",
        cell: "elman",
        name: "CMSIS-NN s8 primitives",
        instructions: [6_540, 17_595, 57_940],
    },
    Reference { core: "M3", cell: "lstm", name: "CMSIS-NN s8", instructions: [34_127, 96_469, 340_161] },
    Reference { core: "M0", cell: "lstm", name: "CMSIS-NN s8", instructions: [74_693, 204_420, 685_300] },
];
