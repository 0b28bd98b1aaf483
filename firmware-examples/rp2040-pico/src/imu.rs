//! I²C 1: SDA on GP14, SCL on GP15, 400 kHz.

use embassy_rp::Peri;
use embassy_rp::i2c::{Async, Config, I2c};
use embassy_rp::peripherals::{I2C1, PIN_14, PIN_15};
use quaver_firmware::imu;
use quaver_firmware::programs::IMU_ROWS;

use crate::irqs::Irqs;

/// The bus of an IMU.
pub struct ImuParts {
    pub(crate) i2c: Peri<'static, I2C1>,
    pub(crate) sda: Peri<'static, PIN_14>,
    pub(crate) scl: Peri<'static, PIN_15>,
}

/// Offers readings of a MPU-6050 to the model.
#[embassy_executor::task]
pub async fn sample_imu(parts: ImuParts) {
    let mut config = Config::default();
    config.frequency = 400_000;
    let bus: I2c<'static, I2C1, Async> = I2c::new_async(parts.i2c, parts.scl, parts.sda, Irqs, config);
    imu::sample(bus, &IMU_ROWS).await
}
