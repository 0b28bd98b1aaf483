//! Follows a source: opens it, decodes what arrives, runs a model if there is one, and passes rows on; opens
//! it again when it was gone.

mod clock;
mod csv_rows;
mod frames;
mod pace;
mod text_rows;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use quaver_telemetry::Counts;

use crate::Stop;
use crate::hub::{Connection, Hub};
use crate::layout::Layout;
use crate::model::{self, Stepped, Stepper};
use crate::row::Meta;
use crate::source::{Source, is_time_out};
use clock::Clock;
pub use csv_rows::{CsvRows, OpenCsv};
use frames::Frames;
use pace::Pace;

/// Time between attempts to open a source that is gone.
const RETRY: Duration = Duration::from_millis(500);
/// Bytes per read: more than a serial port buffers.
const CHUNK: usize = 16 * 1024;

/// What the bytes of a source mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Binary frames and lines of text of the line protocol.
    Frames,
    /// Rows of CSV.
    Csv,
}

/// How to follow a source.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What to follow.
    pub source: Source,
    /// What its bytes mean.
    pub format: Format,
    /// A checkpoint that runs here on the rows; its predictions replace those of the sender.
    pub model: Option<Vec<u8>>,
    /// Whether CSV begins with a line of names.
    pub header: bool,
    /// Rows per second of CSV without a column `time`.
    pub rate_hz: f64,
    /// How much faster than it was recorded a file is replayed; `None` for as fast as possible.
    pub speed: Option<f64>,
    /// Whether a file begins again after its end.
    pub repeat: bool,
    /// Whether to wait for a source that is not there at the start.
    pub wait: bool,
    /// The reader of CSV.
    pub open_csv: OpenCsv,
}

/// Starts to follow a source, in a thread of its own.
///
/// # Errors
/// If it cannot be opened at the start and is not to be waited for, or the model cannot run.
pub fn start(settings: Settings, hub: Arc<Hub>, stop: Stop) -> Result<thread::JoinHandle<()>> {
    ensure!(settings.rate_hz > 0.0 && settings.rate_hz.is_finite(), "the rate must be above 0 Hz");
    ensure!(settings.speed.is_none_or(|speed| speed > 0.0), "the speed must be above 0");
    if let Some(bytes) = &settings.model {
        model::with(bytes, |_| Ok(()))?;
    }
    let first = match settings.source.open() {
        Ok(connection) => Some(connection),
        Err(_) if settings.wait => None,
        Err(error) => return Err(error),
    };
    let work = move || {
        let result = match &settings.model {
            Some(bytes) => model::with(bytes, |model| follow(&settings, Some(model), first, &hub, &stop)),
            None => follow(&settings, None, first, &hub, &stop),
        };
        if let Err(error) = result {
            hub.set_connection(Connection::Failed(format!("{error:#}")));
        }
    };
    thread::Builder::new().name("reader".into()).spawn(work).context("cannot start a thread")
}

type Opened = Box<dyn std::io::Read + Send>;

fn follow<'h>(
    settings: &Settings,
    model: Option<&'h mut (dyn Stepper + 'h)>,
    mut first: Option<Opened>,
    hub: &'h Hub,
    stop: &Stop,
) -> Result<()> {
    let mut sink = Sink::new(settings, model, hub, stop);
    loop {
        let opened = first.take().map_or_else(|| settings.source.open(), Ok);
        let reason = match opened {
            Err(error) => format!("{error:#}"),
            Ok(connection) => {
                hub.set_connection(Connection::Connected(settings.source.description()));
                match sink.connection(connection, settings) {
                    Ok(()) => "the end".into(),
                    Err(error) if settings.source.comes_back() => format!("{error:#}"),
                    Err(error) => return Err(error),
                }
            }
        };
        if stop.is_set() {
            return Ok(());
        }
        let what = settings.source.description();
        if settings.source.comes_back() {
            hub.set_connection(Connection::Waiting(format!("{what}: {reason}; trying again")));
            thread::sleep(RETRY);
        } else if settings.source.is_replay() && settings.repeat {
            thread::sleep(Duration::from_millis(1));
        } else {
            hub.set_connection(Connection::Ended(format!("{what}: {reason}")));
            return Ok(());
        }
    }
}

/// Where rows go: through the model, into the hub.
struct Sink<'h> {
    hub: &'h Hub,
    stop: Stop,
    model: Option<&'h mut (dyn Stepper + 'h)>,
    stepped: Stepped,
    clock: Clock,
    pace: Pace,
    is_replay: bool,
    /// Totals of the connections before.
    total: Counts,
    implausible: u64,
}

impl<'h> Sink<'h> {
    fn new(
        settings: &Settings,
        model: Option<&'h mut (dyn Stepper + 'h)>,
        hub: &'h Hub,
        stop: &Stop,
    ) -> Self {
        Sink {
            hub,
            stop: stop.clone(),
            model,
            stepped: Stepped::default(),
            clock: Clock::default(),
            pace: Pace::new(settings.speed),
            is_replay: settings.source.is_replay(),
            total: Counts::default(),
            implausible: 0,
        }
    }

    /// Follows one connection to its end.
    fn connection(&mut self, mut connection: Opened, settings: &Settings) -> Result<()> {
        self.clock.begin_again();
        self.pace = Pace::new(settings.speed);
        if settings.format == Format::Csv {
            return csv_rows::follow(connection, &settings.source.description(), settings, self);
        }
        let stop = self.stop.clone();
        let mut frames = Frames::new(self);
        let mut buffer = vec![0; CHUNK];
        let ended = loop {
            if stop.is_set() {
                break Ok(());
            }
            match connection.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(count) => frames.take(&buffer[..count])?,
                Err(error) if is_time_out(&error) => {}
                Err(error) => break Err(error),
            }
        };
        let counts = frames.end()?;
        self.total = sum(self.total, counts);
        Ok(ended?)
    }

    /// Names of the inputs of the model, if there is one.
    fn model_inputs(&self) -> Option<Vec<String>> {
        let layout = self.model.as_ref()?.layout();
        Some(layout.inputs.iter().map(|channel| channel.name.clone()).collect())
    }

    /// Declares the channels of rows that arrive. With a model they are those of the model.
    fn set_layout(&mut self, arriving: &Layout) {
        let layout = match &self.model {
            None => arriving.clone(),
            Some(model) => Layout { rate_hz: arriving.rate_hz, ..model.layout().clone() },
        };
        self.hub.set_layout(layout);
    }

    /// In a replay, waits for the time of a row.
    fn wait(&mut self, sent: f64) {
        if self.is_replay {
            self.pace.wait(sent, &self.stop);
        }
    }

    /// Passes a row on: with what the sender predicts, or with what the model does.
    fn row(&mut self, meta: Meta, inputs: &[f32], values: &[f32]) -> Result<()> {
        let Some(model) = &mut self.model else {
            self.hub.push(meta, values);
            return Ok(());
        };
        let expected = model.layout().inputs.len();
        ensure!(
            inputs.len() == expected,
            "the sender has {} inputs and the model {expected}: give the model of this board",
            inputs.len()
        );
        if meta.begins {
            model.reset();
        }
        model.step(meta, inputs, &mut self.stepped);
        if self.stepped.implausible > 0 {
            self.implausible += self.stepped.implausible;
            self.hub.set_implausible(self.implausible);
        }
        self.hub.push(self.stepped.meta, &self.stepped.values);
        Ok(())
    }

    /// Reports the counts of this connection.
    fn report(&self, counts: Counts) {
        self.hub.set_counts(sum(self.total, counts));
    }

    /// Counts a line that was no row.
    fn count_damaged(&mut self) {
        self.total.damaged += 1;
        self.report(Counts::default());
    }
}

fn sum(first: Counts, second: Counts) -> Counts {
    Counts {
        frames: first.frames + second.frames,
        lost: first.lost + second.lost,
        damaged: first.damaged + second.damaged,
        skipped_bytes: first.skipped_bytes + second.skipped_bytes,
        unknown: first.unknown + second.unknown,
        restarts: first.restarts + second.restarts,
        lines: first.lines + second.lines,
    }
}
