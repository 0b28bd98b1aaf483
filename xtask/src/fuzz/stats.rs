//! What libFuzzer prints, as numbers.

use std::path::PathBuf;

/// The result of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// Inputs tried.
    pub(crate) executions: u64,
    /// Inputs tried in a second.
    pub(crate) per_second: u64,
    /// Features of the program's coverage that inputs have reached.
    pub(crate) features: u64,
    /// Inputs in the corpus that reach something that no other does.
    pub(crate) corpus: u64,
    /// Inputs that were added to the corpus.
    pub(crate) added: u64,
    /// Where the input is that broke a promise.
    pub(crate) finding: Option<PathBuf>,
}

impl Stats {
    /// Reads the final statistics (`-print_final_stats=1`), the last line of progress and the name of a
    /// crashing input.
    pub(crate) fn parse(printed: &str) -> Self {
        let stat = |name: &str| {
            let label = format!("stat::{name}:");
            let line = printed.lines().rev().find_map(|line| line.trim().strip_prefix(&label));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Stats {
            executions: stat("number_of_executed_units"),
            per_second: stat("average_exec_per_sec"),
            features: last_number(printed, " ft: "),
            corpus: last_number(printed, " corp: "),
            added: stat("new_units_added"),
            finding: printed
                .lines()
                .find_map(|line| Some(line.split_once("Test unit written to ")?.1.trim().into())),
        }
    }
}

/// The number behind a label in the last line that has it.
fn last_number(printed: &str, label: &str) -> u64 {
    let after = printed.lines().rev().find_map(|line| Some(line.split_once(label)?.1));
    let digits = after.map(|text| text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb
#8192\tpulse  cov: 80 ft: 200 corp: 17/4096b lim: 80 exec/s: 4096 rss: 40Mb
#9000\tDONE   cov: 81 ft: 204 corp: 18/4100b lim: 80 exec/s: 4500 rss: 41Mb
Done 9000 runs in 2 second(s)
stat::number_of_executed_units: 9000
stat::average_exec_per_sec:     4500
stat::new_units_added:          17
stat::slowest_unit_time_sec:    0
";

    #[test]
    fn final_statistics_are_read() {
        let stats =
            Stats { executions: 9000, per_second: 4500, features: 204, corpus: 18, added: 17, finding: None };
        assert_eq!(Stats::parse(PRINTED), stats);
    }

    #[test]
    fn a_crashing_input_is_named() {
        let crash =
            "artifact_prefix='./'; Test unit written to /tmp/artifacts/npy/crash-da39\nBase64: AA==\n";
        let found = Stats::parse(&format!("{PRINTED}{crash}")).finding;
        assert_eq!(found, Some(PathBuf::from("/tmp/artifacts/npy/crash-da39")));
    }

    #[test]
    fn no_statistics_are_zeros() {
        assert_eq!(Stats::parse("error: something else"), Stats::default());
    }
}
