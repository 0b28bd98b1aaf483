//! Where bytes come from: a serial port, TCP, standard input, or a file.

mod port;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// How long a read waits before it looks whether to stop.
const POLL: Duration = Duration::from_millis(50);
/// How long a TCP connection may take.
const CONNECT: Duration = Duration::from_secs(3);
/// TCP addresses begin so.
const TCP: &str = "tcp:";

/// Something that can be opened, and opened again.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A serial port with its speed in baud.
    Serial(String, u32),
    /// A TCP server, as `host:port`.
    Tcp(String),
    /// Standard input.
    Stdin,
    /// A file to replay.
    File(PathBuf),
}

impl Source {
    /// Reads a source as it is typed: a port, `tcp:host:port`, `-`, or a file. Without one, the only USB port
    /// of this machine is taken.
    ///
    /// # Errors
    /// If there is no such thing, with the ports there are.
    pub fn parse(text: Option<&str>, baud: u32) -> Result<Self> {
        let Some(text) = text else { return Ok(Source::Serial(port::only_usb_port()?, baud)) };
        if text == "-" {
            return Ok(Source::Stdin);
        }
        if let Some(address) = text.strip_prefix(TCP) {
            let address = address.trim_start_matches('/');
            ensure!(address.contains(':'), "`{text}` has no port: write tcp:HOST:PORT");
            return Ok(Source::Tcp(address.into()));
        }
        let is_file = fs::metadata(text).is_ok_and(|found| found.is_file());
        if is_file || is_named_as_file(text) {
            return Ok(Source::File(text.into()));
        }
        Ok(Source::Serial(text.into(), baud))
    }

    /// Whether it comes back after it has ended.
    pub fn comes_back(&self) -> bool {
        matches!(self, Source::Serial(..) | Source::Tcp(_))
    }

    /// Whether it is a file, which is replayed at the speed of its rows.
    pub fn is_replay(&self) -> bool {
        matches!(self, Source::File(_))
    }

    /// What it is, for people.
    pub fn description(&self) -> String {
        match self {
            Source::Serial(port, baud) => format!("{port} at {baud} baud"),
            Source::Tcp(address) => format!("tcp:{address}"),
            Source::Stdin => "standard input".into(),
            Source::File(path) => path.display().to_string(),
        }
    }

    /// Opens it. Reads of ports and connections return a time-out when nothing arrives.
    ///
    /// # Errors
    /// Describes what to plug in, or which ports there are.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        match self {
            Source::Serial(name, baud) => port::open(name, *baud, POLL),
            Source::Tcp(address) => Ok(Box::new(connect(address)?)),
            Source::Stdin => Ok(Box::new(io::stdin())),
            Source::File(path) => {
                let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
                Ok(Box::new(file))
            }
        }
    }
}

/// Names with one of these ends are of files, also if there is none.
fn is_named_as_file(text: &str) -> bool {
    let end = Path::new(text).extension().and_then(|end| end.to_str());
    matches!(end, Some("csv" | "bin" | "txt" | "log"))
}

fn connect(address: &str) -> Result<TcpStream> {
    let failed = || {
        format!(
            "cannot connect to {address}: start what listens there (QEMU: `-serial tcp:{address},server,nowait`)"
        )
    };
    let mut last = None;
    for address in address.to_socket_addrs().with_context(failed)? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(POLL))?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error).with_context(failed),
        None => bail!("{}", failed()),
    }
}

/// Whether a read failed only because nothing has arrived yet.
pub(crate) fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_recognised() {
        let parse = |text| Source::parse(Some(text), 115_200);
        assert_eq!(parse("-").expect("stdin"), Source::Stdin);
        assert_eq!(parse("tcp:localhost:9000").expect("TCP"), Source::Tcp("localhost:9000".into()));
        assert_eq!(parse("tcp://[::1]:9000").expect("TCP"), Source::Tcp("[::1]:9000".into()));
        assert_eq!(parse("Cargo.toml").expect("a file"), Source::File("Cargo.toml".into()));
        assert_eq!(parse("none/rows.csv").expect("a file"), Source::File("none/rows.csv".into()));
        assert_eq!(parse("/dev/ttyACM7").expect("a port"), Source::Serial("/dev/ttyACM7".into(), 115_200));
        assert_eq!(parse("COM3").expect("a port"), Source::Serial("COM3".into(), 115_200));
        assert!(parse("tcp:localhost").expect_err("no port").to_string().contains("tcp:HOST:PORT"));
    }

    fn failure(source: Source) -> String {
        source.open().err().map(|error| format!("{error:#}")).expect("nothing there")
    }

    #[test]
    fn errors_say_what_to_do() {
        let serial = failure(Source::Serial("/dev/ttyNothing".into(), 115_200));
        assert!(serial.contains("/dev/ttyNothing") && serial.contains("plug the board in"), "{serial}");
        let tcp = failure(Source::Tcp("127.0.0.1:1".into()));
        assert!(tcp.contains("start what listens there"), "{tcp}");
        assert!(failure(Source::File("none.csv".into())).contains("cannot read none.csv"));
    }
}
