//! Groups of bars, each with a colour.

use super::legend::{Entry, Mark};

const COLOURS: [&str; 4] = ["blue", "orange", "green", "purple"];

/// Names of the groups in order of appearance.
pub(super) struct Groups<'a>(Vec<&'a str>);

impl<'a> Groups<'a> {
    /// The groups of all bars.
    pub(super) fn new(of_bars: impl Iterator<Item = &'a str>) -> Self {
        let mut groups = Vec::new();
        for group in of_bars {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        Groups(groups)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Their entries in a legend.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().zip(COLOURS.iter().cycle()).map(|(group, colour)| Entry::new(Mark::Bar(colour), *group))
    }

    pub(super) fn colour(&self, group: &str) -> &'static str {
        let index = self.0.iter().position(|name| *name == group).unwrap_or(0);
        COLOURS[index % COLOURS.len()]
    }
}
