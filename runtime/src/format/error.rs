//! Errors of reading a checkpoint or a saved state.

use core::fmt;

use super::Kind;

/// Why loading failed. Names the field at fault.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not begin with the checkpoint magic.
    Magic,
    /// The checkpoint is in a signed envelope, which must be opened first.
    Signed,
    /// A checkpoint of another kind, such as a latent model where one network was expected.
    Kind {
        /// The kind found.
        found: Kind,
    },
    /// The format version is not one this crate reads.
    Version {
        /// The version found.
        found: u16,
    },
    /// A length disagrees with what the rest of the file implies.
    Length {
        /// The part whose length is wrong.
        field: &'static str,
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// The checksum does not match: the file is damaged or truncated.
    Crc {
        /// The checksum stored in the file.
        stored: u32,
        /// The checksum of the bytes read.
        computed: u32,
    },
    /// The header could not be decoded.
    Header,
    /// A value is outside its allowed range.
    Invalid {
        /// Which part of the model.
        part: Part,
        /// Which field of that part.
        field: &'static str,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The model's layout needs a backend that is not built into this program.
    NotBuiltIn {
        /// The cargo feature of this crate that enables it.
        feature: &'static str,
    },
    /// A value of a network inside of a latent model or a reducer is outside its allowed range.
    InvalidIn {
        /// Which network.
        network: Part,
        /// Which part of that network.
        part: Part,
        /// Which field of that part.
        field: &'static str,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The arena is too small for this model.
    Arena {
        /// Words the model needs.
        needed: usize,
        /// Words the arena holds.
        found: usize,
    },
    /// A step of the model takes longer than the caller allows.
    Budget {
        /// Multiply-accumulates of the most expensive step.
        needed: u64,
        /// Multiply-accumulates allowed.
        allowed: u64,
    },
    /// A saved state does not fit this model.
    State {
        /// Words a saved state of this model has.
        needed: usize,
        /// Words found.
        found: usize,
    },
    /// A saved state holds an impossible value: not finite, or a negative variance.
    StateValue {
        /// Index of the word at fault.
        word: usize,
    },
}

/// Part of a checkpoint that an error refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Part {
    /// The fixed-size preamble.
    Preamble,
    /// The architecture.
    Spec,
    /// The per-channel scaling of inputs and outputs.
    Scaler,
    /// A layer, counted from 0 at the input side.
    Layer(u8),
    /// The output layer.
    Output,
    /// The density of the input rows.
    Density,
    /// Calibration that follows the stream.
    Tracking,
    /// Detection of faulty channels.
    Anomaly,
    /// Plausible ranges of the inputs.
    Ranges,
    /// The linear prediction from the last rows.
    Linear,
    /// The combination of a latent model's two networks.
    Latent,
    /// The recognition network of a latent model.
    Recognition,
    /// The generative network of a latent model.
    Generative,
    /// The settings of adaptation.
    Adaptation,
    /// The pooling of a reducer.
    Reducer,
    /// The network of a reducer.
    Network,
    /// The classifier of a reducer.
    Classifier,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Preamble => f.write_str("preamble"),
            Part::Spec => f.write_str("spec"),
            Part::Scaler => f.write_str("scaler"),
            Part::Layer(index) => write!(f, "layer {index}"),
            Part::Output => f.write_str("output layer"),
            Part::Density => f.write_str("input density"),
            Part::Tracking => f.write_str("tracking"),
            Part::Anomaly => f.write_str("anomaly detection"),
            Part::Ranges => f.write_str("plausible ranges"),
            Part::Linear => f.write_str("linear part"),
            Part::Latent => f.write_str("latent model"),
            Part::Recognition => f.write_str("recognition network"),
            Part::Generative => f.write_str("generative network"),
            Part::Adaptation => f.write_str("adaptation"),
            Part::Reducer => f.write_str("reducer"),
            Part::Network => f.write_str("network"),
            Part::Classifier => f.write_str("classifier"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Magic => f.write_str("not a Quaver checkpoint: the magic bytes are missing"),
            Error::Signed => f.write_str(
                "the checkpoint is in a signed envelope: open it with quaver::signed::open, and load what is inside",
            ),
            Error::Kind { found: Kind::Predictor } => f.write_str(
                "the checkpoint holds one network: load it with Predictor or Model; a denoiser or sampler needs two",
            ),
            Error::Kind { found: Kind::Latent } => {
                f.write_str("the checkpoint holds a latent model: load it with Denoiser, Sampler or LatentModel")
            }
            Error::Kind { found: Kind::Reducer } => {
                f.write_str("the checkpoint holds a reducer: load it with Reducer or ReducerModel")
            }
            Error::Version { found } => write!(
                f,
                "checkpoint format version {found}, but this build reads versions {} to {}; export the model again",
                super::PLAIN_VERSION,
                super::VERSION
            ),
            Error::Length { field, expected, found } => {
                write!(f, "{field}: {expected} bytes expected, {found} found; the file is truncated or damaged")
            }
            Error::Crc { stored, computed } => write!(
                f,
                "checksum {computed:08x} does not match the stored {stored:08x}; the file is damaged"
            ),
            Error::Header => f.write_str("the header cannot be decoded"),
            Error::Invalid { part, field, allowed } => write!(f, "{part}: {field} must be {allowed}"),
            Error::NotBuiltIn { feature } => {
                write!(
                    f,
                    "the model's layout is not built into this program: enable the feature `{feature}` of quaver"
                )
            }
            Error::InvalidIn { network, part, field, allowed } => {
                write!(f, "{network}, {part}: {field} must be {allowed}")
            }
            Error::Arena { needed, found } => {
                write!(f, "the arena holds {found} words, the model needs {needed}: use Arena::<{needed}>")
            }
            Error::Budget { needed, allowed } => write!(
                f,
                "a step takes up to {needed} multiply-accumulates, {allowed} are allowed: load a smaller model"
            ),
            Error::State { needed, found } => {
                write!(f, "a saved state of this model has {needed} words, {found} were given")
            }
            Error::StateValue { word } => write!(f, "saved state: word {word} is not a possible value"),
        }
    }
}

impl core::error::Error for Error {}
