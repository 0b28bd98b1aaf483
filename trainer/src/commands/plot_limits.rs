//! What pages with curves of channels have in common.

/// Half-width of the central 90 % interval of a normal, in standard deviations.
pub(super) const Z_90: f32 = 1.644_854;

/// Channels and rows that a page shows: more would not be looked at.
pub(super) const MOST_CHANNELS: usize = 12;
pub(super) const MOST_ROWS: usize = 400;

/// A sentence on what is not shown.
pub(super) fn left_out(channels: usize) -> String {
    match channels.checked_sub(MOST_CHANNELS) {
        Some(more @ 1..) => format!(" {more} more channels are not shown."),
        _ => String::new(),
    }
}
