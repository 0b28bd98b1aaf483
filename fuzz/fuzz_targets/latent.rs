//! Whatever loads as a latent model must keep every promise of one: see `quaver_tests::attack`.
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use libfuzzer_sys::fuzz_target;
use quaver::LatentModel;
use quaver_tests::attack::dice::Dice;
use quaver_tests::attack::latent_trial;

/// More than this is a matter of time, not of correctness.
const MOST_WORDS: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    run(bytes);
    // Almost no mutation has valid checksums; with all three mended, the other checks are reached.
    run(&mended(bytes));
});

/// The bytes with right checksums: of every network that seems to be inside, then of the whole.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut mended = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes) as usize
    };
    for start in (16..bytes.len()).step_by(16) {
        if bytes[start..].starts_with(b"QVER") {
            let (header, payload) = (word(bytes, start + 8), word(bytes, start + 12));
            let length = header.next_multiple_of(16).saturating_add(payload).saturating_add(20);
            let end = start.saturating_add(length);
            mended.get_mut(start..end).map(mend);
        }
    }
    mend(&mut mended);
    mended
}

fn mend(bytes: &mut [u8]) {
    if let Some((content, crc)) = bytes.split_last_chunk_mut::<4>() {
        *crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content).to_le_bytes();
    }
}

fn run(bytes: &[u8]) {
    if LatentModel::load(bytes).is_ok_and(|model| model.arena_words() <= MOST_WORDS) {
        latent_trial::run(bytes, &mut Dice::new(0, 0)).expect("a promise");
    }
}
