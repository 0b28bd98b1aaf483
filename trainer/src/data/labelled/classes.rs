//! The classes of a data set.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail, ensure};

use super::recording::Label;
use crate::config::LabelsConfig;
use crate::data::table::listed;
use crate::printable::unprintable_in;

/// The classes there are, each with an index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classes {
    pub(super) names: Vec<String>,
    index: HashMap<String, usize>,
}

impl Classes {
    /// Classes in this order.
    pub(super) fn new(names: Vec<String>) -> Self {
        let index = names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        Classes { names, index }
    }

    /// The classes of training data.
    pub(super) fn of_training<'a>(
        labels: impl Iterator<Item = &'a Label>,
        config: &LabelsConfig,
    ) -> Result<Self> {
        let labels = in_class_order(labels.flatten().collect());
        check_class_names("data.labels.names", &config.names, &labels)?;
        if let Some(unknown) = config.exclude.iter().find(|class| {
            !labels.iter().any(|label| label == *class || class_name(&config.names, label) == class.as_str())
        }) {
            bail!(
                "data.labels.exclude: no class `{unknown}` in data.train; its classes are {}",
                listed(&labels)
            );
        }
        let kept = labels.iter().filter(|label| !excludes(config, label));
        let names: Vec<String> = kept.map(|label| class_name(&config.names, label).to_string()).collect();
        match names.as_slice() {
            [] => bail!("data.train: no sequence has a class; a classifier needs two or more classes"),
            [one] => bail!(
                "data.train: every sequence is of class `{one}`; a classifier needs two or more classes"
            ),
            _ => Ok(Classes::new(names)),
        }
    }

    /// The index of a label; nothing if it is none of the classes.
    pub(super) fn index(&self, label: &Label, config: &LabelsConfig) -> Option<usize> {
        let label = label.as_ref()?;
        self.index.get(class_name(&config.names, label)).copied()
    }

    /// The index of a label in the split `key` of a training config, where every label must be one of the
    /// classes or be excluded.
    pub(super) fn known(&self, key: &str, label: &Label, config: &LabelsConfig) -> Result<Option<usize>> {
        let index = self.index(label, config);
        if let (None, Some(label)) = (index, label) {
            ensure!(
                excludes(config, label),
                "data.{key}: a sequence is of class `{}`, which data.train does not have; its classes are {}. Add \
                 sequences of it to the training data, or remove these",
                class_name(&config.names, label),
                listed(&self.names)
            );
        }
        Ok(index)
    }
}

/// Whether a class is excluded by its label or its name.
pub(super) fn excludes(config: &LabelsConfig, label: &String) -> bool {
    config.exclude.iter().any(|class| class == label || class == class_name(&config.names, label))
}

/// Labels in the order of the numbers if all are integers, and of the alphabet otherwise.
pub(in crate::data) fn in_class_order(labels: BTreeSet<&String>) -> Vec<String> {
    let mut order: Vec<(Option<i64>, &String)> =
        labels.into_iter().map(|label| (label.parse().ok(), label)).collect();
    if order.iter().all(|(number, _)| number.is_some()) {
        order.sort();
    }
    order.into_iter().map(|(_, label)| label.clone()).collect()
}

/// The name of the class with this label.
pub(in crate::data) fn class_name<'a>(names: &'a BTreeMap<String, String>, label: &'a String) -> &'a str {
    names.get(label).unwrap_or(label)
}

/// Checks the names that `key` gives to the labels of the training data.
pub(in crate::data) fn check_class_names(
    key: &str,
    names: &BTreeMap<String, String>,
    labels: &[String],
) -> Result<()> {
    if let Some(unknown) = names.keys().find(|label| !labels.contains(label)) {
        bail!("{key}: no label `{unknown}` in data.train; its labels are {}", listed(labels));
    }
    let mut seen = BTreeSet::new();
    for label in labels {
        let name = class_name(names, label);
        if let Some(character) = unprintable_in(name) {
            bail!("the control character {character} in the class `{}`; rename it", name.escape_default());
        }
        ensure!(seen.insert(name), "{key}: two classes are called `{name}`; rename one");
    }
    Ok(())
}
