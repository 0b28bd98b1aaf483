//! TWIM 0: SDA on P0.26, SCL on P0.27, 400 kHz.

use embassy_nrf::Peri;
use embassy_nrf::peripherals::{P0_26, P0_27, TWISPI0};
use embassy_nrf::twim::{Config, Frequency, Twim};
use quaver_firmware::imu;
use quaver_firmware::programs::IMU_ROWS;

use crate::Irqs;

/// The bus of an IMU.
pub struct ImuParts {
    pub(crate) i2c: Peri<'static, TWISPI0>,
    pub(crate) sda: Peri<'static, P0_26>,
    pub(crate) scl: Peri<'static, P0_27>,
}

/// Offers readings of a MPU-6050 to the model.
#[embassy_executor::task]
pub async fn sample_imu(parts: ImuParts) {
    let mut config = Config::default();
    config.frequency = Frequency::K400;
    // What is written is in RAM, except for constants of the driver.
    let mut buffer = [0; 16];
    let bus = Twim::new(parts.i2c, Irqs, parts.sda, parts.scl, config, &mut buffer);
    imu::sample(bus, &IMU_ROWS).await
}
