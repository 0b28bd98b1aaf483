//! Opens signed models and replays them: one line each, the same as `tests/golden/streams.txt` holds. Then
//! tampers with the smallest, and fails if anything but the envelope itself is accepted.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::signed::{HEADER_BYTES, PublicKey, SignedError, open};
use quaver_qemu::jobs::{
    Job, SIGNED, SIGNED_ARENA, SIGNED_BYTES, SIGNED_COUNTER, SIGNED_FUTURES, SIGNED_KEY, SIGNED_ROW,
};
use quaver_qemu::{done, entry, fail, print_fingerprint};
use semihosting::println;

const KEY: PublicKey = PublicKey::new(SIGNED_KEY);

/// A valid key of somebody else: RFC 8032, section 7.1, test 1.
const ANOTHER_KEY: PublicKey = PublicKey::new([
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
    0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
]);

#[entry]
fn main() -> ! {
    for job in &SIGNED {
        let checkpoint = match open(job.model, &KEY, SIGNED_COUNTER) {
            Ok(opened) if opened.counter == SIGNED_COUNTER => opened.checkpoint,
            Ok(_) => fail("another counter than the one that was signed"),
            Err(error) => fail(error),
        };
        if !checkpoint.as_ptr().addr().is_multiple_of(16) {
            fail("the checkpoint has lost its alignment");
        }
        print_fingerprint::<SIGNED_ARENA, SIGNED_FUTURES, SIGNED_ROW>(job, checkpoint);
    }
    let [smallest, ..] = &SIGNED;
    check_key_and_counter(smallest);
    println!("# refused {} tampered copies", refused(smallest));
    done()
}

fn check_key_and_counter(job: &Job) {
    let (found, least) = (SIGNED_COUNTER, SIGNED_COUNTER + 1);
    let checkpoint = job.model.get(HEADER_BYTES..).unwrap_or_default();
    for (result, expected) in [
        (open(job.model, &KEY, least), SignedError::Rollback { found, least }),
        (open(job.model, &ANOTHER_KEY, 0), SignedError::Signature),
        (open(job.model, &PublicKey::new([0; 32]), 0), SignedError::Key),
        (open(checkpoint, &KEY, 0), SignedError::NotSigned),
    ] {
        if result.err() != Some(expected) {
            fail("a wrong counter, a wrong key or a plain checkpoint was not refused as such");
        }
    }
}

/// Copies with a flipped bit in any byte of the header, in every sixteenth one of the checkpoint, and in the
/// last; then cut short. The number of them.
#[inline(never)]
fn refused(job: &Job) -> usize {
    let mut copy = [0; SIGNED_BYTES];
    copy.copy_from_slice(job.model);
    let places = (0..HEADER_BYTES).chain((HEADER_BYTES..SIGNED_BYTES).step_by(16)).chain([SIGNED_BYTES - 1]);
    let mut count = 0;
    for (place, bit) in places.zip((0..8).cycle()) {
        copy[place] ^= 1 << bit;
        refuse(&copy);
        copy[place] ^= 1 << bit;
        count += 1;
    }
    for length in [0, 3, 15, HEADER_BYTES - 1, HEADER_BYTES, SIGNED_BYTES - 1] {
        refuse(&copy[..length]);
        count += 1;
    }
    count
}

fn refuse(bytes: &[u8]) {
    if open(bytes, &KEY, 0).is_ok() {
        fail("a tampered copy was accepted");
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
