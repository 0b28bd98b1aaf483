//! Frames over UART 0, pin GP0, where a debug probe listens.

use embassy_rp::Peri;
use embassy_rp::peripherals::{DMA_CH1, PIN_0, UART0};
use embassy_rp::uart::{Async, Config, Error, UartTx};
use embedded_io_async::{ErrorType, Write};
use quaver_firmware::programs::LINE;

use crate::irqs::Irqs;

/// Enough for 100 rows of an IMU per second.
const BAUD: u32 = 921_600;

/// The UART, fed by DMA.
pub(crate) struct Port(UartTx<'static, Async>);

pub(crate) fn port(
    uart: Peri<'static, UART0>,
    tx: Peri<'static, PIN_0>,
    dma: Peri<'static, DMA_CH1>,
) -> Port {
    let mut config = Config::default();
    config.baudrate = BAUD;
    Port(UartTx::new(uart, tx, dma, Irqs, config))
}

impl ErrorType for Port {
    type Error = Error;
}

impl Write for Port {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.0.write(bytes).await.map(|()| bytes.len())
    }

    async fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[embassy_executor::task]
pub(crate) async fn send(mut port: Port) {
    LINE.drain(&mut port).await
}
