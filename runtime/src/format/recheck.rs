//! The checksum of a loaded checkpoint once more, piece by piece.

use super::{Error, crc};

/// A second look at the bytes of a loaded checkpoint, as much at a time as a caller has time for.
///
/// Loading checks everything once, and a step relies on it. Flash may change later: a worn cell, radiation, a
/// faulty update. A task that has time to spare takes the checksum again and compares it with the one that
/// was loaded: 9.5 instructions per byte on a Cortex-M3, M4, M7 or M33, 13 on an M0. Together with
/// [`Model::check_state`](crate::Model::check_state) it covers what a step relies on.
///
/// ```
/// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
/// # let mut arena = quaver::Arena::<{ quaver::arena_words(MODEL) }>::new();
/// let predictor = quaver::Predictor::load(MODEL, &mut arena)?;
/// let mut recheck = predictor.model().recheck();
/// // In the idle task:
/// match recheck.advance(256) {
///     None => {}                                           // more to come
///     Some(Ok(())) => recheck = predictor.model().recheck(), // intact: from the beginning
///     Some(Err(error)) => panic!("{error}"),               // stop the motors, reset
/// }
/// assert_eq!(predictor.model().recheck().finish(), Ok(()));
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recheck<'m> {
    rest: &'m [u8],
    stored: &'m [u8],
    register: u32,
    expected: u32,
}

impl<'m> Recheck<'m> {
    /// The checkpoint of these bytes, which had this checksum when it was loaded.
    pub(crate) fn new(bytes: &'m [u8], expected: u32) -> Self {
        let (rest, stored) = bytes.split_at_checked(bytes.len().saturating_sub(4)).unwrap_or_default();
        Recheck { rest, stored, register: crc::START, expected }
    }

    /// Reads at most `bytes` more; the result once all are read.
    ///
    /// # Errors
    /// The result is [`Error::Crc`] if the bytes are no longer those that were loaded: predictions since then
    /// mean nothing.
    pub fn advance(&mut self, bytes: usize) -> Option<Result<(), Error>> {
        let (next, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, &[]));
        self.register = crc::extended(self.register, next);
        self.rest = rest;
        rest.is_empty().then(|| self.result())
    }

    /// Reads everything that is left.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn finish(mut self) -> Result<(), Error> {
        self.register = crc::extended(self.register, self.rest);
        self.result()
    }

    fn result(&self) -> Result<(), Error> {
        let (computed, expected) = (!self.register, self.expected);
        let stored = self.stored.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if computed == expected && stored == expected { Ok(()) } else { Err(Error::Crc { stored, computed }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading bytes that change meanwhile is what a device does and Rust does not allow: a second list
    /// stands in for flash with a flipped bit.
    #[test]
    fn every_flipped_bit_is_noticed() {
        let content: std::vec::Vec<u8> = (0..100).collect();
        let crc = crc::checksum(&content);
        let bytes = [&content[..], &crc.to_le_bytes()].concat();
        assert_eq!(Recheck::new(&bytes, crc).finish(), Ok(()));
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let mut recheck = Recheck::new(&changed, crc);
            let result = std::iter::repeat_with(|| recheck.advance(7)).find_map(|result| result);
            assert!(matches!(result, Some(Err(Error::Crc { .. }))), "bit {bit}");
        }
    }
}
