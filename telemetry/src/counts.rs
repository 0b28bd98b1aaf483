//! What became of the frames on the way.

/// Totals since a decoder was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that arrived whole.
    pub frames: u64,
    /// Frames that never arrived whole, by the gaps between sequence numbers. Damaged ones are among them.
    pub lost: u64,
    /// Pieces between delimiters that were neither a frame nor text. One damaged frame can leave several.
    pub damaged: u64,
    /// Bytes before the first delimiter: the rest of what was on its way when the port was opened.
    pub skipped_bytes: u64,
    /// Whole frames of a kind, or a version, that this decoder does not read.
    pub unknown: u64,
    /// How often the numbers of frames began again: the board was restarted.
    pub restarts: u64,
    /// Lines of text.
    pub lines: u64,
}

impl Counts {
    /// Counts a frame by its sequence number, after `last`.
    pub(crate) fn arrived(&mut self, last: Option<u32>, sequence: u32) {
        self.frames += 1;
        let Some(last) = last else { return };
        let missing = sequence.wrapping_sub(last).wrapping_sub(1);
        // Frames do not overtake each other: a number that is not ahead is that of a board that began again.
        if missing > u32::MAX / 2 {
            self.restarts += 1;
            self.lost += u64::from(sequence);
        } else {
            self.lost += u64::from(missing);
        }
    }
}
