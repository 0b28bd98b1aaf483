//! Rows on their way from a sensor to the model.

use core::cell::Cell;

use embassy_sync::blocking_mutex::{Mutex, raw::CriticalSectionRawMutex};
use embassy_sync::channel::Channel;

use crate::stepper::Load;

/// A row, and when it was sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<const N: usize> {
    /// Microseconds since the board started.
    pub time_us: u64,
    /// The channels in raw units; NaN for a missing one.
    pub values: [f32; N],
}

/// A queue that a sampler never waits for: a row that finds it full is dropped, and counted.
pub struct RowQueue<const N: usize, const DEPTH: usize = 4> {
    channel: Channel<CriticalSectionRawMutex, Row<N>, DEPTH>,
    dropped: Mutex<CriticalSectionRawMutex, Cell<u32>>,
}

impl<const N: usize, const DEPTH: usize> RowQueue<N, DEPTH> {
    /// An empty queue.
    #[allow(clippy::new_without_default, reason = "queues are statics, which need a const fn")]
    pub const fn new() -> Self {
        RowQueue { channel: Channel::new(), dropped: Mutex::new(Cell::new(0)) }
    }

    /// Puts a row into the queue, or drops it.
    pub fn offer(&self, row: Row<N>) {
        if self.channel.try_send(row).is_err() {
            self.dropped.lock(|dropped| dropped.set(dropped.get().wrapping_add(1)));
        }
    }

    /// Waits for the next row.
    pub async fn next(&self) -> Row<N> {
        self.channel.receive().await
    }

    /// The next row if there is one, for programs without an executor.
    pub fn try_next(&self) -> Option<Row<N>> {
        self.channel.try_receive().ok()
    }

    /// How far the model is behind.
    pub fn load(&self) -> Load {
        Load { is_late: !self.channel.is_empty(), dropped: self.dropped.lock(Cell::get) }
    }
}
