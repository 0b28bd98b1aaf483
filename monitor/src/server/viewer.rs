//! One browser that watches. It has a thread of its own, and never more than one message on its way.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::json;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use super::message;
use super::recorders::{RecorderStatus, Recorders};
use crate::Stop;
use crate::hub::{Batch, Cursor, Hub, Status};

/// Time between messages.
const FRAME: Duration = Duration::from_millis(33);
/// Time between reports of the state.
const STATUS: Duration = Duration::from_millis(500);
/// A viewer that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// Seconds of rows that a new viewer begins with, and that a slow one may be behind.
const HISTORY: f64 = 60.0;
const SLACK: f64 = 20.0;
/// Most rows per message.
const BATCH: usize = 8192;
/// Most bytes of a message from a viewer.
const MAX_COMMAND: usize = 1024;

/// What a viewer may ask for.
#[derive(serde::Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    /// Begin to record to a new file with this end.
    Record { format: String },
    /// End the recording with this end.
    Stop { format: String },
}

#[derive(Serialize)]
struct Report<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    status: &'s Status,
    recordings: Vec<RecorderStatus>,
}

pub(super) struct Viewer<'h> {
    socket: WebSocket<TcpStream>,
    hub: &'h Hub,
    recorders: &'h Recorders,
    cursor: Cursor,
    batch: Batch,
    skipped: u64,
    /// When the last message was taken entirely.
    taken: Instant,
    /// Whether a message is on its way.
    is_pending: bool,
    reported: Option<Instant>,
}

impl<'h> Viewer<'h> {
    /// A viewer whose handshake is done.
    pub(super) fn new(stream: TcpStream, hub: &'h Hub, recorders: &'h Recorders) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(FRAME))?;
        stream.set_write_timeout(Some(FRAME))?;
        let config = WebSocketConfig::default()
            .read_buffer_size(4096)
            .max_message_size(Some(MAX_COMMAND))
            .max_frame_size(Some(MAX_COMMAND));
        Ok(Viewer {
            socket: WebSocket::from_raw_socket(stream, Role::Server, Some(config)),
            hub,
            recorders,
            cursor: hub.cursor_before(HISTORY),
            batch: Batch::default(),
            skipped: 0,
            taken: Instant::now(),
            is_pending: false,
            reported: None,
        })
    }

    /// Sends what is new until the viewer is gone.
    pub(super) fn run(mut self, stop: &Stop) -> Result<()> {
        // The rows of the last minute are no lag.
        let mut is_catching_up = true;
        while !stop.is_set() {
            self.flush()?;
            let mut is_behind = false;
            if !self.is_pending {
                let lag = if is_catching_up { u64::MAX } else { self.lag() };
                is_behind = self.send_rows(lag)?;
                is_catching_up &= is_behind;
                self.report()?;
            } else if self.taken.elapsed() > PATIENCE {
                bail!("a viewer took nothing for {} s", PATIENCE.as_secs());
            }
            if !is_behind {
                self.pause()?;
            }
        }
        let _ = self.socket.close(None);
        Ok(())
    }

    /// Waits for the time of the next message, and takes a command if one comes.
    fn pause(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.receive()?;
        if let Some(rest) = FRAME.checked_sub(begun.elapsed()) {
            thread::sleep(rest);
        }
        Ok(())
    }

    /// Rows that it may be behind: seconds of them, at the rate of the moment.
    fn lag(&self) -> u64 {
        (SLACK * self.hub.timing().rate_hz) as u64 + BATCH as u64 / 8
    }

    fn receive(&mut self) -> Result<()> {
        match self.socket.read() {
            Ok(Message::Text(text)) => self.command(&text),
            Ok(Message::Close(_)) => bail!("closed"),
            Ok(_) => Ok(()),
            Err(error) => ignore_time_out(error).map(|_| ()),
        }
    }

    fn command(&mut self, text: &str) -> Result<()> {
        let answer = match serde_json::from_str(text) {
            Ok(Command::Record { format }) => self.recorders.start(&format),
            Ok(Command::Stop { format }) => self.recorders.stop(&format),
            Err(_) => Err(anyhow::anyhow!("unknown command")),
        };
        self.reported = None;
        if let Err(error) = answer {
            self.send(Message::text(json!({ "type": "error", "text": format!("{error:#}") }).to_string()))?;
        }
        Ok(())
    }

    /// Sends the layout if it is new, and rows if there are any. Whether there are more than fit a message.
    fn send_rows(&mut self, lag: u64) -> Result<bool> {
        self.hub.read(&mut self.cursor, lag, BATCH, &mut self.batch);
        self.skipped += self.batch.skipped;
        if let Some(layout) = self.batch.new_layout.take() {
            let mut message = serde_json::to_value(&*layout)?;
            message["type"] = json!("layout");
            self.send(Message::text(message.to_string()))?;
        }
        if self.batch.metas.is_empty() {
            return Ok(false);
        }
        let bytes = message::encode(&self.batch, self.skipped);
        self.send(Message::binary(bytes))?;
        Ok(self.batch.metas.len() == BATCH)
    }

    fn report(&mut self) -> Result<()> {
        if self.reported.is_some_and(|reported| reported.elapsed() < STATUS) {
            return Ok(());
        }
        self.reported = Some(Instant::now());
        let report =
            Report { kind: "status", status: &self.hub.status(), recordings: self.recorders.status() };
        self.send(Message::text(serde_json::to_string(&report)?))
    }

    fn send(&mut self, message: Message) -> Result<()> {
        self.is_pending = true;
        if let Err(error) = self.socket.write(message) {
            ignore_time_out(error)?;
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        if !self.is_pending {
            return Ok(());
        }
        let is_done = match self.socket.flush() {
            Ok(()) => true,
            Err(error) => ignore_time_out(error)?,
        };
        if is_done {
            self.is_pending = false;
            self.taken = Instant::now();
        }
        Ok(())
    }
}

/// A socket that is not ready is no error: `false` for not done.
fn ignore_time_out(error: tungstenite::Error) -> Result<bool> {
    match error {
        tungstenite::Error::Io(error)
            if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            Ok(false)
        }
        error => Err(error.into()),
    }
}
