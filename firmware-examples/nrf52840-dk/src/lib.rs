//! Clocks, pins and drivers of a nRF52840 DK.
#![no_std]

mod emg;
mod high_priority;
mod imu;
mod uart;

use defmt_rtt as _;
use embassy_executor::{SendSpawner, Spawner};
use embassy_nrf::bind_interrupts;
use embassy_nrf::config::{Config, HfclkSource};
use embassy_nrf::peripherals::{TWISPI0, UARTE0};
use embassy_nrf::saadc::Input;
use embassy_nrf::{Peripherals, saadc, twim, uarte};
use panic_probe as _;

pub use emg::{EmgParts, sample_emg};
pub use imu::{ImuParts, sample_imu};

/// The name of the board.
pub const NAME: &str = "nrf52840-dk";
/// The core's clock.
const CLOCK_HZ: u32 = 64_000_000;

bind_interrupts!(pub(crate) struct Irqs {
    SAADC => saadc::InterruptHandler;
    TWISPI0 => twim::InterruptHandler<TWISPI0>;
    UARTE0 => uarte::InterruptHandler<UARTE0>;
});

fn peripherals() -> Peripherals {
    let mut config = Config::default();
    // The crystal: a UART and an ADC should not drift with the temperature.
    config.hfclk_source = HfclkSource::ExternalXtal;
    embassy_nrf::init(config)
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
        spawner.spawn(defmt::unwrap!(uart::send(uart::port(p.UARTE0, p.P0_06))));
        Board {
            sampling: high_priority::start(),
            imu: ImuParts { i2c: p.TWISPI0, sda: p.P0_26, scl: p.P0_27 },
            emg: EmgParts {
                adc: p.SAADC,
                pins: [
                    p.P0_02.degrade_saadc(),
                    p.P0_03.degrade_saadc(),
                    p.P0_04.degrade_saadc(),
                    p.P0_05.degrade_saadc(),
                    p.P0_28.degrade_saadc(),
                    p.P0_29.degrade_saadc(),
                    p.P0_30.degrade_saadc(),
                    p.P0_31.degrade_saadc(),
                ],
                timer: p.TIMER0,
                ppi: (p.PPI_CH0, p.PPI_CH1),
            },
        }
    }
}
