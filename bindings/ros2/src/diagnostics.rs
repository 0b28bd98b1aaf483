//! What a person or a supervisor should know about the node, as `diagnostic_msgs`.

use std::collections::BTreeMap;
use std::time::Duration;

use quaver::anomaly::{Anomaly, worse};
use quaver_bridge::{Durations, Estimate};

use crate::messages::{DiagnosticStatus, KeyValue};

/// Levels of `DiagnosticStatus`.
pub(crate) const OK: u8 = 0;
pub(crate) const WARN: u8 = 1;
pub(crate) const ERROR: u8 = 2;
pub(crate) const STALE: u8 = 3;

/// Counts of a node's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) steps: u64,
    pub(crate) late: u64,
    pub(crate) skipped: u64,
    /// Messages that could not be decoded.
    pub(crate) unreadable: u64,
    /// Messages that could not be sent.
    pub(crate) unpublished: u64,
}

/// What happened since the last report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// The worst anomaly.
    anomaly: Option<Anomaly>,
    anomalous_rows: u64,
    /// Implausible values by channel.
    implausible: BTreeMap<usize, u64>,
    /// Counts at the last report.
    reported: Counts,
}

/// What a report shows besides.
pub(crate) struct Facts<'f> {
    pub(crate) node: &'f str,
    pub(crate) hardware: &'f str,
    pub(crate) inputs: &'f [String],
    pub(crate) counts: Counts,
    /// Topics that have sent nothing within their timeouts, with how long ago their last message was.
    pub(crate) stale: Vec<(&'f str, Option<Duration>)>,
    pub(crate) topics: usize,
    /// From the arrival of a row, or the time of its step, to its publication.
    pub(crate) latency: &'f Durations,
    pub(crate) period: Option<Duration>,
}

impl Health {
    /// Takes in a step.
    pub(crate) fn add(&mut self, estimate: &Estimate) {
        self.anomaly = worse(self.anomaly, estimate.anomaly);
        self.anomalous_rows += u64::from(estimate.is_anomalous());
        for channel in &estimate.implausible {
            *self.implausible.entry(*channel).or_default() += 1;
        }
    }

    /// The level that a report would have now.
    pub(crate) fn level(&self, facts: &Facts<'_>) -> u8 {
        self.problems(facts).iter().map(|(level, _)| *level).max().unwrap_or(OK)
    }

    fn problems(&self, facts: &Facts<'_>) -> Vec<(u8, String)> {
        let mut problems = Vec::new();
        let mut add = |level, problem: String| problems.push((level, problem));
        let Counts { late, skipped, unreadable, unpublished, .. } = self.news(facts.counts);
        if facts.stale.len() == facts.topics {
            add(STALE, "no messages".into());
        } else if !facts.stale.is_empty() {
            let topics: Vec<&str> = facts.stale.iter().map(|(topic, _)| *topic).collect();
            add(WARN, format!("nothing from {}", topics.join(", ")));
        }
        if let Some(anomaly) = self.anomaly.filter(Anomaly::is_anomalous) {
            add(ERROR, format!("anomaly: {}", described(&anomaly, facts.inputs)));
        }
        if !self.implausible.is_empty() {
            let names: Vec<&str> =
                self.implausible.keys().map(|channel| name(facts.inputs, *channel)).collect();
            add(WARN, format!("implausible {}", names.join(", ")));
        }
        for (count, what) in [
            (late, "late steps"),
            (skipped, "skipped steps"),
            (unreadable, "unreadable messages"),
            (unpublished, "messages not sent"),
        ] {
            if count > 0 {
                add(WARN, format!("{what}: {count}"));
            }
        }
        problems
    }

    /// Counts since the last report.
    fn news(&self, counts: Counts) -> Counts {
        Counts {
            steps: counts.steps - self.reported.steps,
            late: counts.late - self.reported.late,
            skipped: counts.skipped - self.reported.skipped,
            unreadable: counts.unreadable - self.reported.unreadable,
            unpublished: counts.unpublished - self.reported.unpublished,
        }
    }

    /// A report; the next one begins after it.
    pub(crate) fn report(&mut self, facts: &Facts<'_>) -> DiagnosticStatus {
        let problems = self.problems(facts);
        let message = match problems.is_empty() {
            true => "running".into(),
            false => problems.iter().map(|(_, problem)| problem.as_str()).collect::<Vec<_>>().join("; "),
        };
        let status = DiagnosticStatus {
            level: self.level(facts),
            name: format!("{}: model", facts.node.trim_start_matches('/')),
            message,
            hardware_id: facts.hardware.into(),
            values: self.values(facts),
        };
        *self = Health { reported: facts.counts, ..Health::default() };
        status
    }

    fn values(&self, facts: &Facts<'_>) -> Vec<KeyValue> {
        let Counts { steps, late, skipped, unreadable, unpublished } = facts.counts;
        let counts = [steps, late, skipped, unreadable, unpublished].map(|count| count.to_string());
        let names = ["steps", "late steps", "skipped steps", "unreadable messages", "messages not sent"];
        let mut values: Vec<KeyValue> =
            names.into_iter().zip(counts).map(|(key, count)| value(key, count)).collect();
        for (channel, count) in &self.implausible {
            values.push(value(&format!("implausible {}", name(facts.inputs, *channel)), count.to_string()));
        }
        if let Some(anomaly) = self.anomaly {
            values.push(value("anomalous rows", self.anomalous_rows.to_string()));
            values.push(value("worst anomaly", described(&anomaly, facts.inputs)));
        }
        for (topic, age) in &facts.stale {
            let age = age.map_or("no message yet".into(), |age| {
                format!("last message {:.1} s ago", age.as_secs_f64())
            });
            values.push(value(topic, age));
        }
        values.push(value("latency", latency(facts.latency, facts.period)));
        values
    }
}

/// "0.41 ms (4.1 % of the period), at most 2.10 ms (21.0 %)".
pub(crate) fn latency(latency: &Durations, period: Option<Duration>) -> String {
    let share =
        |duration: Duration| match period.map(|period| period.as_secs_f64()).filter(|period| *period > 0.0) {
            Some(period) => format!(" ({:.1} % of the period)", 100.0 * duration.as_secs_f64() / period),
            None => String::new(),
        };
    let shown = |duration: Duration| format!("{:.2} ms{}", 1e3 * duration.as_secs_f64(), share(duration));
    format!("median {}, at most {}", shown(latency.median()), shown(latency.longest()))
}

fn described(anomaly: &Anomaly, inputs: &[String]) -> String {
    let channel = anomaly.channel.map(|channel| format!(" of {}", name(inputs, channel.into())));
    let text = anomaly.to_string();
    let kind = text.split([',', '(']).next().unwrap_or_default().trim();
    format!("{kind}{}, score {:.1}", channel.unwrap_or_default(), anomaly.score)
}

fn name(inputs: &[String], channel: usize) -> &str {
    inputs.get(channel).map_or("?", String::as_str)
}

fn value(key: &str, value: String) -> KeyValue {
    KeyValue { key: key.into(), value }
}

#[cfg(test)]
mod tests {
    use quaver::anomaly::AnomalyKind;

    use super::*;

    fn facts<'f>(latency: &'f Durations, inputs: &'f [String]) -> Facts<'f> {
        Facts {
            node: "/quaver",
            hardware: "crc 1",
            inputs,
            counts: Counts { steps: 10, ..Counts::default() },
            stale: Vec::new(),
            topics: 2,
            latency,
            period: Some(Duration::from_millis(10)),
        }
    }

    #[test]
    fn a_report_names_what_happened_since_the_last_one() {
        let (mut latency, inputs, mut health) =
            (Durations::default(), ["hip", "knee"].map(String::from), Health::default());
        latency.add(Duration::from_millis(1));
        let status = health.report(&facts(&latency, &inputs));
        assert_eq!(
            (status.level, status.message.as_str(), status.name.as_str()),
            (OK, "running", "quaver: model")
        );
        assert!(status.values.iter().any(|entry| entry.value.contains("10.0 % of the period")));

        let anomaly = Anomaly { score: 1.8, channel: Some(1), kind: AnomalyKind::Stuck };
        health.add(&Estimate { anomaly: Some(anomaly), implausible: vec![0], ..Estimate::default() });
        let mut facts = facts(&latency, &inputs);
        facts.counts.late = 3;
        facts.stale.push(("/imu", None));
        let status = health.report(&facts);
        assert_eq!(status.level, ERROR);
        assert_eq!(
            status.message,
            "nothing from /imu; anomaly: stuck of knee, score 1.8; implausible hip; late steps: 3"
        );
        assert!(status.values.contains(&value("/imu", "no message yet".into())));

        facts.stale.clear();
        assert_eq!(health.report(&facts).level, OK, "what was reported is over");
        facts.stale = vec![("/imu", Some(Duration::from_secs(2))), ("/joints", None)];
        assert_eq!(health.level(&facts), STALE);
    }
}
