//! Writes a stream to files while it runs.
//!
//! A recording reads from the hub like a viewer, with all of the kept rows as slack, so that a slow disk does
//! not slow the reader. Rows that it was too slow for are counted, and a new sequence begins after them.

mod csv;
mod mcap;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use crate::Stop;
use crate::hub::{Batch, Connection, Cursor, Hub};
use crate::layout::Layout;
use crate::row::Meta;

/// Time between looks at the hub.
const POLL: Duration = Duration::from_millis(20);
/// Time between flushes: what a power loss may cost.
const FLUSH: Duration = Duration::from_secs(1);
/// Longest time without names of the channels before numbers are taken instead.
const NAMES: Duration = Duration::from_secs(3);
/// Most rows per batch.
const BATCH: usize = 4096;

/// A file that takes rows.
pub(crate) trait RowWriter {
    /// Adds a row.
    fn row(&mut self, meta: &Meta, values: &[f32]) -> Result<()>;
    /// Passes everything on to the system.
    fn flush(&mut self) -> Result<()>;
    /// Completes the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What to record, and where.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The file; its end, `.csv` or `.mcap`, is the format.
    pub path: PathBuf,
    /// Whether to write over a file that is there.
    pub overwrite: bool,
    /// Whether CSV has predictions too.
    pub predictions: bool,
    /// Names of the labels, in the order of their numbers from 1.
    pub labels: Vec<String>,
    /// Ends after this many rows.
    pub max_rows: Option<u64>,
    /// Ends after this many seconds.
    pub max_seconds: Option<f64>,
}

/// How far a recording has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Rows in the file.
    pub rows: u64,
    /// Rows that the recording was too slow for.
    pub skipped: u64,
    /// Sequences in the file.
    pub sequences: u64,
    /// Seconds since its first row.
    pub seconds: f64,
    /// Rows of each label.
    pub labelled: Vec<u64>,
}

impl Recording {
    /// Checks what can be checked before the first row arrives.
    ///
    /// # Errors
    /// If the name has no known end, or the file is there and may not be replaced.
    pub fn check(&self) -> Result<()> {
        let shown = self.path.display();
        ensure!(
            self.is_mcap() || self.has_end("csv"),
            "`{shown}` is neither .csv nor .mcap: the end of its name is the format"
        );
        ensure!(
            self.overwrite || !self.path.exists(),
            "{shown} is there already: give another name, or --overwrite"
        );
        Ok(())
    }

    fn has_end(&self, end: &str) -> bool {
        self.path.extension().is_some_and(|found| found.eq_ignore_ascii_case(end))
    }

    fn is_mcap(&self) -> bool {
        self.has_end("mcap")
    }

    fn create(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).truncate(true);
        if self.overwrite {
            options.create(true)
        } else {
            options.create_new(true)
        };
        let shown = self.path.display();
        options.open(&self.path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => anyhow::anyhow!("{shown} is there already: give another name"),
            _ => anyhow::Error::new(error).context(format!("cannot write {shown}")),
        })
    }

    fn writer(&self, layout: Arc<Layout>, seconds: f64) -> Result<Box<dyn RowWriter>> {
        let out = BufWriter::new(self.create()?);
        Ok(if self.is_mcap() {
            Box::new(mcap::McapWriter::new(out, layout, &self.labels, seconds)?)
        } else {
            Box::new(csv::CsvWriter::new(out, layout, &self.labels, self.predictions)?)
        })
    }

    /// Records from `cursor` on, until it is told to stop, its limits are reached, or the source has ended.
    /// `watch` is called about fifty times per second. No file is made before the first row.
    ///
    /// # Errors
    /// If the file cannot be written, the channels change, or there were no rows. Rows before that are in the
    /// file.
    pub fn run(
        &self,
        hub: &Hub,
        mut cursor: Cursor,
        stop: &Stop,
        mut watch: impl FnMut(&Progress),
    ) -> Result<Progress> {
        self.check()?;
        let mut run = Run::new(self);
        loop {
            // Asked before reading, so that the last rows are read after it has been set.
            let is_last = stop.is_set()
                || matches!(hub.status_of_connection(), Connection::Ended(_) | Connection::Failed(_));
            let more =
                run.take(hub, &mut cursor).with_context(|| format!("recording {}", self.path.display()));
            let more = match more {
                Ok(more) => more,
                Err(error) => {
                    // What is there stays readable.
                    let _ = run.finish();
                    return Err(error);
                }
            };
            watch(&run.progress);
            if run.is_full() || (is_last && !more) {
                break;
            }
            if !more {
                thread::sleep(POLL);
            }
        }
        let progress = run.finish().with_context(|| format!("recording {}", self.path.display()))?;
        watch(&progress);
        if let Connection::Failed(why) = hub.status_of_connection() {
            bail!("{why}; {} rows were recorded before", progress.rows);
        }
        if progress.rows == 0 {
            bail!("no rows arrived, and nothing was recorded: {}", why(hub));
        }
        Ok(progress)
    }
}

fn why(hub: &Hub) -> String {
    match hub.status_of_connection() {
        Connection::Connected(what) => {
            format!(
                "{what} was open but sent no rows; is it the right port, and its speed that of the board?"
            )
        }
        Connection::Waiting(why) | Connection::Ended(why) | Connection::Failed(why) => why,
        Connection::Starting => "the source was not opened".into(),
    }
}

/// A recording that runs.
struct Run<'r> {
    recording: &'r Recording,
    begun: Instant,
    first: Option<Instant>,
    flushed: Instant,
    batch: Batch,
    layout: Option<Arc<Layout>>,
    writer: Option<Box<dyn RowWriter>>,
    progress: Progress,
}

impl<'r> Run<'r> {
    fn new(recording: &'r Recording) -> Self {
        let now = Instant::now();
        let progress = Progress { labelled: vec![0; recording.labels.len()], ..Progress::default() };
        Run {
            recording,
            begun: now,
            first: None,
            flushed: now,
            batch: Batch::default(),
            layout: None,
            writer: None,
            progress,
        }
    }

    fn is_full(&self) -> bool {
        let Recording { max_rows, max_seconds, .. } = self.recording;
        max_rows.is_some_and(|most| self.progress.rows >= most)
            || max_seconds.is_some_and(|most| self.progress.seconds >= most)
    }

    /// Takes what is new; whether there may be more.
    fn take(&mut self, hub: &Hub, cursor: &mut Cursor) -> Result<bool> {
        let is_ready = self.writer.is_some()
            || hub.layout().is_some_and(|layout| layout.is_named)
            || (hub.layout().is_some() && self.begun.elapsed() > NAMES);
        if !is_ready {
            return Ok(false);
        }
        hub.read(cursor, u64::MAX, BATCH, &mut self.batch);
        if let Some(layout) = self.batch.new_layout.take() {
            self.change_layout(layout)?;
        }
        let mut batch = std::mem::take(&mut self.batch);
        if let Some(first) = batch.metas.first_mut() {
            first.begins |= batch.skipped > 0 || self.progress.rows == 0;
        }
        self.progress.skipped += batch.skipped;
        let written = batch.rows().try_for_each(|(meta, values)| self.row(hub, meta, values));
        let more = batch.metas.len() == BATCH;
        self.batch = batch;
        written?;
        self.progress.seconds = self.first.map_or(0.0, |first| first.elapsed().as_secs_f64());
        if self.flushed.elapsed() > FLUSH {
            self.writer.iter_mut().try_for_each(|writer| writer.flush())?;
            self.flushed = Instant::now();
        }
        Ok(more && !self.is_full())
    }

    fn change_layout(&mut self, layout: Arc<Layout>) -> Result<()> {
        let same = |old: &Layout| old.inputs == layout.inputs && old.outputs == layout.outputs;
        if self.writer.is_some() && !self.layout.as_deref().is_some_and(same) {
            bail!("the channels have changed, which one file cannot hold: record again to another file");
        }
        self.layout = Some(layout);
        Ok(())
    }

    fn row(&mut self, hub: &Hub, meta: &Meta, values: &[f32]) -> Result<()> {
        if self.is_full() {
            return Ok(());
        }
        if self.writer.is_none() {
            let layout = self.layout.clone().context("rows without a layout")?;
            self.writer = Some(self.recording.writer(layout, hub.seconds())?);
            self.first = Some(Instant::now());
        }
        if let Some(writer) = &mut self.writer {
            writer.row(meta, values)?;
        }
        self.progress.rows += 1;
        self.progress.sequences += u64::from(meta.begins);
        let label = usize::from(meta.label).checked_sub(1);
        if let Some(count) = label.and_then(|index| self.progress.labelled.get_mut(index)) {
            *count += 1;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Progress> {
        if let Some(writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(self.progress.clone())
    }
}

/// A new file name in a folder, after the time of day: `quaver-20261117-081502.csv`.
pub(crate) fn new_name(folder: &Path, end: &str) -> PathBuf {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |duration| duration.as_secs());
    let name = |suffix: &str| folder.join(format!("quaver-{}{suffix}.{end}", date_and_time(seconds)));
    let plain = name("");
    if !plain.exists() {
        return plain;
    }
    (2..).map(|count| name(&format!("-{count}"))).find(|path| !path.exists()).unwrap_or(plain)
}

/// A moment in UTC as `YYYYMMDD-HHMMSS`. Days become dates by Hinnant's algorithm ("chrono-compatible
/// low-level date algorithms", `civil_from_days`), for years from 1970 on.
fn date_and_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(rows: u16) -> Hub {
        let hub = Hub::default();
        hub.set_layout(Layout::new([("a".to_string(), String::new())], []));
        push(&hub, rows);
        hub
    }

    fn push(hub: &Hub, rows: u16) {
        for row in 0..rows {
            hub.push(Meta { time: f64::from(row), ..Meta::default() }, &[f32::from(row)]);
        }
    }

    fn recording(folder: &tempfile::TempDir, name: &str) -> Recording {
        Recording { path: folder.path().join(name), ..Recording::default() }
    }

    #[test]
    fn a_stream_is_recorded_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let (hub, recording) = (hub(5000), recording(&folder, "session.csv"));
        hub.set_connection(Connection::Ended("the end".into()));
        let progress = recording.run(&hub, Cursor::default(), &Stop::default(), |_| {}).expect("recorded");
        assert_eq!((progress.rows, progress.sequences, progress.skipped), (5000, 1, 0));
        let text = std::fs::read_to_string(&recording.path).expect("a file");
        assert_eq!(text.lines().count(), 5001);
        assert!(text.ends_with("4999.000000,1,4999\n"));
        let again = recording.run(&hub, Cursor::default(), &Stop::default(), |_| {}).expect_err("is there");
        assert!(again.to_string().contains("--overwrite"));
    }

    #[test]
    fn limits_end_a_recording() {
        let folder = tempfile::tempdir().expect("a folder");
        let recording = Recording { max_rows: Some(3), ..recording(&folder, "three.mcap") };
        let progress =
            recording.run(&hub(100), Cursor::default(), &Stop::default(), |_| {}).expect("recorded");
        assert_eq!(progress.rows, 3);
        let file = std::fs::read(&recording.path).expect("a file");
        assert_eq!(mcap_messages(&file), 6);
    }

    fn mcap_messages(file: &[u8]) -> usize {
        ::mcap::MessageStream::new(file).expect("MCAP").filter(|message| message.is_ok()).count()
    }

    #[test]
    fn without_rows_there_is_no_file_but_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let recording = recording(&folder, "none.csv");
        let hub = Hub::default();
        hub.set_connection(Connection::Ended("the cable".into()));
        let error = recording.run(&hub, Cursor::default(), &Stop::default(), |_| {}).expect_err("no rows");
        assert!(error.to_string().contains("no rows arrived") && error.to_string().contains("the cable"));
        assert!(!recording.path.exists());
        let wrong = Recording { path: "session.xls".into(), ..Recording::default() };
        assert!(wrong.check().expect_err("no format").to_string().contains(".csv nor .mcap"));
    }

    #[test]
    fn other_channels_end_a_recording_and_leave_it_readable() {
        let folder = tempfile::tempdir().expect("a folder");
        let (hub, recording) = (hub(3), recording(&folder, "changed.csv"));
        let mut changed = false;
        let result = recording.run(&hub, Cursor::default(), &Stop::default(), |progress| {
            if progress.rows == 3 && !std::mem::replace(&mut changed, true) {
                hub.set_layout(Layout::numbered(2, 0));
            }
        });
        assert!(format!("{:#}", result.expect_err("changed")).contains("channels have changed"));
        assert_eq!(std::fs::read_to_string(&recording.path).expect("a file").lines().count(), 4);
    }

    #[test]
    fn file_names_are_dates() {
        assert_eq!(date_and_time(0), "19700101-000000");
        assert_eq!(date_and_time(951_782_400), "20000229-000000");
        assert_eq!(date_and_time(1_794_902_399), "20261117-075959");
    }
}
