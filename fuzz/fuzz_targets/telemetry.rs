//! Any bytes on the line: no panic, bounded memory, and the same items in whatever chunks they arrive.
//!
//! The first byte is the length of a chunk. A whole frame follows and must arrive: nothing on the line can make
//! a decoder deaf.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_telemetry::{Decoder, Encoder, Item, Sample, sample_bytes};

fuzz_target!(|bytes: &[u8]| {
    let Some((chunk, bytes)) = bytes.split_first() else { return };
    let (mut at_once, mut in_chunks) = (Decoder::new(), Decoder::new());
    let items: Vec<Item> =
        bytes.chunks(usize::from(*chunk) + 1).flat_map(|chunk| in_chunks.read(chunk)).collect();
    // By their text, in which NaN equals itself.
    assert_eq!(format!("{:?}", at_once.read(bytes)), format!("{items:?}"));
    assert_eq!(at_once.counts(), in_chunks.counts());
    let sample = Sample { row: &[1.0][..], ..Sample::default() };
    let mut buffer = [0; sample_bytes(1, 0)];
    let frame = Encoder::new().sample(&sample, &mut buffer).expect("enough room");
    let items = at_once.read(frame);
    assert!(matches!(items.last(), Some(Item::Sample(sample)) if sample.row == [1.0]));
});
