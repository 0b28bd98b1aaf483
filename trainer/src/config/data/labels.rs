//! The section `[data.labels]`: the class of every sequence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{DataConfig, DataSource, FileFormat, Targets};
use crate::config::limits::{InvalidValue, Limits, Rule, check_path, check_rules, invalid, optional};

/// The section `[data.labels]`: where the class of every sequence is found, and how long streams are cut into
/// sequences. For `data.targets = "labels"`, which `[reduce]` needs.
///
/// Without a `column`, labels are in a file of their own: `NAME.y.npy` for series in `NAME.X.npy` (series ×
/// time), `NAME.labels.npy` for sequences in `NAME.values.npy` and `NAME.lengths.npy`, or `file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabelsConfig {
    /// Column with the class of every row: text or integers in a CSV file, integers in a NumPy file. An empty
    /// cell is a row without a class.
    pub column: Option<String>,
    /// CSV: column that names the sequence of every row; a change of its value starts a new sequence. If not
    /// set, the column `sequence`.
    pub sequence: Option<String>,
    /// NumPy: file with one label per sequence, where its name does not follow the convention.
    pub file: Option<PathBuf>,
    /// How recordings with a label per row become sequences.
    pub cut: LabelCut,
    /// Rows of a window, for `cut = "windows"`.
    pub window: Option<usize>,
    /// Rows from the start of one window to the start of the next; if not set, the length of a window.
    pub stride: Option<usize>,
    /// Rows before a window that the network reads but that are not pooled, as in a stream, where its state
    /// goes on; fewer at the start of a recording. Needs `reduce.ring` or `reduce.forgetting`.
    pub warm_up: usize,
    /// Names of classes by their labels, such as `{ 0 = "rest", 1 = "fist" }`; a label that is not listed is
    /// its own name.
    pub names: BTreeMap<String, String>,
    /// Classes, by label or name, that are left out of training and validation. Their test sequences belong
    /// to none of the known classes.
    pub exclude: Vec<String>,
    /// Fraction of the training sequences of every class that is drawn at random for testing, where there is
    /// no `data.test`.
    pub test_fraction: Option<f64>,
    /// Seed of that draw; 1 if not set.
    pub test_seed: Option<u64>,
}

/// Value of `data.labels.cut`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelCut {
    /// The sequences of the file as they are, each of one class.
    #[default]
    Sequences,
    /// Windows of `window` rows; the class of a window is that of its last row. Windows whose last row has no
    /// class are left out.
    Windows,
    /// Runs of rows of one class. Rows without a class are left out.
    Runs,
}

impl LabelsConfig {
    pub(in crate::config) const RULES: [Rule<Self>; 3] = [
        Rule::new("window", Limits::closed(1.0, 1e9), |labels| {
            optional(labels.window.map(|rows| rows as f64))
        }),
        Rule::new("stride", Limits::closed(1.0, 1e9), |labels| {
            optional(labels.stride.map(|rows| rows as f64))
        }),
        Rule::new("test_fraction", Limits::FRACTION, |labels| optional(labels.test_fraction)),
    ];

    /// Resolves relative paths against `folder`.
    pub(super) fn anchor(&mut self, folder: &Path) {
        self.file = self.file.take().map(|file| folder.join(file));
    }

    fn check(&self) -> Result<(), InvalidValue> {
        check_rules("data.labels", self, &Self::RULES)?;
        self.file.iter().try_for_each(|path| check_path("data.labels.file", path))?;
        if self.column.is_some() && self.file.is_some() {
            return Err(invalid(
                "data.labels.file",
                "and `data.labels.column` exclude each other; remove one",
            ));
        }
        if self.column.is_none() && self.cut != LabelCut::Sequences {
            let problem = "needs a label per row: name their column in `data.labels.column`";
            return Err(invalid("data.labels.cut", problem));
        }
        match (self.cut, self.window) {
            (LabelCut::Windows, None) => {
                Err(invalid("data.labels.window", "must be set with `data.labels.cut = \"windows\"`"))
            }
            (LabelCut::Windows, Some(_)) => Ok(()),
            _ if self.window.is_some() || self.stride.is_some() || self.warm_up > 0 => {
                let key = match (self.window, self.stride) {
                    (Some(_), _) => "data.labels.window",
                    (None, Some(_)) => "data.labels.stride",
                    (None, None) => "data.labels.warm_up",
                };
                Err(invalid(key, "is for `data.labels.cut = \"windows\"`; remove it, or set `cut`"))
            }
            _ => Ok(()),
        }
    }
}

impl DataConfig {
    /// Whether the targets are the classes of whole sequences.
    pub fn is_labelled(&self) -> bool {
        self.targets == Targets::Labels
    }

    /// Checks `[data.labels]`, and refuses keys that labelled data have no use for.
    pub(super) fn check_labels(&self) -> Result<(), InvalidValue> {
        let Some(labels) = &self.labels else { return Ok(()) };
        if !self.is_labelled() {
            return Err(invalid("data.labels", "needs `data.targets = \"labels\"`"));
        }
        labels.check()?;
        if labels.test_fraction.is_some() && !self.test.is_empty() {
            let problem = "and `data.test` exclude each other; remove one of them";
            return Err(invalid("data.labels.test_fraction", problem));
        }
        if labels.test_seed.is_some() && labels.test_fraction.is_none() {
            return Err(invalid("data.labels.test_seed", "needs `data.labels.test_fraction`"));
        }
        Ok(())
    }

    /// Refuses settings that do not go with labels.
    pub(super) fn check_labelled(&self) -> Result<(), InvalidValue> {
        if !self.is_labelled() {
            return Ok(());
        }
        let blends = self.augment.as_ref().is_some_and(|augment| augment.blend > 0.0);
        let keys = [
            ("data.envelope", self.envelope.is_some()),
            ("data.noise", self.noise.is_some()),
            ("data.augment.blend", blends),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, set)| *set) {
            return Err(invalid(key, "does not go with `data.targets = \"labels\"`; remove it"));
        }
        let burns_in = |source: &DataSource| source.burn_in.is_some();
        if self.test.iter().any(burns_in) {
            return Err(invalid("data.test", "must not have `burn_in` with `data.targets = \"labels\"`"));
        }
        match self.format {
            Some(FileFormat::PianoRoll | FileFormat::Mcap) => {
                Err(invalid("data.format", "must be \"csv\" or \"npy\" for labels: other formats have none"))
            }
            _ => Ok(()),
        }
    }
}
