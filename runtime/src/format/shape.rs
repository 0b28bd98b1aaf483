//! Shapes of affine maps, derived from the architecture.

use crate::spec::{LayerSpec, Layout, ModelSpec, OutputMode, WeightFormat};

/// Sections start at multiples of this many bytes, counted from the start of the file.
const ALIGNMENT: usize = 16;

/// Rounds up to the next section start.
///
/// Sizes beyond the address space stay at its end: no file has them.
pub(crate) const fn aligned(bytes: usize) -> usize {
    bytes.saturating_add(ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

/// Shape of one affine map: determines the size of each of its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AffineShape {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Rows of one unit.
    pub(crate) gates: usize,
    /// Columns of the layer's input; the others are those of its own last state.
    pub(crate) inputs: usize,
    pub(crate) format: WeightFormat,
    pub(crate) layout: Layout,
    pub(crate) weight_variance: bool,
    /// Whether variances go through the map.
    pub(crate) propagates: bool,
}

impl ModelSpec {
    /// Shapes of the layers' affine maps, input side first.
    pub(crate) fn layer_shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layers.iter().enumerate().map(|(index, layer)| self.layer_shape(index, layer))
    }

    #[inline(never)] // called in many places
    pub(crate) fn layer_shape(&self, index: usize, layer: &LayerSpec) -> AffineShape {
        let (inputs, units) = (self.layer_inputs(index), usize::from(layer.units));
        AffineShape {
            rows: units * layer.cell.gates(),
            gates: layer.cell.gates(),
            cols: inputs + if layer.cell.is_recurrent() { units } else { 0 },
            inputs,
            format: self.weight_format,
            layout: self.layout,
            weight_variance: layer.weight_variance,
            propagates: self.layout != Layout::Mean,
        }
    }

    /// Shape of the output map.
    #[inline(never)]
    pub(crate) fn output_shape(&self) -> AffineShape {
        AffineShape {
            rows: usize::from(self.outputs) * self.likelihood.rows(),
            gates: 1,
            cols: self.layer_inputs(self.layers.len()),
            inputs: 0,
            format: self.weight_format,
            layout: self.layout,
            weight_variance: self.output.weight_variance,
            propagates: self.layout != Layout::Mean && self.output.mode == OutputMode::Propagating,
        }
    }

    /// Shapes of all affine maps: the layers', then the output map's.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layer_shapes().chain(core::iter::once(self.output_shape()))
    }

    /// Number of weights and biases. Variances are not counted.
    pub fn parameters(&self) -> u64 {
        self.shapes().map(|shape| shape.rows as u64 * (shape.cols as u64 + 1)).sum()
    }

    /// Multiply-accumulates of one step for the means; variances need as many again.
    pub fn multiply_accumulates(&self) -> u64 {
        self.shapes().map(|shape| shape.rows as u64 * shape.cols as u64).sum()
    }
}
