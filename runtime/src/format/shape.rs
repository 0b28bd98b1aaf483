//! Shapes of affine maps, derived from the architecture.

use super::vector::Vector;
use crate::spec::{LayerSpec, Layout, ModelSpec, OutputMode, OutputSpec, WeightFormat};

/// Sections start at multiples of this many bytes, counted from the start of the file.
const ALIGNMENT: usize = 16;

/// Blocks of four rows and two columns of an affine map.
#[cfg(all(feature = "write", feature = "quantized"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBlocks {
    /// All of them, without padding.
    pub all: usize,
    /// Those that are stored in lists; `None` if all are stored.
    pub listed: Option<usize>,
}

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
    /// Biases of one unit: its rows, and one more if the map is [split](Self::is_split).
    pub(crate) biases: usize,
    /// Columns of the layer's input; the others are those of its own last state.
    pub(crate) inputs: usize,
    pub(crate) format: WeightFormat,
    pub(crate) layout: Layout,
    pub(crate) weight_variance: bool,
    /// Whether variances go through the map.
    pub(crate) propagates: bool,
}

impl AffineShape {
    /// Shape of the map of a layer with this number of inputs.
    pub(crate) const fn layer(
        format: WeightFormat,
        layout: Layout,
        inputs: usize,
        layer: &LayerSpec,
    ) -> Self {
        let (units, gates) = (layer.units as usize, layer.cell.gates());
        AffineShape {
            rows: units * gates,
            gates,
            biases: layer.cell.biases(),
            cols: inputs + if layer.cell.is_recurrent() { units } else { 0 },
            inputs,
            format,
            layout,
            weight_variance: layer.weight_variance,
            propagates: !matches!(layout, Layout::Mean),
        }
    }

    /// Shape of an output map of this size.
    pub(crate) const fn output(
        format: WeightFormat,
        layout: Layout,
        [rows, cols]: [usize; 2],
        output: &OutputSpec,
    ) -> Self {
        let propagates = matches!(output.mode, OutputMode::Propagating);
        AffineShape {
            rows,
            gates: 1,
            biases: 1,
            cols,
            inputs: 0,
            format,
            layout,
            weight_variance: output.weight_variance,
            propagates: propagates && !matches!(layout, Layout::Mean),
        }
    }

    /// Rows of the map divided by those of one unit.
    pub(crate) const fn units(self) -> usize {
        // Never zero; `checked_div` keeps a panic out of the code.
        match self.rows.checked_div(self.gates) {
            Some(units) => units,
            None => 0,
        }
    }

    /// Number of biases.
    pub(crate) const fn bias_count(self) -> usize {
        self.units() * self.biases
    }

    /// Whether the sums of each unit's last row over the input and over the state are kept apart, each with a
    /// bias: the candidate of a GRU.
    #[cfg(feature = "quantized")]
    pub(crate) const fn is_split(self) -> bool {
        self.biases > self.gates
    }
}

impl ModelSpec {
    /// Shapes of the layers' affine maps, input side first.
    pub(crate) fn layer_shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layers.iter().enumerate().map(|(index, layer)| self.layer_shape(index, layer))
    }

    #[inline(never)] // called in many places
    pub(crate) fn layer_shape(&self, index: usize, layer: &LayerSpec) -> AffineShape {
        self.layer_shape_here(index, layer)
    }

    /// [`layer_shape`](Self::layer_shape), for an architecture that is known while compiling.
    #[inline(always)]
    pub(crate) fn layer_shape_here(&self, index: usize, layer: &LayerSpec) -> AffineShape {
        AffineShape::layer(self.weight_format, self.layout, self.layer_inputs(index), layer)
    }

    /// Shape of the output map.
    #[inline(never)]
    pub(crate) fn output_shape(&self) -> AffineShape {
        self.output_shape_here()
    }

    /// [`output_shape`](Self::output_shape), for an architecture that is known while compiling.
    #[inline(always)]
    pub(crate) fn output_shape_here(&self) -> AffineShape {
        // Without layers there are no units to map: what is left are biases.
        let cols = self.layers.last().map_or(0, |layer| layer.units.into());
        let rows = usize::from(self.outputs) * self.likelihood.rows();
        AffineShape::output(self.weight_format, self.layout, [rows, cols], &self.output)
    }

    /// Shapes of all affine maps: the layers', then the output map's.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layer_shapes().chain(core::iter::once(self.output_shape()))
    }

    /// Number of weights and biases, those of a linear part included. Variances are not counted.
    pub fn parameters(&self) -> u64 {
        let count = |shape: AffineShape| shape.rows as u64 * shape.cols as u64 + shape.bias_count() as u64;
        self.shapes().map(count).sum::<u64>() + Vector::Linear.count(self) as u64
    }

    /// Multiply-accumulates of one step for the means; variances need as many again.
    pub fn multiply_accumulates(&self) -> u64 {
        let maps = self.shapes().map(|shape| shape.rows as u64 * shape.cols as u64).sum::<u64>();
        maps + self.linear_values() as u64 * u64::from(self.outputs)
    }
}
