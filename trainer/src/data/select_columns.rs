//! Selects the input and target columns of a file.

use std::collections::{HashMap, HashSet};

use super::table::{listed, places};
use crate::config::{AheadTargets, ColumnPatterns, Columns, Targets};

/// The names of the selected columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectedColumns {
    pub(crate) inputs: Vec<String>,
    pub(crate) targets: Vec<String>,
}

impl SelectedColumns {
    /// Selects among the columns of a file, which `"all"` means without those `left_out`. The error names the
    /// invalid key and how to fix it.
    pub(crate) fn new(
        inputs: &Columns,
        targets: &Targets,
        left_out: &HashSet<String>,
        names: &[String],
    ) -> Result<SelectedColumns, String> {
        let may_be_inputs = matches!(targets, Targets::Ahead(_));
        let targets = match targets {
            Targets::Next | Targets::Clean | Targets::Labels => None,
            Targets::Matching(patterns) => Some(resolve("data.targets", patterns, names)?),
            Targets::Ahead(AheadTargets { next, .. }) => {
                next.as_ref().map(|next| next.among("data.targets.next", names)).transpose()?
            }
            Targets::Class(class) => {
                Some(resolve("data.targets.class", std::slice::from_ref(&class.column), names)?)
            }
        };
        let among_targets: HashSet<&String> = targets.iter().flatten().collect();
        let is_target = |name: &String| !may_be_inputs && among_targets.contains(name);
        let inputs = match inputs {
            Columns::All => {
                names.iter().filter(|name| !is_target(name) && !left_out.contains(*name)).cloned().collect()
            }
            Columns::Matching(patterns) => resolve("data.inputs", patterns, names)?,
        };
        if inputs.is_empty() {
            return Err("data.inputs: every column is a target or left out, which leaves no input".into());
        }
        if let Some(both) = inputs.iter().find(|name| is_target(name)) {
            return Err(format!("column `{both}` is both input and target; take it out of one of them"));
        }
        let targets = targets.clone().unwrap_or_else(|| inputs.clone());
        Ok(SelectedColumns { targets, inputs })
    }

    /// All columns to read, each once: the inputs, then the targets that are not inputs.
    pub(crate) fn all(&self) -> Vec<String> {
        let inputs: HashSet<&String> = self.inputs.iter().collect();
        let others = self.targets.iter().filter(|target| !inputs.contains(target));
        self.inputs.iter().chain(others).cloned().collect()
    }
}

/// The columns that match the patterns, each at most once.
fn resolve(key: &str, patterns: &[String], names: &[String]) -> Result<Vec<String>, String> {
    let (mut chosen, mut seen) = (Vec::new(), HashSet::new());
    let places = places(names);
    for pattern in patterns {
        for name in matching(pattern, names, &places).map_err(|problem| format!("{key}: {problem}"))? {
            if !seen.insert(name) {
                return Err(format!("{key}: column `{name}` is named twice"));
            }
            chosen.push(name.clone());
        }
    }
    if chosen.is_empty() {
        return Err(format!("{key} names no column; the columns are {}", listed(names)));
    }
    Ok(chosen)
}

fn matching<'a>(
    pattern: &str,
    names: &'a [String],
    places: &HashMap<&str, usize>,
) -> Result<&'a [String], String> {
    let place = |wanted: &str| places.get(wanted).copied();
    if let Some(index) = place(pattern) {
        return Ok(&names[index..=index]);
    }
    let missing = |name: &str| format!("no column `{name}`; the columns are {}", listed(names));
    let Some((from, to)) = pattern.split_once("..") else { return Err(missing(pattern)) };
    let start = place(from).ok_or_else(|| missing(from))?;
    let end = match to.strip_prefix('=') {
        Some(last) => place(last).map(|index| index + 1).ok_or_else(|| missing(last))?,
        // One past the last numbered column is a valid end, although no column has that name.
        None if names.last().is_some_and(|last| follows(last, to)) => names.len(),
        None => place(to).ok_or_else(|| missing(to))?,
    };
    match names.get(start..end) {
        Some(stretch @ [_, ..]) => Ok(stretch),
        _ => Err(format!("`{pattern}` contains no column; the columns are {}", listed(names))),
    }
}

/// Whether the names are consecutive, such as c3 and c4.
fn follows(last: &str, name: &str) -> bool {
    let number = |name: &str| name.strip_prefix('c').and_then(|digits| digits.parse::<usize>().ok());
    number(last).zip(number(name)).is_some_and(|(last, number)| number == last + 1)
}

impl ColumnPatterns {
    /// The matching columns among `names`. The error starts with the key.
    pub(crate) fn among(&self, key: &str, names: &[String]) -> Result<Vec<String>, String> {
        resolve(key, self.as_slice(), names)
    }

    /// Indices of the matching columns among `names`, each at most once. The error starts with the key.
    pub(crate) fn places(&self, key: &str, names: &[String]) -> Result<Vec<usize>, String> {
        let places = places(names);
        let chosen = resolve(key, self.as_slice(), names)?;
        Ok(chosen.iter().filter_map(|name| places.get(name.as_str()).copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["emg1", "emg2", "emg3", "force"].map(String::from).to_vec()
    }

    fn choose(inputs: &[&str], targets: &[&str]) -> Result<SelectedColumns, String> {
        let patterns = |list: &[&str]| list.iter().map(|name| name.to_string()).collect();
        let inputs = if inputs == ["all"] { Columns::All } else { Columns::Matching(patterns(inputs)) };
        let targets = if targets == ["next"] { Targets::Next } else { Targets::Matching(patterns(targets)) };
        SelectedColumns::new(&inputs, &targets, &HashSet::new(), &names())
    }

    #[test]
    fn all_means_all_but_the_targets() {
        let choice = choose(&["all"], &["force"]).unwrap();
        assert_eq!((choice.inputs.len(), choice.targets.as_slice()), (3, ["force".to_string()].as_slice()));
        assert_eq!(choice.all(), names());
    }

    #[test]
    fn all_leaves_out_what_it_is_told_to() {
        let left_out = HashSet::from(["emg2".to_string()]);
        let targets = Targets::Matching(vec!["force".into()]);
        let choice = SelectedColumns::new(&Columns::All, &targets, &left_out, &names()).unwrap();
        assert_eq!(choice.inputs, ["emg1", "emg3"]);
        let named = Columns::Matching(vec!["emg2".into()]);
        let choice = SelectedColumns::new(&named, &targets, &left_out, &names()).unwrap();
        assert_eq!(choice.inputs, ["emg2"], "what is named is read");
    }

    #[test]
    fn next_predicts_the_inputs() {
        let choice = choose(&["force", "emg1..emg3"], &["next"]).unwrap();
        assert_eq!(choice.inputs, ["force", "emg1", "emg2"]);
        assert_eq!(choice.targets, choice.inputs);
        assert_eq!(choice.all(), choice.inputs);
    }

    #[test]
    fn columns_ahead_are_inputs_as_well() {
        let choose = |targets: &str| {
            let targets = toml::from_str::<toml::Table>(targets).unwrap().remove("t").unwrap();
            let targets: Targets = targets.try_into().unwrap();
            SelectedColumns::new(&Columns::All, &targets, &HashSet::new(), &names())
        };
        let choice = choose("t = { next = 'force' }").unwrap();
        assert_eq!(
            (choice.inputs.as_slice(), choice.targets),
            (names().as_slice(), vec!["force".to_string()])
        );
        assert_eq!(choose("t = { horizon = 2 }").unwrap().targets, names());
        let choice = choose("t = { class = 'force' }").unwrap();
        assert_eq!(choice.inputs.len(), 3, "a label is no input");
        assert!(
            choose("t = { class = 'grip' }").unwrap_err().starts_with("data.targets.class: no column `grip`")
        );
    }

    #[test]
    fn stretches_of_columns() {
        assert_eq!(choose(&["emg1..=emg3"], &["force"]).unwrap().inputs, ["emg1", "emg2", "emg3"]);
        let numbered = ["c0", "c1", "c2"].map(String::from);
        let matching = |pattern: &str, names| matching(pattern, names, &places(names));
        assert_eq!(matching("c1..c3", &numbered).unwrap(), ["c1", "c2"]);
        let later = ["c4", "c5", "c6"].map(String::from);
        assert_eq!(matching("c5..c7", &later).unwrap(), ["c5", "c6"]);
        assert!(matching("c5..c8", &later).is_err() && matching("c4..c3", &later).is_err());
    }

    #[test]
    fn faults_name_the_key_and_the_columns_there_are() {
        let error = |inputs, targets| choose(inputs, targets).unwrap_err();
        let there_are = "the columns are emg1, emg2, emg3, force";
        assert_eq!(error(&["emg9"], &["force"]), format!("data.inputs: no column `emg9`; {there_are}"));
        assert_eq!(error(&["all"], &["forse"]), format!("data.targets: no column `forse`; {there_are}"));
        assert_eq!(error(&["emg1..emg9"], &["force"]), format!("data.inputs: no column `emg9`; {there_are}"));
        assert_eq!(
            error(&["emg2..emg1"], &["force"]),
            format!("data.inputs: `emg2..emg1` contains no column; {there_are}")
        );
        assert_eq!(error(&[], &["force"]), format!("data.inputs names no column; {there_are}"));
        assert_eq!(error(&["emg1", "emg1"], &["force"]), "data.inputs: column `emg1` is named twice");
        assert_eq!(
            error(&["emg1", "force"], &["force"]),
            "column `force` is both input and target; take it out of one of them"
        );
        assert_eq!(
            error(&["all"], &["emg1..=force"]),
            "data.inputs: every column is a target or left out, which leaves no input"
        );
    }
}
