//! Memory of one stream of a network.

use core::ops::Range;

use super::built_in;
use crate::anomaly;
use crate::density;
use crate::format::{AffineShape, Decoder, unchecked_sections};
use crate::linear;
use crate::spec::{Architecture, CellKind, Extensions, Layout, LinearSpec, ModelSpec};

/// Words of RAM per unit: for h, and for its whole state.
const fn unit_words(layout: Layout, cell: CellKind) -> (usize, usize) {
    dispatch!(layout, backend => backend::unit_words(cell))
}

/// Words of scratch for the input of one affine map.
const fn scratch_words(shape: AffineShape) -> usize {
    dispatch!(shape.layout, backend => backend::scratch_words(shape))
}

/// Words of the standardised row, and of scratch, that an input density needs.
const fn density_words(extensions: &Extensions, inputs: usize) -> (usize, usize) {
    match extensions.density {
        Some(_) => (2 * inputs, density::scratch_words(inputs)),
        None => (0, 0),
    }
}

/// Words of the factors on variances, and of the evidence of faults.
const fn followed_words(extensions: &Extensions, inputs: usize, outputs: usize) -> (usize, usize) {
    let scales = if extensions.tracking.is_some() { outputs } else { 0 };
    let evidence = if extensions.anomaly.is_some() { anomaly::STATE_WORDS * inputs } else { 0 };
    (scales, evidence)
}

/// Words for implausible values: their total, and a bit for each input; none without ranges.
const fn implausible_words(extensions: &Extensions, inputs: usize) -> usize {
    if extensions.ranges { 1 + inputs.div_ceil(u32::BITS as usize) } else { 0 }
}

/// Words of the ring of the last rows; none without a linear part.
const fn ring_words(extensions: &Extensions, inputs: usize) -> usize {
    match extensions.linear {
        Some(LinearSpec { rows }) => linear::ring_words(rows as usize, inputs),
        None => 0,
    }
}

/// Sizes of a network that determine the memory of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkMemory {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Units of the last layer.
    pub(crate) units: usize,
    /// Words of the recurrent state.
    pub(crate) recurrent: usize,
    /// Words of the standardised row; none without an input density.
    pub(crate) row: usize,
    /// Words of the factors on variances.
    pub(crate) scales: usize,
    /// Words of the evidence of faults.
    pub(crate) evidence: usize,
    /// Words for implausible values.
    pub(crate) implausible: usize,
    /// Words of the ring of the last rows; none without a linear part.
    pub(crate) ring: usize,
    /// Words of scratch.
    pub(crate) scratch: usize,
}

impl NetworkMemory {
    /// Words of a stream of this network alone: state, prediction and residuals, standardised row, what
    /// follows the stream, implausible values, the last rows, scratch.
    pub(crate) const fn arena_words(self) -> usize {
        let NetworkMemory { recurrent, outputs, row, scales, evidence, implausible, ring, scratch, .. } =
            self;
        (recurrent + 4 * outputs + row + scales + evidence + implausible + scratch).saturating_add(ring)
    }

    /// Sizes of the network in a checkpoint, at compile time. `None` if its header cannot be decoded or its
    /// backend is not built in; nothing else is checked.
    pub(crate) const fn of_checkpoint(bytes: &[u8]) -> Option<Self> {
        let Some((header, _)) = unchecked_sections(bytes) else { return None };
        let mut decoder = Decoder::new(header);
        let sizes = decoder.sizes();
        let (format, layout) = (sizes.weight_format, sizes.layout);
        let (mut recurrent, mut scratch, mut inputs) = (0, 0, sizes.inputs as usize);
        let mut units = 0;
        let mut layers = decoder.layer_count();
        while layers > 0 {
            let layer = decoder.layer();
            recurrent += unit_words(layout, layer.cell).1 * layer.units as usize;
            let words = scratch_words(AffineShape::layer(format, layout, inputs, &layer));
            scratch = if words > scratch { words } else { scratch };
            inputs = layer.units as usize;
            units = inputs;
            layers -= 1;
        }
        let rows = sizes.outputs as usize * sizes.likelihood.rows();
        let words = scratch_words(AffineShape::output(format, layout, [rows, units], &decoder.output()));
        scratch = if words > scratch { words } else { scratch };
        let (inputs, outputs) = (sizes.inputs as usize, sizes.outputs as usize);
        // The names of inputs and outputs.
        decoder.text();
        decoder.text();
        let extensions = decoder.extensions();
        let (row, words) = density_words(&extensions, inputs);
        let (scales, evidence) = followed_words(&extensions, inputs, outputs);
        let implausible = implausible_words(&extensions, inputs);
        let ring = ring_words(&extensions, inputs);
        scratch = if words > scratch { words } else { scratch };
        if decoder.is_sound() && built_in(layout).0 {
            Some(NetworkMemory {
                inputs,
                outputs,
                units,
                recurrent,
                row,
                scales,
                evidence,
                implausible,
                ring,
                scratch,
            })
        } else {
            None
        }
    }
}

impl ModelSpec {
    /// Sizes that determine the memory of a stream.
    pub(crate) fn memory(&self) -> NetworkMemory {
        NetworkMemory {
            inputs: self.inputs.into(),
            outputs: self.outputs.into(),
            units: self.layers.last().map_or(0, |layer| layer.units.into()),
            recurrent: self.recurrent_words(),
            row: self.row_words(),
            scales: self.scale_words(),
            evidence: self.evidence_words(),
            implausible: self.implausible_words(),
            ring: self.ring_words(),
            scratch: self.scratch_words(),
        }
    }

    /// Words of RAM for the recurrent state.
    #[inline(never)] // once in flash, not once per caller
    pub fn recurrent_words(&self) -> usize {
        self.recurrent_words_here()
    }

    #[inline(always)]
    fn recurrent_words_here(&self) -> usize {
        self.layers.iter().map(|layer| unit_words(self.layout, layer.cell).1 * usize::from(layer.units)).sum()
    }

    /// Range of the last layer's h in the recurrent state.
    pub(crate) fn last_units<A: Architecture>(&self) -> Range<usize> {
        let (h, all) = self.layers.last().map_or((0, 0), |layer| {
            let (h, all) = unit_words(self.layout, layer.cell);
            (h * usize::from(layer.units), all * usize::from(layer.units))
        });
        let words = match A::SPEC {
            Some(_) => self.recurrent_words_here(),
            None => self.recurrent_words(),
        };
        let start = words.saturating_sub(all);
        start..start.saturating_add(h)
    }

    /// Numbers in a saved stream: its recurrent state, mean and variance each, its last prediction,
    /// what follows the stream: factors on variances and evidence of faults, the last rows where a linear
    /// part reads them, and the number of implausible values.
    pub fn saved_words(&self) -> usize {
        let prediction = 3 * usize::from(self.outputs);
        let followed = self.followed_words() + self.saved_ring_words() + self.total_words();
        self.saved_state_words() + prediction + followed
    }

    /// Words of the ring of the last rows.
    pub(crate) fn ring_words(&self) -> usize {
        ring_words(&self.extensions, self.inputs.into())
    }

    /// Numbers of a saved ring: whether a row was read, then means and variances.
    pub(crate) fn saved_ring_words(&self) -> usize {
        self.extensions.linear.map_or(0, |_| 1 + 2 * self.linear_values())
    }

    /// Numbers in a saved recurrent state.
    #[inline(never)]
    pub(crate) fn saved_state_words(&self) -> usize {
        self.layers.iter().map(|layer| 2 * layer.cell.states() * usize::from(layer.units)).sum()
    }

    /// Words of the factors on variances.
    pub(crate) fn scale_words(&self) -> usize {
        followed_words(&self.extensions, self.inputs.into(), self.outputs.into()).0
    }

    /// Words of the evidence of faults.
    pub(crate) fn evidence_words(&self) -> usize {
        followed_words(&self.extensions, self.inputs.into(), self.outputs.into()).1
    }

    /// Words for implausible values.
    pub(crate) fn implausible_words(&self) -> usize {
        implausible_words(&self.extensions, self.inputs.into())
    }

    /// Words of the number of implausible values since the start of a stream.
    pub(crate) fn total_words(&self) -> usize {
        usize::from(self.extensions.ranges)
    }

    fn followed_words(&self) -> usize {
        self.scale_words() + self.evidence_words()
    }

    /// Words of the standardised row, means and variances; none without an input density.
    pub(crate) fn row_words(&self) -> usize {
        density_words(&self.extensions, self.inputs.into()).0
    }

    /// Words of scratch: the noisy input of the widest affine map, or the system of missing channels.
    pub(crate) fn scratch_words(&self) -> usize {
        let (_, density) = density_words(&self.extensions, self.inputs.into());
        self.shapes().map(scratch_words).chain([density]).max().unwrap_or(0)
    }

    /// Four-byte words of RAM that one stream of this model needs: the `WORDS` of its
    /// [`Arena`](crate::Arena).
    pub fn arena_words(&self) -> usize {
        self.memory().arena_words()
    }
}
