//! A piano roll of any content gives rows of 88 keys, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::data::piano_roll;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = piano_roll::read(bytes, "fuzz") {
        assert!(table.sequences.iter().all(|rows| rows.channels == 88));
    }
});
