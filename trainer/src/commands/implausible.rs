//! Implausible values that a command met: counted by channel, and reported at its end.

use quaver::Model;
use serde::{Serialize, Serializer};

use crate::data::Sequence;

/// Numbers of implausible values.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ImplausibleValues {
    /// In total.
    values: usize,
    /// Rows with at least one.
    rows: usize,
    /// Rows in total.
    of_rows: usize,
    /// By name of the channel.
    #[serde(serialize_with = "not_zero")]
    channels: Vec<(String, usize)>,
}

fn not_zero<S: Serializer>(channels: &[(String, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(channels.iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name, count)))
}

impl ImplausibleValues {
    /// None yet, of channels with these names, or of numbered ones.
    pub(super) fn new(names: &[String], channels: usize) -> Self {
        let name = |index: usize| names.get(index).cloned().unwrap_or_else(|| format!("c{index}"));
        let channels = (0..channels).map(|index| (name(index), 0)).collect();
        ImplausibleValues { values: 0, rows: 0, of_rows: 0, channels }
    }

    /// Those of sequences, for a network that reads them.
    pub(super) fn in_sequences(network: &Model<'_>, sequences: &[Sequence]) -> Self {
        let names: Vec<String> = network.checkpoint().input_names().map(String::from).collect();
        let mut found = Self::new(&names, network.spec().inputs.into());
        for row in sequences.iter().flat_map(|sequence| sequence.inputs.iter()) {
            found.add(network.implausible_in(row));
        }
        found
    }

    /// Adds a row with these implausible channels.
    pub(super) fn add(&mut self, channels: impl IntoIterator<Item = usize>) {
        let before = self.values;
        for channel in channels {
            self.values += 1;
            if let Some((_, count)) = self.channels.get_mut(channel) {
                *count += 1;
            }
        }
        self.rows += usize::from(self.values > before);
        self.of_rows += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values == 0
    }

    /// One line, if there were any: `12 implausible values in 9 of 1000 rows (emg3 10, emg5 2)`.
    pub(super) fn line(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let named = self.channels.iter().filter(|(_, count)| *count > 0);
        let named: Vec<String> = named.map(|(name, count)| format!("{name} {count}")).collect();
        let ImplausibleValues { values, rows, of_rows, .. } = self;
        let plural = if *values == 1 { "" } else { "s" };
        Some(format!(
            "{values} implausible value{plural} in {rows} of {of_rows} rows, treated as missing ({})",
            named.join(", ")
        ))
    }

    /// Reports them on standard error, if there were any.
    pub(super) fn report(&self) {
        self.line().into_iter().for_each(|line| eprintln!("{line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_rows_are_counted_by_name() {
        let mut found = ImplausibleValues::new(&["a".into(), "b".into()], 2);
        assert_eq!(found.line(), None);
        found.add([0, 1]);
        found.add([]);
        found.add([1]);
        let line = "3 implausible values in 2 of 3 rows, treated as missing (a 1, b 2)";
        assert_eq!(found.line().as_deref(), Some(line));
        let mut unnamed = ImplausibleValues::new(&[], 3);
        unnamed.add([2]);
        assert!(
            unnamed
                .line()
                .unwrap()
                .starts_with("1 implausible value in 1 of 1 rows, treated as missing (c2 1)")
        );
        let json = serde_json::to_value(&unnamed).unwrap();
        assert_eq!(json, serde_json::json!({"values": 1, "rows": 1, "of_rows": 1, "channels": {"c2": 1}}));
    }
}
