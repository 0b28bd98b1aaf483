//! Recordings that viewers begin and end: one per format at a time, shared by all viewers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::Stop;
use crate::hub::Hub;
use crate::record::{Progress, Recording, new_name};

/// The formats there are.
const FORMATS: [&str; 2] = ["csv", "mcap"];

/// A recording as viewers see it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RecorderStatus {
    format: &'static str,
    file: String,
    is_running: bool,
    error: Option<String>,
    #[serde(flatten)]
    progress: Progress,
}

struct Recorder {
    stop: Stop,
    status: Arc<Mutex<RecorderStatus>>,
    thread: Option<JoinHandle<()>>,
}

/// All recordings of a server.
pub(super) struct Recorders {
    hub: Arc<Hub>,
    folder: PathBuf,
    running: Mutex<[Option<Recorder>; 2]>,
}

impl Recorders {
    pub(super) fn new(hub: Arc<Hub>, folder: PathBuf) -> Self {
        Recorders { hub, folder, running: Mutex::default() }
    }

    fn running(&self) -> MutexGuard<'_, [Option<Recorder>; 2]> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a recording in the folder, under a name that viewers cannot choose.
    pub(super) fn start(&self, format: &str) -> Result<()> {
        let index = index_of(format)?;
        let mut running = self.running();
        if running[index].as_ref().is_some_and(|recorder| locked(&recorder.status).is_running) {
            return Ok(());
        }
        let path = new_name(&self.folder, FORMATS[index]);
        let recording = Recording { path, predictions: true, ..Recording::default() };
        let status = Arc::new(Mutex::new(RecorderStatus {
            format: FORMATS[index],
            file: recording.path.display().to_string(),
            is_running: true,
            error: None,
            progress: Progress::default(),
        }));
        let (stop, hub, shared) = (Stop::default(), Arc::clone(&self.hub), Arc::clone(&status));
        let ends = stop.clone();
        // From here on, not from whenever the thread runs: viewers see that it records as soon as this returns.
        let cursor = hub.cursor_at_end();
        let work = move || {
            let result =
                recording.run(&hub, cursor, &ends, |progress| locked(&shared).progress = progress.clone());
            let mut status = locked(&shared);
            status.is_running = false;
            status.error = result.err().map(|error| format!("{error:#}"));
        };
        let thread =
            thread::Builder::new().name("recorder".into()).spawn(work).context("cannot start a thread")?;
        running[index] = Some(Recorder { stop, status, thread: Some(thread) });
        Ok(())
    }

    /// Ends a recording; the file is complete when this returns.
    pub(super) fn stop(&self, format: &str) -> Result<()> {
        let index = index_of(format)?;
        let thread = self.running()[index].as_mut().and_then(|recorder| {
            recorder.stop.set();
            recorder.thread.take()
        });
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        Ok(())
    }

    /// Ends all recordings.
    pub(super) fn stop_all(&self) {
        FORMATS.iter().for_each(|format| self.stop(format).expect("a format there is"));
    }

    /// Those that run, and the last of each format.
    pub(super) fn status(&self) -> Vec<RecorderStatus> {
        self.running().iter().flatten().map(|recorder| locked(&recorder.status).clone()).collect()
    }
}

fn locked(status: &Mutex<RecorderStatus>) -> MutexGuard<'_, RecorderStatus> {
    status.lock().unwrap_or_else(PoisonError::into_inner)
}

fn index_of(format: &str) -> Result<usize> {
    match FORMATS.iter().position(|known| *known == format) {
        Some(index) => Ok(index),
        None => bail!("unknown format"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::row::Meta;

    #[test]
    fn every_row_after_the_start_is_recorded() {
        let folder = tempfile::tempdir().expect("a folder");
        let hub = Arc::new(Hub::default());
        hub.set_layout(Layout::new([("a".to_string(), String::new())], []));
        let recorders = Recorders::new(Arc::clone(&hub), folder.path().to_path_buf());
        for _ in 0..5 {
            recorders.start("csv").expect("a recording");
            // At once: the thread that records may not have begun.
            (0..100).for_each(|row| hub.push(Meta { time: f64::from(row), ..Meta::default() }, &[0.0]));
            recorders.stop("csv").expect("the end of a recording");
            let [status] = &recorders.status()[..] else { panic!("one recording") };
            assert_eq!((status.progress.rows, &status.error), (100, &None));
        }
    }
}
