//! Interrupts and the drivers that handle them.

use embassy_rp::peripherals::{DMA_CH0, DMA_CH1, I2C1};
use embassy_rp::{adc, bind_interrupts, dma, i2c};

bind_interrupts!(pub(crate) struct Irqs {
    ADC_IRQ_FIFO => adc::InterruptHandler;
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>;
    I2C1_IRQ => i2c::InterruptHandler<I2C1>;
});
