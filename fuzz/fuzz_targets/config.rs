//! A config of any text is read and written back unchanged, or refused. What follows the first NUL are
//! settings as on the command line, one per line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::config::Config;

fuzz_target!(|text: &str| {
    let (text, settings) = text.split_once('\0').unwrap_or((text, ""));
    let settings: Vec<String> = settings.lines().map(String::from).collect();
    if let Ok(config) = Config::parse("fuzz", text, &settings) {
        let written = config.to_toml().expect("what was read can be written");
        assert_eq!(Config::parse("written", &written, &[]).expect("and read again"), config);
    }
});
