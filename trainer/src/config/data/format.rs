//! Values of `data.format` and `data.decimal`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Value of `data.format`: the format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// Comma-separated values: a row per sample, named columns, an empty cell for a missing value.
    Csv,
    /// A NumPy array in a `.npy` file; NaN is a missing value.
    Npy,
    /// A Parquet table: named columns of numbers, time stamps or text; a null is a missing value.
    Parquet,
    /// A ROS 2 bag: messages in an MCAP file, a column for every number, such as `imu.angular_velocity.x`.
    Mcap,
    /// Piano rolls: a sequence per line, steps separated by `;`, the MIDI notes of a step by `,`.
    PianoRoll,
    /// Text as words, separated by white space; the end of a line is the word `<eos>`. Never inferred.
    Words,
    /// Text as characters, the end of a line among them. Never inferred.
    Characters,
}

/// Value of `data.decimal`: the decimal mark of CSV files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalMark {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

impl fmt::Display for DecimalMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecimalMark::Point => "point",
            DecimalMark::Comma => "comma",
        })
    }
}
