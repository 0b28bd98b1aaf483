//! An npy file of any content gives numbers, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::data::npy;

fuzz_target!(|bytes: &[u8]| {
    let _ = npy::parse_values(bytes, "fuzz");
    let _ = npy::parse_lengths(bytes, "fuzz");
});
