//! Where each list of numbers stands in the payload: order and size, for reader and writer alike.

use super::spec::{Activation, CellKind, LayerSpec, Layout, Likelihood, ModelSpec, OutputMode, WeightFormat};

/// Sections start at multiples of this many bytes, counted from the start of the file.
pub(crate) const ALIGNMENT: usize = 16;

/// Bytes of the preamble before the header: magic, version, reserved, header length, payload length.
pub(crate) const PREAMBLE: usize = 16;

/// Rounds up to the next section start.
///
/// Sizes that leave the address space stay at its end: no file has them.
pub(crate) const fn aligned(bytes: usize) -> usize {
    bytes.saturating_add(ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

/// A list of f32 values, one per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vector {
    /// Training mean of each input.
    InputMean,
    /// Training standard deviation of each input.
    InputStdDev,
    /// Training mean of each output.
    OutputMean,
    /// Training standard deviation of each output.
    OutputStdDev,
    /// Noise variance of each output, in standardised units.
    NoiseVar,
    /// Factor on the total variance of each output.
    Calibration,
}

impl Vector {
    /// The vectors before the layers, in file order.
    pub(crate) const BEFORE_LAYERS: [Vector; 4] =
        [Vector::InputMean, Vector::InputStdDev, Vector::OutputMean, Vector::OutputStdDev];
    /// The vectors after the layers, in file order.
    pub(crate) const AFTER_LAYERS: [Vector; 2] = [Vector::NoiseVar, Vector::Calibration];

    /// How many values a model of this shape stores.
    pub(crate) fn count(self, spec: &ModelSpec) -> usize {
        match self {
            Vector::InputMean | Vector::InputStdDev => spec.inputs.into(),
            Vector::OutputMean | Vector::OutputStdDev => spec.outputs.into(),
            // The variance of a probability is settled by its mean; a heteroscedastic output predicts its noise.
            Vector::NoiseVar => match spec.likelihood {
                Likelihood::Gaussian => spec.outputs.into(),
                Likelihood::Bernoulli | Likelihood::Heteroscedastic | Likelihood::Categorical => 0,
            },
            Vector::Calibration => match spec.likelihood {
                Likelihood::Gaussian | Likelihood::Heteroscedastic => spec.outputs.into(),
                Likelihood::Bernoulli | Likelihood::Categorical => 0,
            },
        }
    }

    /// The name used in error messages and in `SPEC.md`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Vector::InputMean => "input_mean",
            Vector::InputStdDev => "input_std_dev",
            Vector::OutputMean => "output_mean",
            Vector::OutputStdDev => "output_std_dev",
            Vector::NoiseVar => "noise_var",
            Vector::Calibration => "calibration",
        }
    }
}

/// A section of one affine map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// One f32 per row.
    Bias,
    /// One f32 per row, with weight variances only.
    BiasVar,
    /// One f32 per row, int8 only: weight = code × scale.
    WeightScale,
    /// Packed layouts only: the scales of activations, see `QuantParams`.
    QuantParams,
    /// Groups of units, each column after column, f32 or signed bytes; in quantized layouts blocks of signed bytes, each four rows
    /// followed by their biases and scales.
    Weight,
    /// Packed layouts only: of each four rows the blocks of squared weights (`Fast`), and the scales of their variances.
    Square,
    /// One f32 per row, int8 with weight variances only: standard deviation = code × scale.
    DeviationScale,
    /// As `Weight`, with weight variances only: f32 variances, or unsigned bytes of standard deviation.
    WeightVar,
}

impl Section {
    /// All sections, in file order.
    pub(crate) const ALL: [Section; 8] = [
        Section::Bias,
        Section::BiasVar,
        Section::WeightScale,
        Section::QuantParams,
        Section::Weight,
        Section::Square,
        Section::DeviationScale,
        Section::WeightVar,
    ];

    /// The name used in error messages and in `SPEC.md`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Section::Bias => "bias",
            Section::BiasVar => "bias_var",
            Section::WeightScale => "weight_scale",
            Section::QuantParams => "quant_params",
            Section::Weight => "weight",
            Section::Square => "square",
            Section::DeviationScale => "deviation_scale",
            Section::WeightVar => "weight_var",
        }
    }
}

/// Shape of one affine map: enough to know the size of each of its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AffineShape {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Rows of one unit.
    pub(crate) gates: usize,
    /// Columns that belong to the layer's input; the rest are its own last state.
    pub(crate) inputs: usize,
    pub(crate) format: WeightFormat,
    pub(crate) layout: Layout,
    pub(crate) weight_variance: bool,
    /// Whether variances go through the map.
    pub(crate) propagates: bool,
    /// Which rows end in a sigmoid.
    pub(crate) sigmoids: Sigmoids,
}

/// Which rows of an affine map end in a sigmoid. Packed layouts store those for tanh of half the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sigmoids {
    None,
    All,
    /// All but the third of four: the gates of an LSTM.
    Gates,
}

impl Sigmoids {
    /// Whether row `index` ends in a sigmoid.
    #[cfg(feature = "std")]
    pub(crate) fn includes(self, index: usize) -> bool {
        match self {
            Sigmoids::None => false,
            Sigmoids::All => true,
            Sigmoids::Gates => index % 4 != 2,
        }
    }
}

/// Units of the largest group in the plain layout: one AVX-512 register, two of AVX2, four of NEON.
#[cfg(feature = "float")]
pub(crate) const LANES: usize = 16;

/// Units of the next group in the plain layout, given how many are left: sixteen, four or one.
#[cfg(feature = "float")]
pub(crate) const fn group_lanes(units_left: usize) -> usize {
    match units_left {
        LANES.. => LANES,
        4.. => 4,
        _ => 1,
    }
}

/// Rows of a block in quantized layouts.
pub(crate) const BLOCK_ROWS: usize = 4;
/// Columns of a block in quantized layouts.
pub(crate) const BLOCK_COLS: usize = 8;

/// Bytes of the scales that all rows of a quantized map share.
pub(crate) const PACKING: usize = 16;
/// Bytes of the biases and scales of the means of four quantized rows.
pub(crate) const MEAN_SCALES: usize = 32;
/// Bytes of the scales of the variances of four quantized rows.
pub(crate) const VAR_SCALES: usize = 16;

impl AffineShape {
    /// Rows with padding to whole blocks.
    pub(crate) fn quantized_rows(self) -> usize {
        self.rows.next_multiple_of(BLOCK_ROWS)
    }

    /// Columns of the input with padding to an even number, so that the state begins a new pair.
    pub(crate) fn packed_inputs(self) -> usize {
        self.inputs.next_multiple_of(2)
    }

    /// Columns with padding to whole blocks.
    pub(crate) fn quantized_cols(self) -> usize {
        (self.packed_inputs() + self.cols - self.inputs).next_multiple_of(BLOCK_COLS)
    }

    /// Bytes of a section, padding not counted; 0 when it is absent.
    pub(crate) fn bytes(self, section: Section) -> usize {
        if self.layout.runs_quantized() { self.packed_bytes(section) } else { self.plain_bytes(section) }
    }

    fn packed_bytes(self, section: Section) -> usize {
        let groups = self.quantized_rows() / BLOCK_ROWS;
        match section {
            Section::QuantParams => PACKING,
            Section::Weight => groups * self.mean_group(),
            Section::Square if self.propagates => groups * self.square_group(),
            _ => 0,
        }
    }

    /// Bytes of four quantized rows.
    fn packed_group(self) -> usize {
        BLOCK_ROWS * self.quantized_cols()
    }

    /// Bytes of four quantized rows with what their means need.
    pub(crate) fn mean_group(self) -> usize {
        self.packed_group() + MEAN_SCALES
    }

    /// Bytes of the squares of four quantized rows, if there are any, with what their variances need.
    pub(crate) fn square_group(self) -> usize {
        VAR_SCALES + if self.layout == Layout::Fast { self.packed_group() } else { 0 }
    }

    fn plain_bytes(self, section: Section) -> usize {
        let per_row = 4 * self.rows;
        let int8 = self.format == WeightFormat::Int8;
        let weights = self.rows * self.cols * if int8 { 1 } else { 4 };
        match section {
            Section::Bias => per_row,
            Section::BiasVar if self.weight_variance => per_row,
            Section::WeightScale if int8 => per_row,
            Section::DeviationScale if int8 && self.weight_variance => per_row,
            Section::Weight => weights,
            Section::WeightVar if self.weight_variance => weights,
            _ => 0,
        }
    }

    /// Bytes of the whole map, padding included.
    #[inline(never)]
    pub(crate) fn total(self) -> usize {
        let sections = Section::ALL.into_iter().map(|section| aligned(self.bytes(section)));
        sections.fold(0, usize::saturating_add)
    }
}

impl ModelSpec {
    /// Inputs of layer `index`: the model's own for the first, else the units of the layer below.
    pub(crate) fn layer_inputs(&self, index: usize) -> usize {
        match index.checked_sub(1).and_then(|below| self.layers.get(below)) {
            Some(below) => below.units.into(),
            None => self.inputs.into(),
        }
    }

    /// Shapes of the layers' affine maps, input side first.
    pub(crate) fn layer_shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layers.iter().enumerate().map(|(index, layer)| self.layer_shape(index, layer))
    }

    #[inline(never)] // asked for in many places
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
            sigmoids: match layer.cell {
                CellKind::Lstm => Sigmoids::Gates,
                CellKind::Elman(Activation::Sigmoid) | CellKind::Dense(Activation::Sigmoid) => Sigmoids::All,
                CellKind::Elman(_) | CellKind::Dense(_) => Sigmoids::None,
            },
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
            sigmoids: match self.likelihood {
                Likelihood::Bernoulli => Sigmoids::All,
                Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => {
                    Sigmoids::None
                }
            },
        }
    }

    /// Bytes of the whole payload.
    pub(crate) fn payload_bytes(&self) -> usize {
        let vectors = Vector::BEFORE_LAYERS.iter().chain(&Vector::AFTER_LAYERS);
        let vectors = vectors.map(|vector| aligned(4 * vector.count(self)));
        vectors.chain(self.shapes().map(AffineShape::total)).fold(0, usize::saturating_add)
    }

    /// Weights and biases in all: what training adjusts, standard deviations not counted.
    pub fn parameters(&self) -> u64 {
        self.shapes().map(|shape| shape.rows as u64 * (shape.cols as u64 + 1)).sum()
    }

    /// Multiply-accumulates of one step for the means alone; variances need as many again.
    pub fn multiply_accumulates(&self) -> u64 {
        self.shapes().map(|shape| shape.rows as u64 * shape.cols as u64).sum()
    }

    pub(super) fn shapes(&self) -> impl Iterator<Item = AffineShape> + '_ {
        self.layer_shapes().chain(core::iter::once(self.output_shape()))
    }
}
