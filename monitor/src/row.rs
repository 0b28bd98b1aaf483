//! One row of a stream, apart from its channels.

/// When a row came, how it was scored, and what the sender has counted so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meta {
    /// Seconds on the clock of the sender since the monitor was started; it never goes back.
    pub time: f64,
    /// Seconds on the clock of this machine since the monitor was started.
    pub arrival: f64,
    /// Steps so far that began late.
    pub late: u32,
    /// Rows so far that the sender dropped.
    pub dropped: u32,
    /// Negative log-likelihood of the row in nats; NaN if it was not scored.
    pub surprise: f32,
    /// The most suspicious statistic of the row, with the limit at 1; NaN if there is none.
    pub score: f32,
    /// Duration of the step in microseconds; NaN if it is not known.
    pub step_us: f32,
    /// Number of the label from 1; 0 for none.
    pub label: u8,
    /// Whether something is missing before this row: it is the first, frames were lost, or the sender was
    /// restarted.
    pub begins: bool,
    /// Whether the row exceeds the limit of its model.
    pub anomalous: bool,
}

impl Default for Meta {
    fn default() -> Self {
        Meta {
            time: 0.0,
            arrival: 0.0,
            late: 0,
            dropped: 0,
            surprise: f32::NAN,
            score: f32::NAN,
            step_us: f32::NAN,
            label: 0,
            begins: false,
            anomalous: false,
        }
    }
}
