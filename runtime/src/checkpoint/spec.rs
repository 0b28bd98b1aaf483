//! What a model is: the one description of an architecture, read by the runtime and the trainer alike.
//!
//! Everything here is plain data in [postcard](https://docs.rs/postcard) form. A variant may be appended to an
//! enum; reordering variants or fields changes the format and needs a new version number (see `SPEC.md`).

use heapless::Vec;
use serde::{Deserialize, Serialize};

/// The most recurrent layers a model can stack.
///
/// Bounds the fixed-size table of layer offsets that a loaded model carries; deeper nets than this do not
/// pay off at the sizes a microcontroller can run.
pub const MAX_LAYERS: usize = 8;

/// The most inputs, outputs or units of one layer.
///
/// Keeps every product of two sizes, and every offset derived from them, inside 32 bits on a 32-bit core.
pub const MAX_WIDTH: u16 = 4096;

/// Architecture of a network: everything but the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelSpec {
    /// Channels per input row.
    pub inputs: u16,
    /// Values per output row; equal to `inputs` when they predict the next input.
    pub outputs: u16,
    /// What the outputs stand for.
    pub target: Target,
    /// How an output and its observed value relate.
    pub likelihood: Likelihood,
    /// Which approximation of sigmoid and tanh moments the net was trained with.
    pub moment_form: MomentForm,
    /// How weights are stored.
    pub weight_format: WeightFormat,
    /// In which order weights are stored.
    pub layout: Layout,
    /// The recurrent layers, input side first.
    pub layers: Vec<LayerSpec, MAX_LAYERS>,
    /// The affine map from the last layer to the outputs.
    pub output: OutputSpec,
}

/// What the outputs of a model stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Target {
    /// The next input row. Enables the surprise score and lets predictions stand in for missing channels.
    Next,
    /// Other columns, at the time of the input row.
    Columns,
    /// The next input row as well, but what the output map gives is its difference from the current one, which is added:
    /// a net that has learned nothing says that all stays as it is. Inputs beyond the number of outputs, such as the
    /// latents of a generative network, are not predicted.
    ResidualNext,
    /// What the inputs should have been, at their own time: what the output map gives is a correction, which is added to
    /// the input of the same number. A net that has learned nothing passes its inputs on as they are.
    ResidualSame,
}

/// The distribution of an observation given the network's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Likelihood {
    /// Normal, with one learned noise variance per output.
    Gaussian,
    /// Binary, the output being squashed by a sigmoid.
    Bernoulli,
    /// Normal, with a noise variance that the network predicts: each output has two rows in the output map, its mean and
    /// the logarithm of its noise variance.
    Heteroscedastic,
    /// One of all outputs is 1 and the others are 0; the outputs are probabilities that add up to 1.
    Categorical,
}

/// Which approximation of the moments of sigmoid and tanh is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MomentForm {
    /// Quaver's own, within 5·10⁻⁴ of quadrature.
    Accurate,
    /// As printed in Bayer 2015 (thesis, 2.3.4), to reproduce published results.
    Paper,
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WeightFormat {
    /// Little-endian IEEE single precision.
    F32,
    /// Signed bytes in −127…127 with one f32 scale per row.
    Int8,
}

/// In which order weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Layout {
    /// Row after row, each over the concatenated columns [x, h]. Runs in floating point.
    Float,
    /// Bytes in blocks of four rows and four columns, for integer kernels. Squares are taken while running.
    Small,
    /// As [`Small`](Layout::Small), with a second stream of bytes for the squares: faster, a byte more per weight.
    Fast,
    /// As [`Small`](Layout::Small), for nets that carry no variance at all.
    Mean,
}

/// One recurrent layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LayerSpec {
    /// The recurrence.
    pub cell: CellKind,
    /// Number of hidden units.
    pub units: u16,
    /// Noise on the layer's input before its affine map.
    pub input_noise: UnitNoise,
    /// Noise on the layer's own last state before its affine map.
    pub recurrent_noise: UnitNoise,
    /// Whether weights and biases carry variances of their own.
    pub weight_variance: bool,
    /// Factor β on the variance of the layer's output; 1 except in implicit variance networks (thesis, 2.6.1).
    pub variance_scale: f32,
}

/// The kind of a recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum CellKind {
    /// h_t = f(W [x_t, h_{t−1}] + b).
    Elman(Activation),
    /// Long short-term memory: input, forget and output gates around a cell.
    Lstm,
    /// f(W x_t + b): no recurrence, hence no columns for the last state.
    Dense(Activation),
}

/// A activation function of an Elman or dense layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh,
    /// Logistic sigmoid.
    Sigmoid,
    /// max(0, a).
    Relu,
}

/// Noise on units before an affine map (Bayer 2015, thesis, 2.3.4 and 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum UnitNoise {
    /// No noise.
    None,
    /// Each unit is kept with this probability and is zero otherwise.
    Dropout {
        /// Keep probability in (0, 1].
        keep: f32,
    },
    /// Each unit is multiplied by a normal variate of mean 1 and this variance.
    Multiplicative {
        /// Variance of the factor.
        var: f32,
    },
    /// To each unit a normal variate of mean 0 and this variance is added.
    Additive {
        /// Variance of the summand.
        var: f32,
    },
}

/// The affine map from the last layer to the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OutputSpec {
    /// Whether the incoming variance is carried through.
    pub mode: OutputMode,
    /// Noise on the last hidden state before the map.
    pub noise: UnitNoise,
    /// Whether weights and biases carry variances of their own.
    pub weight_variance: bool,
    /// Factor β on the propagated output variance; 1 except in implicit variance networks (thesis, 2.6.1).
    pub variance_scale: f32,
}

/// Whether the output layer carries variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OutputMode {
    /// Means and variances go through the affine map.
    Propagating,
    /// Means only; incoming variance and noise are ignored. Not the same as keeping every unit.
    MeanOnly,
}

impl Target {
    /// Whether the outputs are predictions of the next input row.
    pub const fn is_next(self) -> bool {
        matches!(self, Target::Next | Target::ResidualNext)
    }

    /// Whether what the output map gives is added to the input row.
    pub const fn is_residual(self) -> bool {
        matches!(self, Target::ResidualNext | Target::ResidualSame)
    }
}

impl Layout {
    /// Whether weights are stored in blocks, for the integer kernels.
    pub const fn is_quantized(self) -> bool {
        !matches!(self, Layout::Float)
    }

    /// [`is_quantized`](Self::is_quantized) of a model that was loaded: known to the compiler where only one kind is built in.
    pub(crate) const fn runs_quantized(self) -> bool {
        cfg!(feature = "quantized") && (!cfg!(feature = "float") || self.is_quantized())
    }
}

impl CellKind {
    /// Rows of weights per unit: one, or one per gate.
    pub const fn gates(self) -> usize {
        match self {
            CellKind::Elman(_) | CellKind::Dense(_) => 1,
            CellKind::Lstm => 4,
        }
    }

    /// State vectors of moments kept per unit: h, and c for an LSTM.
    pub const fn states(self) -> usize {
        match self {
            CellKind::Elman(_) | CellKind::Dense(_) => 1,
            CellKind::Lstm => 2,
        }
    }

    /// Whether the last state has columns in the layer's affine map.
    pub const fn is_recurrent(self) -> bool {
        !matches!(self, CellKind::Dense(_))
    }
}

impl Likelihood {
    /// Rows of the output map per output.
    pub const fn rows(self) -> usize {
        match self {
            Likelihood::Heteroscedastic => 2,
            Likelihood::Gaussian | Likelihood::Bernoulli | Likelihood::Categorical => 1,
        }
    }
}
