//! Three analogue channels, GP26 to GP28, by ADC and DMA at 1 kHz: as many as a Pico has.

use embassy_rp::Peri;
use embassy_rp::adc::{Adc, Channel, Config};
use embassy_rp::dma;
use embassy_rp::gpio::Pull;
use embassy_rp::peripherals::{ADC, DMA_CH0, PIN_26, PIN_27, PIN_28};
use embassy_time::Instant;
use quaver_firmware::Row;
use quaver_firmware::emg::{Envelopes, SAMPLE_RATE_HZ, WINDOW, widened};
use quaver_firmware::programs::EMG_ROWS;

use crate::irqs::Irqs;

/// Channels of the ADC that have pins.
const CHANNELS: usize = 3;
/// The ADC has 12 bits.
const FULL_SCALE: u16 = 4095;
/// The ADC takes one conversion per so many cycles of its 48 MHz, less one.
const DIVIDER: u16 = (48_000_000 / (SAMPLE_RATE_HZ * CHANNELS as u32) - 1) as u16;

/// The analogue channels.
pub struct EmgParts {
    pub(crate) adc: Peri<'static, ADC>,
    pub(crate) pins: (Peri<'static, PIN_26>, Peri<'static, PIN_27>, Peri<'static, PIN_28>),
    pub(crate) dma: Peri<'static, DMA_CH0>,
}

/// Offers envelopes to the model. The ADC is paced by its own clock, and DMA stores a window of readings.
#[embassy_executor::task]
pub async fn sample_emg(parts: EmgParts) {
    let mut adc = Adc::new(parts.adc, Irqs, Config::default());
    let mut dma = dma::Channel::new(parts.dma, Irqs);
    let (first, second, third) = parts.pins;
    let mut channels = [
        Channel::new_pin(first, Pull::None),
        Channel::new_pin(second, Pull::None),
        Channel::new_pin(third, Pull::None),
    ];
    let mut envelopes = Envelopes::<CHANNELS>::new(FULL_SCALE);
    loop {
        let mut readings = [0_u16; CHANNELS * WINDOW];
        if adc.read_many_multichannel(&mut channels, &mut readings, DIVIDER, &mut dma).await.is_err() {
            continue;
        }
        let (readings, _) = readings.as_chunks::<CHANNELS>();
        for row in readings.iter().filter_map(|readings| envelopes.add(readings)) {
            EMG_ROWS.offer(Row { time_us: Instant::now().as_micros(), values: widened(&row) });
        }
    }
}
