//! The node: messages in, steps of the model, messages out.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use quaver_bridge::{Durations, Estimate, StopFlag, Stream};
use ros2_client::Publisher;

use crate::arguments::Arguments;
use crate::diagnostics::{self, Counts, Facts, Health, OK};
use crate::field::{Kind, Message};
use crate::inputs::Inputs;
use crate::messages::{DiagnosticArray, Float64MultiArray, Header, Imu, JointState, Stamp};
use crate::outputs;
use crate::plan::{Plan, Steps};
use crate::schedule::Schedule;
use crate::wire::{self, Receiver, Wire};

/// How often the node looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often diagnostics are published; a turn for the worse comes within [`PATIENCE`].
const REPORT: Duration = Duration::from_secs(1);

/// A publisher of estimates in a standard type.
enum Sender {
    Imu(Publisher<Imu>),
    Joints(Publisher<JointState>),
}

/// A running node.
pub(crate) struct Running<'s, 'm> {
    stream: &'s mut Stream<'m>,
    plan: Plan,
    name: String,
    hardware: String,
    wire: Wire,
    receivers: Vec<Receiver>,
    /// In which they are read: the topic that steps comes last, so that its steps see what came with it.
    order: Vec<usize>,
    senders: Vec<Sender>,
    predictions: Publisher<Float64MultiArray>,
    diagnostics: Publisher<DiagnosticArray>,
    inputs: Inputs,
    row: Vec<f32>,
    /// For steps at a fixed rate, from the first message on: before it there is neither a row nor a time.
    schedule: Option<Schedule>,
    health: Health,
    counts: Counts,
    latency: Durations,
    /// Between steps, where messages determine them.
    intervals: Durations,
    last_step: Option<Instant>,
    last_look: Option<Instant>,
    last_report: Option<Instant>,
    last_level: u8,
}

impl<'s, 'm> Running<'s, 'm> {
    /// Joins the network with a plan.
    ///
    /// # Errors
    /// If a name is not one of ROS, or the network cannot be used.
    pub(crate) fn start(
        stream: &'s mut Stream<'m>,
        plan: Plan,
        arguments: &Arguments,
        domain: u16,
        local: bool,
    ) -> Result<Self> {
        let mut wire = Wire::join(&arguments.namespace, &arguments.node, domain, local)?;
        let receivers =
            plan.sources.iter().map(|source| wire.subscribe(&source.topic, source.kind, source.reliable));
        let receivers = receivers.collect::<Result<_>>()?;
        let mut order: Vec<usize> = (0..plan.sources.len()).collect();
        order.sort_by_key(|index| plan.steps == Steps::On(*index));
        let senders = plan.sinks.iter().map(|sink| {
            Ok(match sink.kind {
                Kind::Imu => Sender::Imu(wire.publisher(&sink.topic)?),
                _ => Sender::Joints(wire.publisher(&sink.topic)?),
            })
        });
        let senders = senders.collect::<Result<_>>()?;
        Ok(Running {
            predictions: wire.publisher(&arguments.topic("~/prediction"))?,
            diagnostics: wire.publisher(&arguments.topic("/diagnostics"))?,
            inputs: Inputs::new(&plan, stream.inputs().len()),
            name: arguments.topic("~/").trim_end_matches('/').into(),
            hardware: format!("model {:08x}", stream.crc()),
            stream,
            plan,
            wire,
            receivers,
            order,
            senders,
            row: Vec::new(),
            schedule: None,
            health: Health::default(),
            counts: Counts::default(),
            latency: Durations::default(),
            intervals: Durations::default(),
            last_step: None,
            last_look: None,
            last_report: None,
            last_level: OK,
        })
    }

    /// Runs until it is stopped.
    ///
    /// # Errors
    /// If the system cannot wait for messages.
    pub(crate) fn run(&mut self, stop: &StopFlag) -> Result<()> {
        while !stop.is_raised() {
            self.wait()?;
            self.receive();
            while let Some(due) = self.schedule.as_mut().and_then(|schedule| schedule.due(Instant::now())) {
                let now = Instant::now();
                if let Some(time) = self.inputs.time(now) {
                    self.step(now, time, due);
                }
            }
            self.report_if_due();
        }
        Ok(())
    }

    /// Waits for messages or the next step. The system waits for whole milliseconds; the rest is slept.
    fn wait(&mut self) -> Result<()> {
        let until = |next: Instant| next.saturating_duration_since(Instant::now());
        let longest =
            self.schedule.as_ref().map_or(PATIENCE, |schedule| until(schedule.next()).min(PATIENCE));
        let whole = Duration::from_millis(longest.as_millis() as u64);
        self.wire.wait(whole)?;
        if let Some(schedule) = &self.schedule {
            let rest = until(schedule.next());
            if rest < Duration::from_millis(1) {
                thread::sleep(rest);
            }
        }
        Ok(())
    }

    /// Takes in what has arrived.
    fn receive(&mut self) {
        for place in 0..self.order.len() {
            let index = self.order[place];
            while let Some(taken) = self.receivers[index].take().transpose() {
                match taken {
                    Ok((message, sent)) => self.read(index, message, sent),
                    Err(_) => self.counts.unreadable += 1,
                }
            }
        }
    }

    fn read(&mut self, index: usize, message: Message, sent: Stamp) {
        let arrival = Instant::now();
        let stamp = message.header().map_or(sent, |header| header.stamp);
        self.inputs.read(index, &self.plan.sources[index], message, stamp, arrival);
        match self.plan.steps {
            Steps::On(trigger) if trigger == index => self.step(arrival, stamp, arrival),
            Steps::On(_) => {}
            Steps::Every(period) => {
                self.schedule.get_or_insert_with(|| Schedule::new(period, arrival));
            }
        }
    }

    /// Steps the model and publishes. `begin` is when the row arrived or was due.
    fn step(&mut self, now: Instant, stamp: Stamp, begin: Instant) {
        self.inputs.row(now, &mut self.row);
        let estimate = self.stream.step(&self.row).clone();
        self.health.add(&estimate);
        self.publish(&estimate, now, stamp);
        self.counts.steps += 1;
        self.latency.add(begin.elapsed());
        if let Some(last) = self.last_step.replace(begin) {
            self.intervals.add(begin.saturating_duration_since(last));
        }
    }

    fn publish(&mut self, estimate: &Estimate, now: Instant, stamp: Stamp) {
        let array = outputs::array(estimate, self.stream.outputs(), stamp, self.counts.steps);
        let mut failed = u64::from(self.predictions.publish(array).is_err());
        for (sink, sender) in self.plan.sinks.iter().zip(&self.senders) {
            let is_sent = match sender {
                Sender::Imu(publisher) => {
                    let last =
                        sink.copy.and_then(|index| self.inputs.last(index, &self.plan.sources[index], now));
                    publisher.publish(outputs::imu(sink, estimate, stamp, last)).is_ok()
                }
                Sender::Joints(publisher) => {
                    publisher.publish(outputs::joints(sink, estimate, stamp)).is_ok()
                }
            };
            failed += u64::from(!is_sent);
        }
        self.counts.unpublished += failed;
    }

    /// Publishes diagnostics every second, and at once when things have got worse.
    fn report_if_due(&mut self) {
        let now = Instant::now();
        let since = |last: Instant| now.saturating_duration_since(last);
        if self.last_look.is_some_and(|last| since(last) < PATIENCE) {
            return;
        }
        self.last_look = Some(now);
        let mut health = std::mem::take(&mut self.health);
        let facts = self.facts(now);
        let level = health.level(&facts);
        if level > self.last_level || self.last_report.is_none_or(|last| since(last) >= REPORT) {
            let status = health.report(&facts);
            if level != self.last_level {
                eprintln!(
                    "{}: {}",
                    ["running", "warning", "error", "stale"][usize::from(level.min(3))],
                    status.message
                );
            }
            let header = Header { stamp: wire::now(), frame_id: String::new() };
            let sent = self.diagnostics.publish(DiagnosticArray { header, status: vec![status] });
            self.counts.unpublished += u64::from(sent.is_err());
            (self.last_level, self.last_report) = (level, Some(now));
        }
        self.health = health;
    }

    fn facts(&self, now: Instant) -> Facts<'_> {
        let (late, skipped) =
            self.schedule.as_ref().map_or((0, 0), |schedule| (schedule.late, schedule.skipped));
        let age = |index: usize| {
            self.inputs.received[index].arrival.map(|arrival| now.saturating_duration_since(arrival))
        };
        let sources = self.plan.sources.iter().enumerate();
        let stale = sources.filter(|(index, source)| self.inputs.is_stale(*index, source, now));
        Facts {
            node: &self.name,
            hardware: &self.hardware,
            inputs: self.stream.inputs(),
            counts: Counts { late, skipped, ..self.counts },
            stale: stale.map(|(index, source)| (source.topic.as_str(), age(index))).collect(),
            topics: self.plan.sources.len(),
            latency: &self.latency,
            period: self.period(),
        }
    }

    /// The time between steps: as planned, or as messages have come.
    fn period(&self) -> Option<Duration> {
        match self.plan.steps {
            Steps::Every(period) => Some(period),
            Steps::On(_) => Some(self.intervals.median()).filter(|period| !period.is_zero()),
        }
    }

    /// One line about the whole run.
    pub(crate) fn summary(&self) -> String {
        let Counts { steps, late, skipped, .. } = self.facts(Instant::now()).counts;
        let latency = diagnostics::latency(&self.latency, self.period());
        format!("{steps} steps, {late} late, {skipped} skipped; latency {latency}")
    }
}
