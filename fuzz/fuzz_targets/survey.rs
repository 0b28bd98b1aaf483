//! Cells of any content are counted: numbers, time stamps, texts and missing values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::survey::{ColumnStatistics, name_and_unit, parse_timestamp};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut column = ColumnStatistics::new("fuzz", None);
    for (row, cell) in text.lines().enumerate() {
        if let Some(seconds) = parse_timestamp(cell) {
            assert!(seconds.is_finite());
        }
        assert!(cell.starts_with(name_and_unit(cell).0));
        column.add(cell, row == 0);
    }
    assert!(column.missing + column.texts <= column.rows && column.stamps <= column.texts);
});
