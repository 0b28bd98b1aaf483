//! A bag of any content, its definitions and messages included, gives rows, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::config::BagConfig;
use quaver_trainer::data::bag::Bag;

fuzz_target!(|bytes: &[u8]| {
    let Ok(bag) = Bag::parse(bytes.to_vec()) else { return };
    let names = bag.names();
    if let Ok(rows) = bag.rows(&names, &BagConfig::default()) {
        assert_eq!(rows.table.sequences[0].values.len(), rows.times.len() * names.len());
    }
});
