//! Errors of making a checkpoint (feature `write`).

use core::fmt;
use std::boxed::Box;
use std::string::String;

use super::{Error, Part};

/// Why a checkpoint could not be made. Names the part and the field at fault.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WriteError {
    /// The number of affine maps differs from the number of layers in the spec.
    Layers {
        /// Layers of the spec.
        expected: usize,
        /// Maps given.
        found: usize,
    },
    /// A list has the wrong length.
    Length {
        /// Which part of the model.
        part: Part,
        /// Which list.
        field: &'static str,
        /// Values expected.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// The name of a channel or a class is empty or has control characters, such as the end of a line.
    Name {
        /// The name.
        name: String,
    },
    /// A value is too large for the integer kernels.
    TooLarge {
        /// Which part of the model.
        part: Part,
        /// Which row of its affine map.
        row: usize,
        /// Which of the row's numbers.
        field: &'static str,
    },
    /// The weights of a map need scales that the integer kernels do not have.
    Scales {
        /// Which part of the model.
        part: Part,
    },
    /// A part has more bytes than the format can count.
    TooLong {
        /// Which part of the file.
        field: &'static str,
        /// Its bytes.
        bytes: usize,
    },
    /// A number or a combination is one that readers refuse.
    Refused(Error),
    /// A network of a latent model or a reducer could not be made.
    Network {
        /// Which network.
        network: Part,
        /// Why.
        error: Box<WriteError>,
    },
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        WriteError::Refused(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Layers { expected, found } => {
                write!(f, "{found} layers given, the spec has {expected}")
            }
            WriteError::Length { part, field, expected, found } => {
                write!(f, "{part}: {field}: {expected} values expected, {found} given")
            }
            WriteError::Name { name } => {
                write!(f, "name {name:?}: must be one non-empty line without control characters")
            }
            WriteError::TooLarge { part, row, field } => {
                write!(f, "{part}: row {row}: {field} is too large for integer kernels; use the layout float")
            }
            WriteError::Scales { part } => {
                write!(f, "{part}: the weights are too large for integer kernels; use the layout float")
            }
            WriteError::TooLong { field, bytes } => {
                write!(f, "{field}: {bytes} bytes do not fit the format")
            }
            WriteError::Refused(error) => error.fmt(f),
            WriteError::Network { network, error } => write!(f, "{network}: {error}"),
        }
    }
}

impl core::error::Error for WriteError {}
