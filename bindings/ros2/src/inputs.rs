//! The latest value of every channel, until it is too old.

use std::time::{Duration, Instant};

use crate::field::Message;
use crate::messages::Stamp;
use crate::plan::{Plan, Source};

/// A value that has arrived.
#[derive(Clone, Copy, Debug)]
struct Latest {
    value: f32,
    arrival: Instant,
    timeout: Duration,
}

impl Latest {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.arrival) <= self.timeout
    }
}

/// A topic's messages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) arrival: Option<Instant>,
    /// The last message, of topics that a publication copies.
    pub(crate) last: Option<Message>,
}

/// What has arrived on all topics.
#[derive(Debug)]
pub(crate) struct Inputs {
    latest: Vec<Option<Latest>>,
    pub(crate) received: Vec<Received>,
    copied: Vec<bool>,
    /// The newest time stamp, and when it arrived.
    newest: Option<(Stamp, Instant)>,
    /// The last time of a row.
    last_time: i64,
}

/// A clock that goes back by more nanoseconds was set: a recording that begins again, a simulation.
const RESET: i64 = 1_000_000_000;

impl Inputs {
    pub(crate) fn new(plan: &Plan, channels: usize) -> Self {
        let is_copied = |index| plan.sinks.iter().any(|sink| sink.copy == Some(index));
        Inputs {
            latest: vec![None; channels],
            received: vec![Received::default(); plan.sources.len()],
            copied: (0..plan.sources.len()).map(is_copied).collect(),
            newest: None,
            last_time: i64::MIN,
        }
    }

    /// Takes in a message of the topic of this index, with its time. Each of its fields has an age of its
    /// own: publishers that share a topic of joint states send different joints.
    pub(crate) fn read(
        &mut self,
        index: usize,
        source: &Source,
        message: Message,
        stamp: Stamp,
        arrival: Instant,
    ) {
        for route in &source.routes {
            if let Some(value) = message.value(&route.field) {
                let value = (value * route.scale) as f32;
                self.latest[route.channel] = Some(Latest { value, arrival, timeout: source.timeout });
            }
        }
        let is_newer = |newest: Stamp| !is_behind(stamp.nanos(), newest.nanos());
        if self.newest.is_none_or(|(newest, _)| is_newer(newest)) {
            self.newest = Some((stamp, arrival));
        }
        let received = &mut self.received[index];
        received.arrival = Some(arrival);
        if self.copied[index] {
            received.last = Some(message);
        }
    }

    /// Writes the row at this moment: NaN for what has not come, or is too old.
    pub(crate) fn row(&self, now: Instant, row: &mut Vec<f32>) {
        row.clear();
        let fresh = |latest: &Option<Latest>| latest.filter(|latest| latest.is_fresh(now));
        row.extend(self.latest.iter().map(|latest| fresh(latest).map_or(f32::NAN, |latest| latest.value)));
    }

    /// Whether a topic has sent nothing within its timeout.
    pub(crate) fn is_stale(&self, index: usize, source: &Source, now: Instant) -> bool {
        let age = |arrival: Instant| now.saturating_duration_since(arrival);
        self.received[index].arrival.is_none_or(|arrival| age(arrival) > source.timeout)
    }

    /// The time of a row on the clock of the messages: the newest time stamp, and what has passed since it
    /// arrived; later than that of the row before. None before the first message.
    pub(crate) fn time(&mut self, now: Instant) -> Option<Stamp> {
        let (newest, arrival) = self.newest?;
        let passed = now.saturating_duration_since(arrival).as_nanos().try_into().unwrap_or(i64::MAX);
        let time = newest.nanos().saturating_add(passed);
        self.last_time = if is_behind(time, self.last_time) { self.last_time + 1 } else { time };
        Some(Stamp::from_nanos(self.last_time))
    }

    /// The last message of a topic that is copied, and whether it is within its timeout.
    pub(crate) fn last(&self, index: usize, source: &Source, now: Instant) -> Option<(&Message, bool)> {
        let message = self.received[index].last.as_ref()?;
        Some((message, !self.is_stale(index, source, now)))
    }
}

/// Whether a time is not after another one, on a clock that was not set in between.
fn is_behind(time: i64, other: i64) -> bool {
    time <= other && other.saturating_sub(time) < RESET
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;
    use crate::messages::JointState;

    const MAP: &str = r#"
        rate = 100
        [[topic]]
        name = "/joint_states"
        type = "sensor_msgs/JointState"
        timeout = 0.1
        channels = { hip = "position[hip]", knee = "position[knee]" }
        scale = { knee = 2.0 }
    "#;

    fn joint(name: &str, position: f64) -> Message {
        Message::Joints(JointState {
            name: vec![name.into()],
            position: vec![position],
            ..Default::default()
        })
    }

    fn stamp(sec: i32) -> Stamp {
        Stamp { sec, nanosec: 5 }
    }

    fn plan() -> Plan {
        let channels = ["hip", "knee"].map(String::from);
        Plan::new(&Map::parse(MAP).expect("a map"), &channels, &[]).expect("a map")
    }

    #[test]
    fn values_age_one_by_one() {
        let plan = plan();
        let (source, start, mut row) = (&plan.sources[0], Instant::now(), Vec::new());
        let at = |millis| start + Duration::from_millis(millis);
        let mut inputs = Inputs::new(&plan, 2);
        inputs.row(start, &mut row);
        assert!(row.iter().all(|value| value.is_nan()));
        assert!(inputs.is_stale(0, source, start));

        inputs.read(0, source, joint("hip", 1.0), stamp(7), at(0));
        inputs.read(0, source, joint("knee", 3.0), stamp(7), at(60));
        inputs.row(at(90), &mut row);
        assert_eq!(row, [1.0, 6.0], "scaled");

        inputs.row(at(120), &mut row);
        assert!(row[0].is_nan() && row[1] == 6.0, "{row:?}");
        assert!(!inputs.is_stale(0, source, at(120)) && inputs.is_stale(0, source, at(170)));
        inputs.row(at(170), &mut row);
        assert!(row.iter().all(|value| value.is_nan()));
    }
    #[test]
    fn time_is_that_of_headers_and_goes_on() {
        let plan = plan();
        let (source, start) = (&plan.sources[0], Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        let mut inputs = Inputs::new(&plan, 2);
        assert!(inputs.time(start).is_none());
        inputs.read(0, source, joint("hip", 1.0), stamp(7), at(0));
        assert_eq!(inputs.time(at(0)), Some(Stamp { sec: 7, nanosec: 5 }));
        assert_eq!(inputs.time(at(90)), Some(Stamp { sec: 7, nanosec: 90_000_005 }), "time has passed");
        assert_eq!(inputs.time(at(80)), Some(Stamp { sec: 7, nanosec: 90_000_006 }), "never back");
        inputs.read(0, source, joint("hip", 1.0), stamp(2), at(100));
        assert_eq!(inputs.time(at(100)), Some(Stamp { sec: 2, nanosec: 5 }), "but with a clock that was set");
    }
}
