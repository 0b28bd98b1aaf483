//! Clocks, pins and drivers of a Raspberry Pi Pico, and of a Pico 2, which has the same pins.
#![no_std]

mod emg;
mod high_priority;
mod imu;
mod irqs;
#[cfg(not(feature = "usb"))]
mod uart;
#[cfg(feature = "usb")]
mod usb;

use defmt_rtt as _;
use embassy_executor::{SendSpawner, Spawner};
use panic_probe as _;

pub use emg::{EmgParts, sample_emg};
pub use imu::{ImuParts, sample_imu};

/// The name of the board.
pub const NAME: &str = if cfg!(feature = "rp2350") { "rp2350-pico2" } else { "rp2040-pico" };

/// Starts the clocks and nothing else; returns the core's in hertz.
pub fn start_clocks() -> u32 {
    let _ = embassy_rp::init(Default::default());
    embassy_rp::clocks::clk_sys_freq()
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
        let p = embassy_rp::init(Default::default());
        #[cfg(not(feature = "usb"))]
        spawner.spawn(defmt::unwrap!(uart::send(uart::port(p.UART0, p.PIN_0, p.DMA_CH1))));
        #[cfg(feature = "usb")]
        usb::start(spawner, p.USB);
        Board {
            sampling: high_priority::start(),
            imu: ImuParts { i2c: p.I2C1, sda: p.PIN_14, scl: p.PIN_15 },
            emg: EmgParts { adc: p.ADC, pins: (p.PIN_26, p.PIN_27, p.PIN_28), dma: p.DMA_CH0 },
        }
    }
}
