//! Architecture of a model: plain data, shared by the runtime and the trainer.
//!
//! A [`ModelSpec`] is the header of a checkpoint, in [postcard](https://docs.rs/postcard) encoding: the order
//! of fields and variants is the order on the wire, with the [`Extensions`] after everything else. A variant
//! may be appended to an enum; any other change needs a new format version (see `SPEC.md` of the module
//! [`checkpoint`](crate::checkpoint)).
//!
//! The enums are frozen for a version of this crate and deliberately not `#[non_exhaustive]`: exporter,
//! trainer and tests match on them without a wildcard, so that a new variant does not compile until each of
//! them handles it. A variant is therefore added with a new minor version only.

mod architecture;
mod extensions;
mod latent;
mod reducer;

pub(crate) use architecture::{AnyArchitecture, Architecture, Uses};
pub use extensions::{AnomalySpec, DensitySpec, Extensions, Imputation, LinearSpec, TrackingSpec};
pub use latent::{AutoregressivePrior, Family, Forecast, LatentSpec, MAX_DRAWS, Prior};
pub use reducer::{
    ClassifierSpec, MAX_NEIGHBOURS, MAX_POOLS, NoveltyScore, PoolOver, Pooling, ReducerSpec, Window,
};

use heapless::Vec;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Most layers of a network.
///
/// Bounds the list of layers in a [`ModelSpec`], which a loaded model keeps in RAM. Deeper networks do not
/// pay off at the sizes that a microcontroller can run.
pub const MAX_LAYERS: usize = 8;

/// Most inputs, outputs, or units of one layer.
///
/// Keeps every product of two sizes, and every offset derived from them, inside 32 bits on a 32-bit core.
pub const MAX_WIDTH: u16 = 4096;

/// Architecture of a network: everything but the numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelSpec {
    /// Channels per input row.
    pub inputs: u16,
    /// Values per output row; equal to `inputs` when they predict the next input.
    pub outputs: u16,
    /// What the outputs predict.
    pub target: Target,
    /// Distribution of an observation given the outputs.
    pub likelihood: Likelihood,
    /// Approximation of sigmoid and tanh moments that the network was trained with.
    pub moment_form: MomentForm,
    /// Number format of the weights.
    pub weight_format: WeightFormat,
    /// Order in which weights are stored, and arithmetic that runs them.
    pub layout: Layout,
    /// The layers, input side first; none if the outputs are a linear prediction alone.
    pub layers: Vec<LayerSpec, MAX_LAYERS>,
    /// The affine map from the last layer to the outputs.
    pub output: OutputSpec,
    /// Optional parts beyond the network. Not serialized: a trained network has none until it is exported.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub extensions: Extensions,
}

/// What the outputs of a model predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Target {
    /// The next input row. Enables the surprise score, and imputation of missing channels by their
    /// predictions.
    Next,
    /// Other columns, at the time of the input row.
    Columns,
    /// The next input row by a residual connection: x_t plus the output map. An untrained network predicts
    /// that nothing changes. Inputs beyond the number of outputs, such as the latents of a generative
    /// network, are not predicted.
    ResidualNext,
    /// Clean values of the input row by a residual connection: x_t plus the output map, channel by channel.
    /// An untrained network passes its inputs on.
    ResidualSame,
}

/// Distribution of an observation given the network's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Likelihood {
    /// Normal, with one learned noise variance per output.
    Gaussian,
    /// Binary: the probability of a one is the sigmoid of the output.
    Bernoulli,
    /// Normal, with a predicted noise variance: each output has two rows in the output map, its mean and the
    /// logarithm of its noise variance.
    Heteroscedastic,
    /// One of all outputs is 1 and the others are 0: their probabilities are the softmax of the outputs.
    Categorical,
}

/// Approximation of the moments of sigmoid and tanh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MomentForm {
    /// Fitted, within 5·10⁻⁴ of quadrature (`moments::logistic`).
    Accurate,
    /// As printed in Bayer 2015 (thesis, 2.3.4), to reproduce published results.
    Paper,
}

/// Number format of stored weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WeightFormat {
    /// Little-endian IEEE single precision.
    F32,
    /// Signed bytes in −127…127 with one scale per row.
    Int8,
}

/// Order in which weights are stored, and arithmetic that runs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Layout {
    /// Groups of sixteen, four or one units, column by column over the concatenated columns [x, h]. Runs in
    /// floating point.
    Float,
    /// Bytes in blocks of four rows and eight columns. Runs in integers; weights are squared while running.
    Small,
    /// As [`Small`](Layout::Small), with a second stream of bytes for the squares: faster, one more byte per
    /// weight.
    Fast,
    /// As [`Small`](Layout::Small), for networks that carry no variance at all.
    Mean,
    /// As [`Fast`](Layout::Fast), without the pairs of columns that are zero in all four rows of a group: for
    /// pruned networks.
    Sparse,
}

/// One layer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LayerSpec {
    /// Recurrence of its units.
    pub cell: CellKind,
    /// Number of hidden units.
    pub units: u16,
    /// Noise on the layer's input before its affine map.
    pub input_noise: UnitNoise,
    /// Noise on the layer's own last state before its affine map.
    pub recurrent_noise: UnitNoise,
    /// Whether weights and biases have variances of their own.
    pub weight_variance: bool,
    /// Factor β on the variance of the layer's output; 1 except in implicit variance networks (Bayer 2015,
    /// thesis, 2.6.1).
    pub variance_scale: f32,
}

/// Recurrence of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum CellKind {
    /// h_t = f(W [x_t, h_{t−1}] + b).
    Elman(Activation),
    /// Long short-term memory: input, forget and output gates around a cell.
    Lstm,
    /// f(W x_t + b): no recurrence, hence no columns for the last state.
    Dense(Activation),
    /// Gated recurrent unit (Cho et al. 2014) with the reset gate after the recurrent product, as in PyTorch
    /// and cuDNN: n_t = tanh(W_nx x_t + b_nx + r_t ⊙ (W_nh h_{t−1} + b_nh)), h_t = (1 − z_t) ⊙ n_t + z_t ⊙
    /// h_{t−1}.
    Gru,
}

/// Activation function of an Elman or dense layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh,
    /// Logistic sigmoid.
    Sigmoid,
    /// max(0, a).
    Relu,
}

/// Noise on units before an affine map (Bayer 2015, thesis, 2.3.4 and 2.5); its moments are in
/// [`noise`](crate::noise).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
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
    /// A normal variate of mean 0 and this variance is added to each unit.
    Additive {
        /// Variance of the summand.
        var: f32,
    },
}

/// The affine map from the last layer to the outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OutputSpec {
    /// Whether variance is propagated through the map.
    pub mode: OutputMode,
    /// Noise on the last hidden state before the map.
    pub noise: UnitNoise,
    /// Whether weights and biases have variances of their own.
    pub weight_variance: bool,
    /// Factor β on the propagated output variance; 1 except in implicit variance networks (Bayer 2015,
    /// thesis, 2.6.1).
    pub variance_scale: f32,
}

/// Whether the output map propagates variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OutputMode {
    /// Means and variances go through the affine map.
    Propagating,
    /// Means only; incoming variance and noise are ignored. Not the same as keeping every unit.
    MeanOnly,
}

impl ModelSpec {
    /// Values in the last rows that a linear part reads; 0 without one.
    pub(crate) fn linear_values(&self) -> usize {
        self.extensions.linear.map_or(0, |linear| usize::from(linear.rows) * usize::from(self.inputs))
    }

    /// Inputs of layer `index`: the model's own for the first, else the units of the layer below.
    pub(crate) fn layer_inputs(&self, index: usize) -> usize {
        match index.checked_sub(1).and_then(|below| self.layers.get(below)) {
            Some(below) => below.units.into(),
            None => self.inputs.into(),
        }
    }
}

impl Target {
    /// Whether the outputs predict the next input row.
    pub const fn is_next(self) -> bool {
        matches!(self, Target::Next | Target::ResidualNext)
    }

    /// Whether the output map is added to the input row.
    pub const fn is_residual(self) -> bool {
        matches!(self, Target::ResidualNext | Target::ResidualSame)
    }
}

impl Layout {
    /// Whether the model runs in integers.
    pub const fn is_quantized(self) -> bool {
        match self {
            Layout::Float => false,
            Layout::Small | Layout::Fast | Layout::Mean | Layout::Sparse => true,
        }
    }
}

impl CellKind {
    /// Rows of weights per unit: one, or one per gate.
    pub const fn gates(self) -> usize {
        match self {
            CellKind::Elman(_) | CellKind::Dense(_) => 1,
            CellKind::Lstm => 4,
            CellKind::Gru => 3,
        }
    }

    /// Biases per unit: one per gate. The candidate of a GRU has two, because its sums over the input and
    /// over the state stay apart until the reset gate has multiplied the latter.
    pub const fn biases(self) -> usize {
        match self {
            CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Lstm => self.gates(),
            CellKind::Gru => 4,
        }
    }

    /// State variables per unit: h, and c for an LSTM.
    pub const fn states(self) -> usize {
        match self {
            CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Gru => 1,
            CellKind::Lstm => 2,
        }
    }

    /// Whether the last state has columns in the layer's affine map.
    pub const fn is_recurrent(self) -> bool {
        match self {
            CellKind::Elman(_) | CellKind::Lstm | CellKind::Gru => true,
            CellKind::Dense(_) => false,
        }
    }
}

impl UnitNoise {
    /// Whether the variance of a unit, at most 1 as its squared mean is, may be above 1 after the noise, or
    /// close to it: for dropout it is at most p (1 − p) + p = 1 − (1 − p)².
    pub(crate) const fn is_strong(self) -> bool {
        match self {
            UnitNoise::None => false,
            UnitNoise::Dropout { keep } => keep.is_nan() || keep > 0.95,
            UnitNoise::Multiplicative { .. } | UnitNoise::Additive { .. } => true,
        }
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

    /// Whether observations are normal; otherwise outputs are probabilities.
    pub const fn is_normal(self) -> bool {
        match self {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => true,
            Likelihood::Bernoulli | Likelihood::Categorical => false,
        }
    }
}
