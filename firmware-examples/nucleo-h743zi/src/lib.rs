//! Clocks, pins and drivers of a NUCLEO-H743ZI.
#![no_std]

mod emg;
mod high_priority;
mod imu;
mod uart;

use defmt_rtt as _;
use embassy_executor::{SendSpawner, Spawner};
use embassy_stm32::adc::AdcChannel;
use embassy_stm32::peripherals::{DMA1_CH0, DMA1_CH1, DMA1_CH2, DMA1_CH3, I2C1};
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, HSIPrescaler, Pll, PllDiv, PllMul, PllPreDiv, PllSource, Sysclk,
    VoltageScale, mux,
};
use embassy_stm32::{Config, Peripherals, bind_interrupts, dma, i2c};
use panic_probe as _;

pub use emg::{EmgParts, sample_emg};
pub use imu::{ImuParts, sample_imu};

/// The name of the board.
pub const NAME: &str = "nucleo-h743zi";
/// The core's clock: 64 MHz / 4 × 50 / 2.
const CLOCK_HZ: u32 = 400_000_000;

bind_interrupts!(pub(crate) struct Irqs {
    DMA1_STREAM0 => dma::InterruptHandler<DMA1_CH0>;
    DMA1_STREAM1 => dma::InterruptHandler<DMA1_CH1>;
    DMA1_STREAM2 => dma::InterruptHandler<DMA1_CH2>;
    DMA1_STREAM3 => dma::InterruptHandler<DMA1_CH3>;
    I2C1_EV => i2c::EventInterruptHandler<I2C1>;
    I2C1_ER => i2c::ErrorInterruptHandler<I2C1>;
});

/// From the internal oscillator.
fn peripherals() -> Peripherals {
    let mut config = Config::default();
    config.rcc.hsi = Some(HSIPrescaler::DIV1);
    config.rcc.pll1 = Some(Pll {
        source: PllSource::HSI,
        prediv: PllPreDiv::DIV4,
        mul: PllMul::MUL50,
        divp: Some(PllDiv::DIV2),
        divq: None,
        divr: None,
        fracn: None,
    });
    config.rcc.pll2 = Some(Pll {
        source: PllSource::HSI,
        prediv: PllPreDiv::DIV8,
        mul: PllMul::MUL50,
        divp: Some(PllDiv::DIV8), // 50 MHz for the ADC
        divq: None,
        divr: None,
        fracn: None,
    });
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV2;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.apb3_pre = APBPrescaler::DIV2;
    config.rcc.apb4_pre = APBPrescaler::DIV2;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    config.rcc.mux.adcsel = mux::Adcsel::PLL2_P;
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
        spawner.spawn(defmt::unwrap!(uart::send(uart::port(p.USART3, p.PD8, p.DMA1_CH0))));
        Board {
            sampling: high_priority::start(),
            imu: ImuParts { i2c: p.I2C1, sda: p.PB9, scl: p.PB8, dma: (p.DMA1_CH1, p.DMA1_CH2) },
            emg: EmgParts {
                adc: p.ADC1,
                pins: [
                    p.PA3.degrade_adc(),
                    p.PC0.degrade_adc(),
                    p.PB1.degrade_adc(),
                    p.PA4.degrade_adc(),
                    p.PA5.degrade_adc(),
                    p.PA6.degrade_adc(),
                    p.PF11.degrade_adc(),
                    p.PF12.degrade_adc(),
                ],
                dma: p.DMA1_CH3,
            },
        }
    }
}
