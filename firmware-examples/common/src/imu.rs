//! A MPU-6050 on I²C as a source of rows.

use embassy_time::{Duration, Instant, Ticker, Timer};
use embedded_hal_async::i2c::I2c;
use mpu6050_dmp::accel::{Accel, AccelFullScale};
use mpu6050_dmp::address::Address;
use mpu6050_dmp::config::DigitalLowPassFilter;
use mpu6050_dmp::gyro::{Gyro, GyroFullScale};
use mpu6050_dmp::sensor_async::Mpu6050;

use crate::models::{IMU_AXES, IMU_RATE_HZ};
use crate::queue::{Row, RowQueue};

/// m/s² per g.
const GRAVITY: f32 = 9.806_65;
/// rad/s per degree per second.
const RADIANS: f32 = core::f32::consts::PI / 180.0;
/// Readings of ±4 g and ±500 °/s in 16 bits.
const ACCEL_COUNTS_PER_G: f32 = 8192.0;
const GYRO_COUNTS_PER_DEGREE: f32 = 65.5;
/// The sensor's own rate with its filter is 1 kHz; it samples at the rate of the model.
const RATE_DIVIDER: u8 = (1000 / IMU_RATE_HZ - 1) as u8;

/// Reads the sensor by a timer and offers rows, for ever. A reading that fails is a row without values; after
/// it the sensor is set up again, so that it may be unplugged and plugged in.
pub async fn sample<const DEPTH: usize>(mut i2c: impl I2c, queue: &RowQueue<IMU_AXES, DEPTH>) -> ! {
    let mut ticker = Ticker::every(Duration::from_hz(IMU_RATE_HZ.into()));
    loop {
        let time_us = Instant::now().as_micros();
        queue.offer(Row { time_us, values: [f32::NAN; IMU_AXES] });
        if let Some(mut sensor) = set_up(&mut i2c).await {
            ticker.reset();
            loop {
                ticker.next().await;
                let time_us = Instant::now().as_micros();
                let Ok((accel, gyro)) = sensor.motion6().await else { break };
                queue.offer(Row { time_us, values: in_units(&accel, &gyro) });
            }
        }
        #[cfg(feature = "defmt")]
        defmt::warn!("the IMU does not answer: check SDA, SCL, 3.3 V and GND");
        Timer::after_secs(1).await;
    }
}

async fn set_up<I: I2c>(i2c: &mut I) -> Option<Mpu6050<&mut I>> {
    let mut sensor = Mpu6050::new(i2c, Address::default()).await.ok()?;
    sensor.set_accel_full_scale(AccelFullScale::G4).await.ok()?;
    sensor.set_gyro_full_scale(GyroFullScale::Deg500).await.ok()?;
    sensor.set_digital_lowpass_filter(DigitalLowPassFilter::Filter3).await.ok()?;
    sensor.set_sample_rate_divider(RATE_DIVIDER).await.ok()?;
    Some(sensor)
}

fn in_units(accel: &Accel, gyro: &Gyro) -> [f32; IMU_AXES] {
    let accel =
        [accel.x(), accel.y(), accel.z()].map(|value| f32::from(value) * (GRAVITY / ACCEL_COUNTS_PER_G));
    let gyro =
        [gyro.x(), gyro.y(), gyro.z()].map(|value| f32::from(value) * (RADIANS / GYRO_COUNTS_PER_DEGREE));
    let ([ax, ay, az], [gx, gy, gz]) = (accel, gyro);
    [ax, ay, az, gx, gy, gz]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The registers of a sensor that lies flat and turns about its vertical axis at 100 °/s.
    #[test]
    fn readings_are_in_units() {
        let accel = Accel::from_bytes([0, 0, 0, 0, 0x20, 0]);
        let gyro = Gyro::from_bytes([0, 0, 0, 0, 0x19, 0x96]);
        let row = in_units(&accel, &gyro);
        let expected = [0.0, 0.0, 9.806_65, 0.0, 0.0, 1.745_329_3];
        for (value, expected) in row.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-4, "{row:?}");
        }
    }
}
