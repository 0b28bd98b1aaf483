//! Samples in, steps of the model, predictions out.

use std::time::{Duration, Instant};

use anyhow::Result;
use quaver_bridge::{Durations, StopFlag, Stream};

use crate::inlet::Inlet;
use crate::outlet::Outlet;
use crate::record::Record;
use crate::timeline::Timeline;

/// How often a line says that all is well.
const PROGRESS: Duration = Duration::from_secs(10);

/// A model with the columns of its channels and the outlet of its predictions.
type Model<'s, 'm> = (&'s mut Stream<'m>, Vec<Option<usize>>, Outlet);

/// A running bridge.
pub(crate) struct Bridge<'s, 'm> {
    inlet: &'s Inlet,
    model: Option<Model<'s, 'm>>,
    record: Option<Record>,
    timeline: Timeline,
    row: Vec<f32>,
    steps: u64,
    anomalous: u64,
    implausible: u64,
    /// From the arrival of a sample to its prediction.
    latency: Durations,
}

impl<'s, 'm> Bridge<'s, 'm> {
    pub(crate) fn new(
        inlet: &'s Inlet,
        timeout: f64,
        model: Option<Model<'s, 'm>>,
        record: Option<Record>,
    ) -> Self {
        Bridge {
            inlet,
            model,
            record,
            timeline: Timeline::new(inlet.rate, timeout),
            row: Vec::new(),
            steps: 0,
            anomalous: 0,
            implausible: 0,
            latency: Durations::default(),
        }
    }

    /// Runs until it is stopped, or the stream is lost for good.
    ///
    /// # Errors
    /// If the stream is lost, or a file cannot be written.
    pub(crate) fn run(&mut self, stop: &StopFlag) -> Result<()> {
        let (mut sample, mut shown, mut is_silent) = (Vec::new(), Instant::now(), false);
        while !stop.is_raised() {
            let time = self.inlet.pull(&mut sample, self.timeline.patience().as_secs_f64())?;
            let now = Instant::now();
            if let Some(time) = time {
                self.read(&sample, time, now)?;
            }
            let given_up = self.timeline.give_up(now);
            sample.iter_mut().for_each(|value| *value = f64::NAN);
            for time in &given_up {
                self.step(&sample, *time, now)?;
            }
            let was_silent = is_silent;
            is_silent = !given_up.is_empty() || is_silent && time.is_none();
            if is_silent != was_silent {
                let what = if is_silent { "is silent: rows are missing" } else { "is back" };
                eprintln!("{} {what}", self.inlet.name);
            }
            if shown.elapsed() >= PROGRESS {
                shown = now;
                eprintln!("{}", self.summary());
            }
        }
        self.record.as_mut().map_or(Ok(()), Record::flush)
    }

    fn read(&mut self, sample: &[f64], time: f64, now: Instant) -> Result<()> {
        if let Some(record) = &mut self.record {
            record.write(time, sample)?;
        }
        if self.timeline.sample(time, now) { self.step(sample, time, now) } else { Ok(()) }
    }

    fn step(&mut self, sample: &[f64], time: f64, begin: Instant) -> Result<()> {
        let Some((stream, columns, outlet)) = &mut self.model else { return Ok(()) };
        self.row.clear();
        let value = |column: &Option<usize>| {
            column.and_then(|column| sample.get(column)).map_or(f32::NAN, |value| *value as f32)
        };
        self.row.extend(columns.iter().map(value));
        let estimate = stream.step(&self.row);
        self.steps += 1;
        self.anomalous += u64::from(estimate.is_anomalous());
        self.implausible += estimate.implausible.len() as u64;
        outlet.push(estimate, time)?;
        self.latency.add(begin.elapsed());
        Ok(())
    }

    /// One line about the whole run.
    pub(crate) fn summary(&self) -> String {
        let mut parts = Vec::new();
        if let Some(record) = &self.record {
            parts.push(format!("{} rows recorded", record.rows));
        }
        if self.model.is_some() {
            let median = self.latency.median().as_secs_f64();
            let share = 100.0 * median * self.inlet.rate;
            let share = if share > 0.0 { format!(" ({share:.2} % of the period)") } else { String::new() };
            parts.push(format!("{} steps, median latency {:.3} ms{share}", self.steps, 1e3 * median));
        }
        for (count, what) in [
            (self.timeline.missing, "missing rows"),
            (self.timeline.too_late, "samples came too late"),
            (self.anomalous, "anomalous rows"),
            (self.implausible, "implausible values"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        parts.join("; ")
    }
}
