//! Eight analogue channels, AIN0 to AIN7, by SAADC at 1 kHz: a timer starts conversions by PPI, and EasyDMA
//! fills one buffer while the other is read.

use embassy_nrf::Peri;
use embassy_nrf::peripherals::{PPI_CH0, PPI_CH1, SAADC, TIMER0};
use embassy_nrf::saadc::{AnyInput, CallbackResult, ChannelConfig, Config, Gain, Reference, Saadc};
use embassy_nrf::timer::Frequency;
use embassy_time::Instant;
use quaver_firmware::Row;
use quaver_firmware::emg::{Envelopes, SAMPLE_RATE_HZ, WINDOW};
use quaver_firmware::programs::EMG_ROWS;

use crate::Irqs;

const CHANNELS: usize = 8;
/// The ADC has 12 bits.
const FULL_SCALE: u16 = 4095;
/// The timer counts at 1 MHz.
const PERIOD: u32 = 1_000_000 / SAMPLE_RATE_HZ;

/// The analogue channels.
pub struct EmgParts {
    pub(crate) adc: Peri<'static, SAADC>,
    pub(crate) pins: [AnyInput<'static>; CHANNELS],
    pub(crate) timer: Peri<'static, TIMER0>,
    pub(crate) ppi: (Peri<'static, PPI_CH0>, Peri<'static, PPI_CH1>),
}

/// Offers envelopes to the model.
#[embassy_executor::task]
pub async fn sample_emg(parts: EmgParts) {
    let channels = parts.pins.map(|pin| {
        let mut channel = ChannelConfig::single_ended(pin);
        // A quarter of the supply, four times: the range is 0 to the supply.
        (channel.reference, channel.gain) = (Reference::VDD1_4, Gain::Gain1_4);
        channel
    });
    let mut adc = Saadc::new(parts.adc, Irqs, Config::default(), channels);
    adc.calibrate().await;
    let mut envelopes = Envelopes::<CHANNELS>::new(FULL_SCALE);
    let mut buffers = [[[0_i16; CHANNELS]; WINDOW]; 2];
    let (first, second) = parts.ppi;
    adc.run_task_sampler(parts.timer, first, second, Frequency::F1MHz, PERIOD, &mut buffers, |readings| {
        for readings in readings {
            // Noise may take a reading just below zero.
            let readings = readings.map(|reading| reading.max(0).unsigned_abs());
            if let Some(values) = envelopes.add(&readings) {
                EMG_ROWS.offer(Row { time_us: Instant::now().as_micros(), values });
            }
        }
        CallbackResult::Continue
    })
    .await;
}
