//! Value of `data.format`.

use serde::{Deserialize, Serialize};

/// Value of `data.format`: the format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// Comma-separated values: a row per sample, named columns, an empty cell for a missing value.
    Csv,
    /// A NumPy array in a `.npy` file; NaN is a missing value.
    Npy,
    /// Piano rolls: a sequence per line, steps separated by `;`, the MIDI notes of a step by `,`.
    PianoRoll,
    /// Text as words, separated by white space; the end of a line is the word `<eos>`. Never inferred.
    Words,
    /// Text as characters, the end of a line among them. Never inferred.
    Characters,
}
