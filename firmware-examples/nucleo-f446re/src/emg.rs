//! Eight analogue channels (A0 to A5, PC2, PC3): the ADC converts them in turn without a pause, DMA stores
//! them in a ring, and a timer takes the latest readings at 1 kHz.

use embassy_stm32::Peri;
use embassy_stm32::adc::{Adc, AnyAdcChannel, CONTINUOUS, Exten, SampleTime};
use embassy_stm32::peripherals::{ADC1, DMA2_CH0};
use embassy_time::{Duration, Instant, Ticker};
use quaver_firmware::Row;
use quaver_firmware::emg::{Envelopes, SAMPLE_RATE_HZ};
use quaver_firmware::programs::EMG_ROWS;
use static_cell::StaticCell;

use crate::Irqs;

const CHANNELS: usize = 8;
/// The ADC has 12 bits.
const FULL_SCALE: u16 = 4095;

/// The analogue channels.
pub struct EmgParts {
    pub(crate) adc: Peri<'static, ADC1>,
    pub(crate) pins: [AnyAdcChannel<'static, ADC1>; CHANNELS],
    pub(crate) dma: Peri<'static, DMA2_CH0>,
}

/// Offers envelopes to the model.
#[embassy_executor::task]
pub async fn sample_emg(parts: EmgParts) {
    static RING: StaticCell<[u16; 16 * CHANNELS]> = StaticCell::new();
    let sequence = parts.pins.into_iter().map(|pin| (pin, SampleTime::CYCLES480));
    let ring = RING.init([0; 16 * CHANNELS]);
    let adc = Adc::new(parts.adc);
    let mut adc = adc.into_ring_buffered(parts.dma, ring, Irqs, sequence, CONTINUOUS, Exten::DISABLED);
    adc.start();
    let mut envelopes = Envelopes::<CHANNELS>::new(FULL_SCALE);
    let mut ticker = Ticker::every(Duration::from_hz(SAMPLE_RATE_HZ.into()));
    loop {
        ticker.next().await;
        let mut readings = [0; CHANNELS];
        if adc.read_latest(&mut readings) < CHANNELS {
            continue;
        }
        if let Some(values) = envelopes.add(&readings) {
            EMG_ROWS.offer(Row { time_us: Instant::now().as_micros(), values });
        }
    }
}
