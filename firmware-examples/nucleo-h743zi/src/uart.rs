//! Frames over USART 3, pin PD8: the serial port of the ST-LINK.

use embassy_stm32::Peri;
use embassy_stm32::mode::Async;
use embassy_stm32::peripherals::{DMA1_CH0, PD8, USART3};
use embassy_stm32::usart::{Config, UartTx};
use quaver_firmware::programs::LINE;

use crate::Irqs;

/// Enough for 100 rows of an IMU per second.
const BAUD: u32 = 921_600;

pub(crate) fn port(
    uart: Peri<'static, USART3>,
    tx: Peri<'static, PD8>,
    dma: Peri<'static, DMA1_CH0>,
) -> UartTx<'static, Async> {
    let mut config = Config::default();
    config.baudrate = BAUD;
    defmt::unwrap!(UartTx::new(uart, tx, dma, Irqs, config))
}

#[embassy_executor::task]
pub(crate) async fn send(mut port: UartTx<'static, Async>) {
    LINE.drain(&mut port).await
}
