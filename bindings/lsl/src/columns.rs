//! Which channel of a stream every channel of a model is.

use anyhow::{Context, Result, anyhow, ensure};
use quaver_bridge::assign;

use crate::arguments::Arguments;

/// For each input of the model the index of its channel in the stream; none for a missing one.
///
/// # Errors
/// If a label does not occur once, or an input has none.
pub(crate) fn columns(
    arguments: &Arguments,
    inputs: &[String],
    labels: &[String],
) -> Result<Vec<Option<usize>>> {
    let Arguments { channel, missing, in_order, .. } = arguments;
    if *in_order {
        let present: Vec<&str> =
            inputs.iter().filter(|input| !missing.contains(input)).map(String::as_str).collect();
        ensure!(
            present.len() == labels.len(),
            "the stream has {} channels and the model {} that are not missing",
            labels.len(),
            present.len()
        );
        return assign(inputs, &present, missing);
    }
    let named = |input: &String| channel.iter().any(|(name, _)| name == input) || missing.contains(input);
    let by_name = inputs.iter().filter(|input| !named(input) && labels.contains(input));
    let by_name = by_name.map(|input| (input.as_str(), input.as_str()));
    let pairs: Vec<(&str, &str)> =
        channel.iter().map(|(name, label)| (name.as_str(), label.as_str())).chain(by_name).collect();
    let sources: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
    let assigned = assign(inputs, &sources, missing);
    let assigned = assigned.map_err(|error| {
        anyhow!(
            "{error}. The stream has the channels {}: give --channel, --in-order or --missing",
            labels.join(", ")
        )
    })?;
    let column = |source: Option<usize>| source.map(|index| position(labels, pairs[index].1)).transpose();
    assigned.into_iter().map(column).collect()
}

fn position(labels: &[String], label: &str) -> Result<usize> {
    let mut places = labels.iter().enumerate().filter(|(_, other)| *other == label).map(|(index, _)| index);
    let first = places.next();
    ensure!(
        places.next().is_none(),
        "the stream has more than one channel `{label}`; --in-order tells them apart"
    );
    first.with_context(|| format!("the stream has no channel `{label}`; it has {}", labels.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn found(text: &str, labels: &[&str]) -> Result<Vec<Option<usize>>> {
        let words =
            ["quaver-lsl", "--type", "EMG", "--model", "m.qvr"].into_iter().chain(text.split_whitespace());
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        columns(&Arguments::parse_from(words), &["a", "b", "c"].map(String::from), &labels)
    }

    fn error(text: &str, labels: &[&str]) -> String {
        format!("{:#}", found(text, labels).expect_err("refused"))
    }

    #[test]
    fn channels_are_found_by_label_by_name_and_by_order() {
        assert_eq!(found("", &["c", "x", "b", "a"]).ok(), Some(vec![Some(3), Some(2), Some(0)]));
        assert_eq!(
            found("--channel a=x --missing b", &["x", "b", "c"]).ok(),
            Some(vec![Some(0), None, Some(2)])
        );
        assert_eq!(found("--in-order --missing b", &["1", "2"]).ok(), Some(vec![Some(0), None, Some(1)]));
    }

    #[test]
    fn what_is_ambiguous_or_absent_is_named() {
        assert!(error("", &["a", "b"]).contains("no source for `c`"));
        assert!(error("", &["a", "b"]).contains("The stream has the channels a, b"));
        assert!(error("", &["a", "b", "c", "c"]).contains("more than one channel `c`"));
        assert!(error("--channel a=x", &["a", "b", "c"]).contains("no channel `x`"));
        assert!(error("--channel d=a", &["a", "b", "c"]).contains("no channel `d`"));
        assert!(error("--in-order", &["1", "2"]).contains("2 channels and the model 3"));
    }
}
