//! Damaged and lost frames are counted and survived.

use proptest::prelude::*;

use super::*;
use crate::MAX_FRAME;

const FRAMES: u32 = 20;

/// What may happen to a byte of the stream.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip(u8),
    Remove,
    Insert(u8),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![(1_u8..).prop_map(Damage::Flip), Just(Damage::Remove), any::<u8>().prop_map(Damage::Insert)]
}

/// The stream with damage at some positions.
fn damaged(bytes: &[u8], damage: &[(usize, Damage)]) -> Vec<u8> {
    let mut result = Vec::new();
    for (position, byte) in bytes.iter().enumerate() {
        match damage.iter().find(|(at, _)| at % bytes.len() == position) {
            None => result.push(*byte),
            Some((_, Damage::Flip(bits))) => result.push(byte ^ bits),
            Some((_, Damage::Remove)) => {}
            Some((_, Damage::Insert(other))) => result.extend([*other, *byte]),
        }
    }
    result
}

proptest! {
    #[test]
    fn no_sample_is_made_up_and_few_are_lost(damage in proptest::collection::vec((any::<usize>(), any_damage()), 1..8)) {
        let frames = stream(FRAMES);
        let sent: Vec<_> = (0..FRAMES).map(numbered).collect();
        // The first and the last frame stay whole, so that every gap is seen.
        let (first, rest) = frames.split_first().expect("frames");
        let (last, middle) = rest.split_last().expect("frames");
        let bytes = [first.clone(), damaged(&middle.concat(), &damage), last.clone()].concat();
        let mut decoder = Decoder::new();
        let arrived = samples(decoder.read(&bytes));
        prop_assert!(arrived.iter().all(|sample| sent.contains(sample)), "a sample that was never sent");
        let counts = decoder.counts();
        prop_assert_eq!(counts.frames, arrived.len() as u64);
        prop_assert_eq!(counts.frames + counts.lost, u64::from(FRAMES));
        // Each place of damage costs two frames at most: where a delimiter was.
        prop_assert!(counts.lost <= 2 * damage.len() as u64, "{:?}", counts);
        prop_assert_eq!(counts.restarts, 0);
    }
}

#[test]
fn frames_that_never_arrive_are_counted() {
    let frames = stream(10);
    let mut decoder = Decoder::new();
    let arrived = samples(decoder.read(&[&frames[0][..], &frames[3], &frames[4], &frames[9]].concat()));
    assert_eq!(arrived, [0, 3, 4, 9].map(numbered));
    assert_eq!(decoder.counts().lost, 6);
    assert_eq!(decoder.counts().damaged, 0);
}

#[test]
fn numbers_that_begin_again_are_a_restart() {
    let frames = stream(9);
    let mut decoder = Decoder::new();
    decoder.read(&frames[..8].concat());
    decoder.read(&stream(3)[2]);
    let counts = decoder.counts();
    assert_eq!((counts.frames, counts.restarts, counts.lost), (9, 1, 2));
}

#[test]
fn sequence_numbers_may_wrap_around() {
    let mut encoder = Encoder { sequence: u32::MAX - 1 };
    let bytes: Vec<u8> = (0..4).flat_map(|index| encoded(&mut encoder, &numbered(index))).collect();
    let mut decoder = Decoder::new();
    assert_eq!(samples(decoder.read(&bytes)).len(), 4);
    assert_eq!([decoder.counts().lost, decoder.counts().restarts], [0, 0]);
}

#[test]
fn a_port_opened_in_the_middle_of_a_frame_is_no_damage() {
    let frames = stream(3);
    let mut decoder = Decoder::new();
    let arrived = samples(decoder.read(&[&frames[0][20..], &frames[1], &frames[2]].concat()));
    assert_eq!(arrived, [1, 2].map(numbered));
    let counts = decoder.counts();
    assert_eq!((counts.damaged, counts.lost), (0, 0));
    assert!(counts.skipped_bytes > 0);
}

#[test]
fn bytes_without_end_do_not_fill_the_memory() {
    let mut decoder = Decoder::new();
    decoder.read(&stream(1)[0]);
    for _ in 0..100 {
        assert_eq!(decoder.read(&[0x11; MAX_FRAME / 10]), []);
        assert!(decoder.piece.capacity() <= 2 * MAX_FRAME);
    }
    assert_eq!(samples(decoder.read(&stream(2).concat())).len(), 2);
    assert_eq!(decoder.counts().damaged, 1);
}

/// A frame that is whole, of a kind that comes later.
#[test]
fn unknown_kinds_are_counted_and_passed_over() {
    let mut frame = crate::checksum::tests::checksummed(&[7, 0, 0, 1, 2, 3]);
    frame.push(0);
    let mut decoder = Decoder::new();
    assert_eq!(decoder.read(&frame), []);
    assert_eq!((decoder.counts().unknown, decoder.counts().damaged), (1, 0));
}
