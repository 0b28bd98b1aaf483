//! Bytes on their way to a viewer.

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::pipe::Pipe;
use embedded_io_async::Write;

/// Bytes that are passed on at once.
const CHUNK: usize = 64;

/// A buffer that the model never waits for: a frame that does not fit is left out, and the viewer counts it
/// as lost by its sequence number.
pub struct Line<const SIZE: usize> {
    pipe: Pipe<CriticalSectionRawMutex, SIZE>,
}

impl<const SIZE: usize> Line<SIZE> {
    /// An empty line.
    #[allow(clippy::new_without_default, reason = "lines are statics, which need a const fn")]
    pub const fn new() -> Self {
        Line { pipe: Pipe::new() }
    }

    /// Puts a frame into the buffer, all of it or nothing. One task may do so.
    pub fn offer(&self, frame: &[u8]) {
        let mut rest = if frame.len() <= self.pipe.free_capacity() { frame } else { &[] };
        // The buffer is a ring: a frame that wraps around takes two writes.
        while let Ok(written @ 1..) = self.pipe.try_write(rest) {
            rest = rest.get(written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
        }
    }

    /// Passes everything on, for ever. A port that fails is tried again with the next bytes.
    pub async fn drain(&self, port: &mut impl Write) -> ! {
        loop {
            let mut chunk = [0; CHUNK];
            let length = self.pipe.read(&mut chunk).await;
            let _ = port.write_all(chunk.get(..length).unwrap_or_default()).await;
        }
    }
}
