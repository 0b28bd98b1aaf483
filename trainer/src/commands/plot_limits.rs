//! Limits of pages with plots of channels.

/// Half-width of the central 90 % interval of a normal, in standard deviations.
pub(super) const Z_90: f32 = 1.644_854;

/// Maximum numbers of channels and rows on a page.
pub(super) const MOST_CHANNELS: usize = 12;
pub(super) const MOST_ROWS: usize = 400;

/// A sentence on channels that are not shown.
pub(super) fn left_out(channels: usize) -> String {
    match channels.checked_sub(MOST_CHANNELS) {
        Some(more @ 1..) => format!(" {more} more channels are not shown."),
        _ => String::new(),
    }
}
