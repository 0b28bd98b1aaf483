//! A config of any text is read and written back unchanged, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::config::Config;

fuzz_target!(|text: &str| {
    if let Ok(config) = Config::parse("fuzz", text, &[]) {
        let written = config.to_toml().expect("what was read can be written");
        assert_eq!(Config::parse("written", &written, &[]).expect("and read again"), config);
    }
});
