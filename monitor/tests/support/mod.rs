//! Devices that send, and programs that watch.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod chromium;
pub(crate) mod device;
pub(crate) mod watcher;

use std::io::BufRead;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use quaver_monitor::Stop;
use quaver_monitor::hub::Hub;
use quaver_monitor::reader::{self, CsvRows, Format, Settings};
use quaver_monitor::server::{Options, Server};
use quaver_monitor::source::Source;

/// A monitor that runs in this process.
pub(crate) struct Monitor {
    pub(crate) hub: Arc<Hub>,
    pub(crate) server: Server,
    pub(crate) stop: Stop,
    pub(crate) folder: tempfile::TempDir,
}

impl Monitor {
    pub(crate) fn start(settings: Settings) -> Self {
        Self::listening(settings, "127.0.0.1:0".parse().expect("an address"))
    }

    pub(crate) fn listening(settings: Settings, address: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (hub, stop) = (Arc::new(Hub::default()), Stop::default());
        let path: PathBuf = folder.path().into();
        let options = Options { address, token: None, hosts: Vec::new(), folder: path };
        let server = Server::start(&options, Arc::clone(&hub)).expect("a server");
        reader::start(settings, Arc::clone(&hub), stop.clone()).expect("a reader");
        Monitor { hub, server, stop, folder }
    }

    /// Port and path for viewers.
    pub(crate) fn port(&self) -> u16 {
        self.server.address().port()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// Settings for a source of frames.
pub(crate) fn settings(source: Source) -> Settings {
    Settings {
        source,
        format: Format::Frames,
        model: None,
        header: true,
        rate_hz: 100.0,
        speed: Some(1.0),
        repeat: false,
        wait: true,
        open_csv,
    }
}

/// Waits until something holds, thirty seconds at most.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A plain reader of CSV in place of the program's own.
pub(crate) fn open_csv(
    source: Box<dyn BufRead + Send>,
    name: &str,
    header: bool,
) -> Result<Box<dyn CsvRows>> {
    let mut lines = source.lines();
    ensure!(header, "these tests have headers");
    let names = lines.next().transpose()?.unwrap_or_default();
    let names: Vec<String> = names.split(',').map(String::from).collect();
    let columns = (0..names.len()).collect();
    Ok(Box::new(PlainCsv { name: name.into(), lines, names, columns, begins: true }))
}

struct PlainCsv {
    name: String,
    lines: std::io::Lines<Box<dyn BufRead + Send>>,
    names: Vec<String>,
    columns: Vec<usize>,
    begins: bool,
}

impl CsvRows for PlainCsv {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn select(&mut self, names: &[String]) -> Result<()> {
        let place = |name: &String| self.names.iter().position(|found| found == name);
        self.columns = names.iter().filter_map(place).collect();
        ensure!(self.columns.len() == names.len(), "{}: a column is missing", self.name);
        Ok(())
    }

    fn next_row(&mut self, row: &mut [f32]) -> Result<Option<bool>> {
        let Some(line) = self.lines.next().transpose()? else { return Ok(None) };
        let cells: Vec<&str> = line.split(',').collect();
        ensure!(cells.len() == self.names.len(), "{}: {} cells", self.name, cells.len());
        for (value, column) in row.iter_mut().zip(&self.columns) {
            *value = if cells[*column].is_empty() { f32::NAN } else { cells[*column].parse()? };
        }
        Ok(Some(std::mem::take(&mut self.begins)))
    }
}
