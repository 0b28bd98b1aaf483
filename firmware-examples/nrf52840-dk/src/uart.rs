//! Frames over UART 0, pin P0.06: the serial port of the DK's debugger.

use embassy_nrf::Peri;
use embassy_nrf::peripherals::{P0_06, UARTE0};
use embassy_nrf::uarte::{Baudrate, Config, UarteTx};
use quaver_firmware::programs::LINE;

use crate::Irqs;

pub(crate) fn port(uart: Peri<'static, UARTE0>, tx: Peri<'static, P0_06>) -> UarteTx<'static> {
    let mut config = Config::default();
    config.baudrate = Baudrate::Baud921600;
    UarteTx::new(uart, Irqs, tx, config)
}

#[embassy_executor::task]
pub(crate) async fn send(mut port: UarteTx<'static>) {
    LINE.drain(&mut port).await
}
