//! CSV of any shape gives rows of the header's width, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::data::csv::{RowReader, read};

fuzz_target!(|bytes: &[u8]| {
    for header in [true, false] {
        if let Ok(table) = RowReader::new(bytes, "fuzz", header).and_then(|mut rows| read(&mut rows)) {
            assert!(table.sequences.iter().all(|rows| rows.channels == table.names.len()));
        }
    }
});
