//! Clocks, pins and drivers of a NUCLEO-F446RE.
#![no_std]

mod emg;
mod high_priority;
mod imu;
mod uart;

use defmt_rtt as _;
use embassy_executor::{SendSpawner, Spawner};
use embassy_stm32::adc::AdcChannel;
use embassy_stm32::peripherals::{DMA1_CH0, DMA1_CH6, DMA1_CH7, DMA2_CH0, I2C1};
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, Hse, HseMode, Pll, PllMul, PllPDiv, PllPreDiv, PllSource, Sysclk,
};
use embassy_stm32::time::Hertz;
use embassy_stm32::{Config, Peripherals, bind_interrupts, dma, i2c};
use panic_probe as _;

pub use emg::{EmgParts, sample_emg};
pub use imu::{ImuParts, sample_imu};

/// The name of the board.
pub const NAME: &str = "nucleo-f446re";
/// The core's clock: 8 MHz / 4 × 168 / 2.
const CLOCK_HZ: u32 = 168_000_000;

bind_interrupts!(pub(crate) struct Irqs {
    DMA1_STREAM0 => dma::InterruptHandler<DMA1_CH0>;
    DMA1_STREAM6 => dma::InterruptHandler<DMA1_CH6>;
    DMA1_STREAM7 => dma::InterruptHandler<DMA1_CH7>;
    DMA2_STREAM0 => dma::InterruptHandler<DMA2_CH0>;
    I2C1_EV => i2c::EventInterruptHandler<I2C1>;
    I2C1_ER => i2c::ErrorInterruptHandler<I2C1>;
});

/// From the 8 MHz of the ST-LINK.
fn peripherals() -> Peripherals {
    let mut config = Config::default();
    config.rcc.hse = Some(Hse { freq: Hertz(8_000_000), mode: HseMode::Bypass });
    config.rcc.pll_src = PllSource::HSE;
    config.rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV4,
        mul: PllMul::MUL168,
        divp: Some(PllPDiv::DIV2),
        divq: None,
        divr: None,
    });
    config.rcc.ahb_pre = AHBPrescaler::DIV1;
    config.rcc.apb1_pre = APBPrescaler::DIV4;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.sys = Sysclk::PLL1_P;
    embassy_stm32::init(config)
}

/// Starts the clocks and nothing else; returns the core's in hertz.
pub fn start_clocks() -> u32 {
    let _ = peripherals();
    CLOCK_HZ
}

/// What a program may use.
pub struct Board {
    /// For tasks that sample: they interrupt the model.
    pub sampling: SendSpawner,
    /// An IMU on I²C.
    pub imu: ImuParts,
    /// Analogue channels.
    pub emg: EmgParts,
}

impl Board {
    /// Starts the clocks, and the task that sends frames.
    pub fn start(spawner: Spawner) -> Self {
        let p = peripherals();
        spawner.spawn(defmt::unwrap!(uart::send(uart::port(p.USART2, p.PA2, p.DMA1_CH6))));
        Board {
            sampling: high_priority::start(),
            imu: ImuParts { i2c: p.I2C1, sda: p.PB9, scl: p.PB8, dma: (p.DMA1_CH7, p.DMA1_CH0) },
            emg: EmgParts {
                adc: p.ADC1,
                pins: [
                    p.PA0.degrade_adc(),
                    p.PA1.degrade_adc(),
                    p.PA4.degrade_adc(),
                    p.PB0.degrade_adc(),
                    p.PC1.degrade_adc(),
                    p.PC0.degrade_adc(),
                    p.PC2.degrade_adc(),
                    p.PC3.degrade_adc(),
                ],
                dma: p.DMA2_CH0,
            },
        }
    }
}
