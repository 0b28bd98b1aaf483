//! Channels of a model, found by name among what a bridge receives.

use anyhow::{Result, bail, ensure};

/// For each input of a model the index of the source of the same name, or none for an input that is named as
/// missing.
///
/// # Errors
/// If a name occurs twice, a source or a missing channel is no input, or an input has neither.
pub fn assign(inputs: &[String], sources: &[&str], missing: &[String]) -> Result<Vec<Option<usize>>> {
    let names: Vec<&str> = sources.iter().copied().chain(missing.iter().map(String::as_str)).collect();
    for (index, name) in names.iter().enumerate() {
        ensure!(!names[..index].contains(name), "the channel `{name}` is given twice");
        ensure!(
            inputs.iter().any(|input| input == name),
            "the model has no channel `{name}`; it has {}",
            listed(inputs.iter().map(String::as_str))
        );
    }
    let unassigned: Vec<&str> =
        inputs.iter().map(String::as_str).filter(|input| !names.contains(input)).collect();
    if !unassigned.is_empty() {
        bail!("no source for {}; name each, or list it as missing", listed(unassigned.into_iter()));
    }
    Ok(inputs.iter().map(|input| sources.iter().position(|source| source == input)).collect())
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sources: &[&str], missing: &[&str]) -> String {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        assign(&["hip", "knee"].map(String::from), sources, &missing).expect_err("an error").to_string()
    }

    #[test]
    fn inputs_are_found_by_name() {
        let inputs = ["hip", "knee", "ankle"].map(String::from);
        let found = assign(&inputs, &["ankle", "hip"], &["knee".into()]).expect("all are known");
        assert_eq!(found, [Some(1), None, Some(0)]);
    }

    #[test]
    fn nothing_is_silently_dropped() {
        assert!(error(&["hip"], &[]).contains("no source for `knee`"));
        assert!(error(&["hip", "knee", "toe"], &[]).contains("no channel `toe`; it has `hip`, `knee`"));
        assert!(error(&["hip", "knee"], &["toe"]).contains("no channel `toe`"));
        assert!(error(&["hip", "hip", "knee"], &[]).contains("`hip` is given twice"));
        assert!(error(&["hip", "knee"], &["knee"]).contains("`knee` is given twice"));
    }
}
