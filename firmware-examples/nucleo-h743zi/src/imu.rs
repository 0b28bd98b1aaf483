//! I²C 1: SDA on PB9 (D14), SCL on PB8 (D15), 400 kHz.

use embassy_stm32::Peri;
use embassy_stm32::i2c::{Config, I2c};
use embassy_stm32::peripherals::{DMA1_CH1, DMA1_CH2, I2C1, PB8, PB9};
use embassy_stm32::time::Hertz;
use quaver_firmware::imu;
use quaver_firmware::programs::IMU_ROWS;

use crate::Irqs;

/// The bus of an IMU.
pub struct ImuParts {
    pub(crate) i2c: Peri<'static, I2C1>,
    pub(crate) sda: Peri<'static, PB9>,
    pub(crate) scl: Peri<'static, PB8>,
    pub(crate) dma: (Peri<'static, DMA1_CH1>, Peri<'static, DMA1_CH2>),
}

/// Offers readings of a MPU-6050 to the model.
#[embassy_executor::task]
pub async fn sample_imu(parts: ImuParts) {
    let mut config = Config::default();
    config.frequency = Hertz(400_000);
    let (tx, rx) = parts.dma;
    let bus = I2c::new(parts.i2c, parts.scl, parts.sda, tx, rx, Irqs, config);
    imu::sample(bus, &IMU_ROWS).await
}
