//! Value of `data.format`: the three file formats.

use serde::{Deserialize, Serialize};

/// Format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// Comma-separated values, see [`csv`](crate::data::csv).
    Csv,
    /// A NumPy array, see [`npy`](crate::data::npy).
    Npy,
    /// Notes per step, see [`piano_roll`](crate::data::piano_roll).
    PianoRoll,
}
