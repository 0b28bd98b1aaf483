//! A program that watches as a browser does.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use quaver_monitor::server::{HEAD, MAGIC, ROW_HEAD};
use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket, client};

/// A row as it arrives at a page.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) number: u64,
    pub(crate) flags: u32,
    pub(crate) late: u32,
    pub(crate) surprise: f32,
    pub(crate) step_us: f32,
    pub(crate) values: Vec<f32>,
}

pub(crate) struct Watcher {
    socket: WebSocket<TcpStream>,
    pub(crate) layout: Option<Value>,
    pub(crate) status: Option<Value>,
    pub(crate) errors: Vec<Value>,
    pub(crate) rows: Vec<Row>,
    /// Rows that were not kept in `rows`.
    pub(crate) counted: u64,
    pub(crate) keeps: bool,
    pub(crate) next: Option<u64>,
    pub(crate) skipped: u64,
}

impl Watcher {
    pub(crate) fn connect(port: u16) -> Self {
        Self::try_connect(port, &[], "/ws").expect("a WebSocket")
    }

    /// Opens a WebSocket with further headers.
    pub(crate) fn try_connect(
        port: u16,
        headers: &[(&'static str, &str)],
        path: &str,
    ) -> Result<Self, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request().expect("a request");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().expect("a header"));
        }
        let (socket, _) = client(request, stream).map_err(|error| error.to_string())?;
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
        Ok(Watcher {
            socket,
            layout: None,
            status: None,
            errors: Vec::new(),
            rows: Vec::new(),
            counted: 0,
            keeps: true,
            next: None,
            skipped: 0,
        })
    }

    /// Takes one message, if one comes soon.
    pub(crate) fn read(&mut self) -> bool {
        match self.socket.read() {
            Ok(Message::Binary(bytes)) => self.take_rows(&bytes),
            Ok(Message::Text(text)) => {
                let value: Value = serde_json::from_str(&text).expect("JSON");
                match value["type"].as_str() {
                    Some("layout") => self.layout = Some(value),
                    Some("status") => self.status = Some(value),
                    _ => self.errors.push(value),
                }
            }
            Ok(_) => {}
            Err(tungstenite::Error::Io(_)) => {}
            Err(_) => return false,
        }
        true
    }

    /// Reads until something holds, thirty seconds at most.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&Watcher) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {what}: {:?}", self.status);
            assert!(self.read(), "closed while waiting: {what}");
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).expect("a server that reads");
    }

    fn take_rows(&mut self, bytes: &[u8]) {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let float = |at: usize| f32::from_bits(word(at));
        let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        assert_eq!(bytes[..4], MAGIC);
        let (count, width) = (word(4) as usize, word(8) as usize);
        assert_eq!(bytes.len(), HEAD + count * (ROW_HEAD + 4 * width));
        let first = double(16) as u64;
        self.skipped = double(24) as u64;
        self.next = Some(first + count as u64);
        self.counted += count as u64;
        for index in (0..count).filter(|_| self.keeps) {
            let at = HEAD + index * (ROW_HEAD + 4 * width);
            self.rows.push(Row {
                number: first + index as u64,
                flags: word(at + 16),
                late: word(at + 20),
                surprise: float(at + 28),
                step_us: float(at + 36),
                values: (0..width).map(|value| float(at + ROW_HEAD + 4 * value)).collect(),
            });
        }
    }
}

/// The answer to a plain request.
pub(crate) fn get(port: u16, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("a request");
    // Not every server closes the connection: the length in the head counts.
    let mut answer = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        let complete = text.split_once("\r\n\r\n").is_some_and(|(head, _)| {
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length:").nth(1).and_then(|rest| rest.lines().next());
            length
                .and_then(|length| length.trim().parse().ok())
                .is_some_and(|length: usize| answer.len() >= head.len() + 4 + length)
        });
        let count = if complete { 0 } else { stream.read(&mut buffer).expect("an answer") };
        if count == 0 {
            return text;
        }
        answer.extend_from_slice(&buffer[..count]);
    }
}
