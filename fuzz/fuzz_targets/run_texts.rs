//! The small texts around a run: ranges of rows, and the lines of metrics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::config::RowRange;
use quaver_trainer::fit::metrics;

fuzz_target!(|bytes: &[u8]| {
    let epochs = metrics::parse(bytes.to_vec());
    assert!(epochs.len() <= bytes.len());
    if let Ok(range) = String::from_utf8_lossy(bytes).parse::<RowRange>() {
        assert_eq!(range.to_string().parse(), Ok(range), "written and read again");
        for len in [0, 1, 100, usize::MAX] {
            let found = range.within(len);
            assert!(found.is_err() || found.is_ok_and(|range| range.start < range.end && range.end <= len));
        }
    }
});
