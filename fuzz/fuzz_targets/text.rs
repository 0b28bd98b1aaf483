//! A text of any content gives tokens of its own vocabulary, whose names give the vocabulary again, or an
//! error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_trainer::config::TokenKind;
use quaver_trainer::data::text::{Vocabulary, decode};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = Vocabulary::read(bytes, "fuzz") {
        assert_eq!(Vocabulary::from_names(&read.names()).expect("names are names"), read);
    }
    let Ok(text) = decode(bytes, "fuzz") else { return };
    for kind in [TokenKind::Words, TokenKind::Characters] {
        if let Ok(vocabulary) = Vocabulary::of_texts(&[text], kind) {
            let rows = vocabulary.encode(text, kind, "fuzz").expect("the text has its own tokens");
            assert!(rows.values.iter().all(|token| (*token as usize) < vocabulary.tokens().len()));
            let names = vocabulary.names().join("\n");
            assert_eq!(
                Vocabulary::read(names.as_bytes(), "fuzz").expect("names are a vocabulary"),
                vocabulary
            );
        }
    }
});
