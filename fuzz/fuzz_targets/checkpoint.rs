//! Whatever loads must keep every promise of a checkpoint: see `quaver_tests::attack`.
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use libfuzzer_sys::fuzz_target;
use quaver::Model;
use quaver_tests::attack::dice::Dice;
use quaver_tests::attack::{adaptive_trial, trial};

/// More than this is a matter of time, not of correctness.
const MOST_WORDS: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    run(bytes);
    // Almost no mutation has a valid checksum; with it mended, the other checks are reached.
    let mut mended = bytes.to_vec();
    if let Some((content, crc)) = mended.split_last_chunk_mut::<4>() {
        *crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content).to_le_bytes();
    }
    run(&mended);
});

fn run(bytes: &[u8]) {
    if Model::load(bytes).is_ok_and(|model| model.spec().arena_words() <= MOST_WORDS) {
        let mut dice = Dice::new(0, 0);
        trial::run(bytes, &mut dice).expect("a promise");
        adaptive_trial::run(bytes, &mut dice).expect("a promise");
    }
}
