//! How far the reading of data files has come, for whoever watches.
//!
//! There is one observer per process, as there is one terminal: reading is below everything that could pass
//! one on.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

/// Watches the reading of data files.
pub trait ReadingObserver: Send + Sync {
    /// Files of this number and size are going to be read; one that is read twice counts twice.
    fn begin(&self, files: usize, bytes: u64);
    /// So many bytes have been read.
    fn advance(&self, bytes: u64);
    /// All files have been read, or an error has ended it.
    fn end(&self);
}

static OBSERVER: OnceLock<Box<dyn ReadingObserver>> = OnceLock::new();

/// Sets the observer of this process; the first one stays.
pub fn watch_reading(observer: Box<dyn ReadingObserver>) {
    // Whoever comes later does not watch.
    let _ = OBSERVER.set(observer);
}

/// Files that are being read, until it is dropped.
pub(crate) struct WatchedReading;

impl WatchedReading {
    /// Announces these files.
    pub(crate) fn begin<'a>(paths: impl Iterator<Item = &'a Path>) -> Self {
        if let Some(observer) = OBSERVER.get() {
            let sizes = paths.map(|path| fs::metadata(path).map_or(0, |found| found.len()));
            let (files, bytes) = sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size));
            observer.begin(files, bytes);
        }
        WatchedReading
    }
}

impl Drop for WatchedReading {
    fn drop(&mut self) {
        if let Some(observer) = OBSERVER.get() {
            observer.end();
        }
    }
}

/// Reports what is read from a source.
pub(crate) struct WatchedSource<R>(pub(crate) R);

impl<R: Read> Read for WatchedSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(buffer)?;
        if let Some(observer) = OBSERVER.get() {
            observer.advance(length as u64);
        }
        Ok(length)
    }
}
