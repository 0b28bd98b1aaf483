//! The class of every row: labels of a column become one target per class.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::MAX_WIDTH;

use super::labelled::{check_class_names, class_name, in_class_order, numeric_label};
use super::rows::{Rows, Sequence};
use super::table::listed;
use crate::config::ClassTarget;

/// The labels of all files, each with a code: its place in the order in which they were met. A row's code is
/// its only target until all files are read.
#[derive(Debug, Default)]
pub(super) struct LabelCodes {
    labels: Vec<String>,
    codes: HashMap<String, usize>,
}

impl LabelCodes {
    /// The code of a label; NaN of an empty one.
    ///
    /// # Errors
    /// When there are more labels than a model may have outputs.
    pub(super) fn code(&mut self, label: &str) -> Result<f32> {
        if label.is_empty() {
            return Ok(f32::NAN);
        }
        if let Some(&code) = self.codes.get(label) {
            return Ok(code as f32);
        }
        ensure!(
            self.labels.len() < usize::from(MAX_WIDTH),
            "data.targets.class: more than {MAX_WIDTH} different labels; to predict a number, name its column in \
             data.targets"
        );
        self.codes.insert(label.to_string(), self.labels.len());
        self.labels.push(label.to_string());
        Ok((self.labels.len() - 1) as f32)
    }

    /// The code of a label in a file of numbers.
    ///
    /// # Errors
    /// When the label is not an integer, or there are too many.
    pub(super) fn numeric_code(&mut self, label: f32) -> Result<f32> {
        let label = numeric_label(label).map_err(anyhow::Error::msg)?;
        self.code(label.as_deref().unwrap_or_default())
    }

    /// Replaces labels that are numbers, in a column of every sequence, by their codes.
    pub(super) fn encode(&mut self, sequences: &mut [Rows], column: usize) -> Result<()> {
        for (index, rows) in sequences.iter_mut().enumerate() {
            let channels = rows.channels;
            for (row, value) in rows.values.iter_mut().skip(column).step_by(channels).enumerate() {
                *value =
                    self.numeric_code(*value).with_context(|| format!("row {row} of sequence {index}"))?;
            }
        }
        Ok(())
    }

    /// The labels of sequences whose targets are codes.
    fn found(&self, sequences: &[Sequence]) -> BTreeSet<&String> {
        let codes = sequences.iter().flat_map(|sequence| &sequence.targets.values);
        let codes: BTreeSet<usize> = codes.filter(|code| !code.is_nan()).map(|code| *code as usize).collect();
        codes.into_iter().map(|code| &self.labels[code]).collect()
    }
}

/// Replaces codes by targets of 0 and 1, one per class of the training data; returns the names of the
/// classes.
///
/// # Errors
/// When there are fewer than two classes, or a split has a label that the training data do not have.
pub(super) fn classify_targets(
    class: &ClassTarget,
    codes: &LabelCodes,
    splits: [(&str, &mut Vec<Sequence>); 3],
    validation: &str,
) -> Result<Vec<String>> {
    let [(_, train), ..] = &splits;
    let labels = in_class_order(codes.found(train));
    check_class_names("data.targets.names", &class.names, &labels)?;
    let named = |label: &String| class_name(&class.names, label).to_string();
    let names: Vec<String> = labels.iter().map(named).collect();
    match names.as_slice() {
        [] => bail!(
            "data.targets.class: no row of the training data has a label in column `{}`; label some rows",
            class.column
        ),
        [one] => bail!(
            "data.targets.class: every label in the training data is `{one}`; a classifier needs two or more classes"
        ),
        _ => {}
    }
    let class_of: Vec<Option<usize>> =
        codes.labels.iter().map(|label| labels.iter().position(|known| known == label)).collect();
    for (key, sequences) in splits {
        let has_label = |sequence: &Sequence| sequence.targets.values.iter().any(|code| !code.is_nan());
        ensure!(
            sequences.is_empty() || sequences.iter().any(has_label),
            "data.{key}: no row has a label in column `{}`; label some rows",
            class.column
        );
        for (index, sequence) in sequences.iter_mut().enumerate() {
            let unknown = |row: usize, code: usize| {
                let part = if key == "valid" { format!(" ({validation})") } else { String::new() };
                format!(
                    "row {row} of sequence {index} of data.{key}{part} is of class `{}`, which no training row has; the \
                     classes are {}. Add rows of it to data.train, choose other rows for data.{key}, or leave these labels \
                     empty",
                    named(&codes.labels[code]),
                    listed(&names)
                )
            };
            let targets = one_hot(&sequence.targets, &class_of, names.len())
                .map_err(|(row, code)| anyhow::Error::msg(unknown(row, code)))?;
            *sequence = Sequence { targets: Arc::new(targets), ..sequence.clone() };
        }
    }
    Ok(names)
}

/// A row of zeros and a one for every code, missing values where there is none; the error is the first row
/// whose code is no class, and that code.
fn one_hot(codes: &Rows, class_of: &[Option<usize>], classes: usize) -> Result<Rows, (usize, usize)> {
    let mut values = Vec::with_capacity(codes.len() * classes);
    for (row, &code) in codes.values.iter().enumerate() {
        if code.is_nan() {
            values.extend(std::iter::repeat_n(f32::NAN, classes));
            continue;
        }
        let class = class_of[code as usize].ok_or((row, code as usize))?;
        values.extend((0..classes).map(|other| if other == class { 1.0 } else { 0.0 }));
    }
    Ok(Rows { channels: classes, values })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sequence(codes: &mut LabelCodes, labels: &[&str]) -> Sequence {
        let values = labels.iter().map(|label| codes.code(label).unwrap()).collect();
        let inputs = Rows { channels: 1, values: vec![0.0; labels.len()] };
        Sequence::columns(inputs, Rows { channels: 1, values })
    }

    fn classify(
        names: &[(&str, &str)],
        train: &[&str],
        test: &[&str],
    ) -> Result<(Vec<String>, [Vec<f32>; 2])> {
        let mut codes = LabelCodes::default();
        let [mut train, mut test] = [train, test].map(|labels| vec![sequence(&mut codes, labels)]);
        let names: BTreeMap<String, String> =
            names.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let class = ClassTarget { column: "gesture".into(), names };
        let splits = [("train", &mut train), ("valid", &mut Vec::new()), ("test", &mut test)];
        let names = classify_targets(&class, &codes, splits, "")?;
        Ok((names, [train, test].map(|split| split[0].targets.values.clone())))
    }

    #[test]
    fn labels_become_one_target_per_class() {
        let (names, [train, test]) = classify(&[], &["10", "9", "10"], &["", "9"]).unwrap();
        assert_eq!(names, ["9", "10"], "integers are in the order of numbers");
        assert_eq!(train, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert!(test[..2].iter().all(|value| value.is_nan()) && test[2..] == [1.0, 0.0]);
        let (names, _) = classify(&[("1", "fist")], &["1", "2", "x"], &["x"]).unwrap();
        assert_eq!(names, ["fist", "2", "x"]);
    }

    #[test]
    fn what_cannot_be_learned_is_refused() {
        let error = |train: &[&str], test: &[&str]| classify(&[], train, test).unwrap_err().to_string();
        assert!(error(&["a", "a"], &["a"]).contains("every label in the training data is `a`"));
        assert!(
            error(&["", ""], &["a"]).contains("no row of the training data has a label in column `gesture`")
        );
        assert!(error(&["a", "b"], &["", ""]).starts_with("data.test: no row has a label"));
        let unknown = error(&["a", "b"], &["a", "c"]);
        assert!(
            unknown
                .starts_with("row 1 of sequence 0 of data.test is of class `c`, which no training row has")
        );
        assert!(
            classify(&[("z", "y")], &["a", "b"], &["a"]).unwrap_err().to_string().contains("no label `z`")
        );
    }

    #[test]
    fn numbers_are_labels_if_they_are_integers() {
        let mut codes = LabelCodes::default();
        let mut rows = [Rows { channels: 2, values: vec![0.5, 3.0, 0.5, f32::NAN, 0.5, -1.0] }];
        codes.encode(&mut rows, 1).unwrap();
        assert_eq!((rows[0].values[1], rows[0].values[5]), (0.0, 1.0));
        assert_eq!(codes.labels, ["3", "-1"]);
        let mut rows = [Rows { channels: 1, values: vec![1.0, 0.5] }];
        let error = format!("{:#}", codes.encode(&mut rows, 0).unwrap_err());
        assert!(error.contains("row 1 of sequence 0: the label 0.5 is not an integer"), "{error}");
        let many = (0..=MAX_WIDTH).try_for_each(|label| codes.code(&label.to_string()).map(drop));
        assert!(many.unwrap_err().to_string().contains("different labels"));
    }
}
