//! Eight analogue channels of ADC 1 (PA3, PC0, PB1, PA4, PA5, PA6, PF11, PF12), converted by DMA at 1 kHz: a
//! timer starts each pass.

use embassy_stm32::Peri;
use embassy_stm32::adc::{Adc, AnyAdcChannel, SampleTime};
use embassy_stm32::peripherals::{ADC1, DMA1_CH3};
use embassy_time::{Duration, Instant, Ticker};
use quaver_firmware::Row;
use quaver_firmware::emg::{Envelopes, SAMPLE_RATE_HZ};
use quaver_firmware::programs::EMG_ROWS;

use crate::Irqs;

const CHANNELS: usize = 8;
/// The ADC has 16 bits.
const FULL_SCALE: u16 = u16::MAX;

/// The analogue channels.
pub struct EmgParts {
    pub(crate) adc: Peri<'static, ADC1>,
    pub(crate) pins: [AnyAdcChannel<'static, ADC1>; CHANNELS],
    pub(crate) dma: Peri<'static, DMA1_CH3>,
}

/// Offers envelopes to the model.
#[embassy_executor::task]
pub async fn sample_emg(mut parts: EmgParts) {
    let mut adc = Adc::new(parts.adc);
    let mut envelopes = Envelopes::<CHANNELS>::new(FULL_SCALE);
    let mut ticker = Ticker::every(Duration::from_hz(SAMPLE_RATE_HZ.into()));
    loop {
        ticker.next().await;
        let mut readings = [0; CHANNELS];
        let sequence = parts.pins.iter_mut().map(|pin| (pin, SampleTime::CYCLES32_5));
        adc.read(parts.dma.reborrow(), Irqs, sequence, &mut readings).await;
        if let Some(values) = envelopes.add(&readings) {
            EMG_ROWS.offer(Row { time_us: Instant::now().as_micros(), values });
        }
    }
}
