//! Rows stored in flash, replayed at their rate.

use embassy_time::{Duration, Instant, Ticker};

use crate::queue::{Row, RowQueue};

include!(concat!(env!("OUT_DIR"), "/rows.rs"));

/// Offers the rows one by one, over and over, by a timer.
pub async fn replay<const N: usize, const DEPTH: usize>(
    rows: &[[f32; N]],
    rate_hz: u32,
    queue: &RowQueue<N, DEPTH>,
) -> ! {
    let mut ticker = Ticker::every(Duration::from_hz(rate_hz.into()));
    loop {
        for values in rows {
            ticker.next().await;
            queue.offer(Row { time_us: Instant::now().as_micros(), values: *values });
        }
    }
}
