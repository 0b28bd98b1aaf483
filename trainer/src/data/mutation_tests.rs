//! Every parser survives arbitrary bytes: small valid files, changed at random but the same way every time.

use std::io::BufReader;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::bag::{self, Bag};
use super::csv::RowReader;
use super::text::{Vocabulary, decode};
use super::{csv, npy, piano_roll};
use crate::config::{BagConfig, Config, TokenKind};
use crate::import::safetensors;

const ROUNDS: usize = 20_000;

/// Bytes that mean something to one parser or another.
const TELLING: &[u8] = b",;.\"'\n\r \t0129-+eE%=[]{}()<|fiuNaT\\\x00\xff\xef\xbb\xbf\x93";

/// Replaces, inserts, removes or repeats a few bytes, or cuts the end off.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Xoshiro256PlusPlus) {
    for _ in 0..1 + rng.next_u32() % 4 {
        let at = rng.next_u32() as usize % (bytes.len() + 1);
        let byte = match rng.next_u32() % 2 {
            0 => TELLING[rng.next_u32() as usize % TELLING.len()],
            _ => rng.next_u32() as u8,
        };
        match rng.next_u32() % 5 {
            0 => bytes.insert(at, byte),
            1 => bytes.truncate(at),
            2 => bytes.extend_from_within(at..),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] = byte,
            _ => bytes.push(byte),
        }
    }
}

/// Feeds mutations of `seed` to a parser; it must return, and succeed as well as fail now and then.
fn survive(seed: &[u8], mut parses: impl FnMut(&[u8]) -> bool) {
    assert!(parses(seed), "the unchanged file must be valid");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x5eed);
    let mut valid = 0;
    for _ in 0..ROUNDS {
        let mut bytes = seed.to_vec();
        mutate(&mut bytes, &mut rng);
        valid += usize::from(parses(&bytes));
    }
    assert!(
        valid > ROUNDS / 1000 && valid < ROUNDS - ROUNDS / 1000,
        "{valid} of {ROUNDS} mutations were valid"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_survives() {
    survive(&super::parquet::tests::recording(), |bytes| {
        let Ok(text) = super::parquet::ParquetText::open(bytes.to_vec()) else { return false };
        RowReader::new(text, "f", true).is_ok_and(|mut rows| csv::read(&mut rows).is_ok())
    });
}

#[test]
fn csv_survives() {
    for header in [true, false] {
        let seed: &[u8] =
            if header { b"a,\"b,c\",sequence\n1,,x\n-2.5e3,NaN,x\n\n3,4,y\n" } else { b"1,2\n3,\n" };
        survive(seed, |bytes| {
            RowReader::new(BufReader::new(bytes), "f", header)
                .and_then(|mut rows| csv::read(&mut rows))
                .is_ok_and(|table| {
                    assert!(
                        table
                            .sequences
                            .iter()
                            .all(|rows| !rows.is_empty() && rows.values.len() % rows.channels == 0)
                    );
                    true
                })
        });
    }
}

#[test]
fn npy_survives() {
    let values = npy::tests::file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", &[1; 12]);
    survive(&values, |bytes| npy::parse_values(bytes, "f").is_ok());
    let lengths = npy::tests::file("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", &[1; 8]);
    survive(&lengths, |bytes| npy::parse_lengths(bytes, "f").is_ok());
}

#[test]
fn bags_survive() {
    survive(&bag::tests::small(), |bytes| {
        Bag::parse(bytes.to_vec()).is_ok_and(|bag| bag.rows(&bag.names(), &BagConfig::default()).is_ok())
    });
}

#[test]
fn weights_survive() {
    let seed = include_bytes!("../../tests/pytorch/tanh_1.safetensors");
    survive(seed, |bytes| safetensors::parse(bytes).is_ok());
}

#[test]
fn piano_rolls_survive() {
    survive(b"60,64,67;;62,65\n\n21;108\n", |bytes| piano_roll::read(bytes, "f").is_ok());
}

/// Whether a text has a vocabulary; its names are a vocabulary again, and it has only its own tokens.
fn is_text(bytes: &[u8], kind: TokenKind) -> bool {
    let Ok(text) = decode(bytes, "f") else { return false };
    Vocabulary::of_texts(&[text], kind).is_ok_and(|vocabulary| {
        let rows = vocabulary.encode(text, kind, "f").expect("its own tokens");
        assert!(rows.values.iter().all(|token| (*token as usize) < vocabulary.tokens().len()));
        let names = vocabulary.names().join("\n");
        assert_eq!(Vocabulary::read(names.as_bytes(), "f").expect("names are a vocabulary"), vocabulary);
        true
    })
}

#[test]
fn texts_survive() {
    for kind in [TokenKind::Words, TokenKind::Characters] {
        survive("the größe\r\n of a \\cat\t\n\n".as_bytes(), |bytes| is_text(bytes, kind));
    }
    survive(b"the\n\\n\n\\s\n\\u{1b}\n<unk>\n", |bytes| Vocabulary::read(bytes, "f").is_ok());
}

#[test]
fn configs_survive() {
    let seed = b"seed = 1\n[data]\ntrain = [{ file = 'a', rows = '..80%' }]\ntargets = ['c0..c3']\n\
        [model]\nlayers = [3]\n[search]\nnoise.input_keep = { uniform = [0.5, 1] }\n\
        \"model.layers\" = { list = [{ choice = [3, 4.5, 'x'] }] }\nhalving = { factor = 2 }\n";
    survive(seed, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let half = text.len() / 2;
        let set = text.get(half..).unwrap_or_default().to_string();
        // The same bytes once more as a value set on the command line.
        let _ = Config::parse("f", "", &[set]);
        Config::parse("f", &text, &[]).is_ok_and(|config| {
            let written = config.to_toml().expect("what was read can be written");
            assert_eq!(Config::parse("written", &written, &[]).expect("and read again"), config, "{text}");
            true
        })
    });
}
