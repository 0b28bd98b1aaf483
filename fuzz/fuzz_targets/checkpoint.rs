//! Whatever loads must step, with finite means and variances that are not negative.
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use libfuzzer_sys::fuzz_target;
use quaver::Model;

fuzz_target!(|bytes: &[u8]| {
    step(bytes);
    // Almost no mutation has a valid checksum; with it mended, the other checks are reached.
    let mut mended = bytes.to_vec();
    if let Some((content, crc)) = mended.split_last_chunk_mut::<4>() {
        *crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content).to_le_bytes();
    }
    step(&mended);
});

fn step(bytes: &[u8]) {
    let Ok(model) = Model::load(bytes) else { return };
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("as many words as it asks for");
    for row in [&[][..], &[1.0, f32::NAN, -3.0e38], &[f32::INFINITY; 64]] {
        for output in model.step(&mut state, row).iter() {
            assert!(output.mean.is_finite() && output.variance.is_finite() && output.variance >= 0.0);
        }
    }
}
