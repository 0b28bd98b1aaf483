//! The bridges to ROS 2 and the Lab Streaming Layer, each against an independent peer in Python, on the
//! loopback interface alone.

use std::time::Duration;

use anyhow::Result;

use super::SKIPPED;
use super::environment::Environment;
use crate::deny;
use crate::shell::Shell;

const SHARED: &str = "bindings/bridge";
const ROS2: &str = "bindings/ros2";
const LSL: &str = "bindings/lsl";
/// Some builds take minutes, on a busy machine many.
const LIMIT: Duration = Duration::from_secs(3600);

/// Formatting, lints, tests and licences of what the bridges share.
pub(super) fn shared() -> Result<String> {
    check(SHARED, None)?;
    Ok(String::from("current"))
}

pub(super) fn ros2() -> Result<String> {
    match Environment::ready("ros2", &["cyclonedds==11.0.1"])? {
        Ok(environment) => check(ROS2, Some(&environment.program("python"))),
        Err(reason) => Ok(format!("{SKIPPED}{reason}")),
    }
}

pub(super) fn lsl() -> Result<String> {
    match Environment::ready("lsl", &["pylsl==1.18.6"])? {
        Ok(environment) => check(LSL, Some(&environment.program("python"))),
        Err(reason) => Ok(format!("{SKIPPED}{reason}")),
    }
}

/// Checks a crate, and returns the latencies that its tests have printed.
fn check(folder: &str, python: Option<&str>) -> Result<String> {
    Shell::cargo("fmt --check").in_folder(folder).run()?;
    let lints = Shell::cargo("clippy --quiet --release --locked --all-targets -- -D warnings");
    lints.in_folder(folder).limit(LIMIT).run()?;
    let tests = Shell::cargo("test --quiet --release --locked -- --nocapture").in_folder(folder).limit(LIMIT);
    let printed =
        python.into_iter().fold(tests, |tests, python| tests.variable("QUAVER_PYTHON", python)).run()?;
    deny::check_licences(folder)?;
    Ok(latencies(&printed).join("; "))
}

/// What a message takes from the peer and back, as a share of the period.
fn latencies(printed: &str) -> Vec<&str> {
    let lines =
        printed.lines().filter(|line| line.contains("% of the period") && line.contains("to the peer"));
    // Dots are those of tests that have passed.
    lines.map(|line| line.trim_start_matches('.').trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_found_among_what_tests_print() {
        let printed = "running 4 tests\n..imu: from the peer through the node to the peer 7.5 % of the period of 20 ms\n\
                       imu: 60 steps; latency median 0.03 ms (0.2 % of the period)\ntest result: ok. 4 passed\n";
        assert_eq!(
            latencies(printed),
            ["imu: from the peer through the node to the peer 7.5 % of the period of 20 ms"]
        );
    }
}
