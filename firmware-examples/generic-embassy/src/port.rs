//! Frames by semihosting, to QEMU's standard output.

use core::convert::Infallible;

use embedded_io_async::{ErrorType, Write};
use semihosting::io::{Stdout, Write as _, stdout};

/// The standard output of the debugger or emulator.
pub struct Port(Stdout);

impl Port {
    /// `None` if there is no debugger.
    pub fn open() -> Option<Self> {
        stdout().ok().map(Port)
    }

    /// Writes all bytes. What fails is lost, as on any line.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }
}

impl ErrorType for Port {
    type Error = Infallible;
}

impl Write for Port {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        self.send(bytes);
        Ok(bytes.len())
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
