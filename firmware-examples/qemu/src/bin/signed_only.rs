//! Opening a signed model, loading and stepping it with nothing around them, linked only if none can panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver::Arena;
use quaver::signed::{PublicKey, open};
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, CHOSEN_SIGNED, SIGNED_KEY, load, step};

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    loop {
        // Hidden from the optimiser: the check must hold for any bytes, any key, any counter and any row.
        let key = PublicKey::new(black_box(SIGNED_KEY));
        match open(black_box(CHOSEN_SIGNED), &key, black_box(0)) {
            Ok(opened) => follow(opened.checkpoint),
            Err(error) => _ = black_box(error),
        }
    }
}

fn follow(checkpoint: &[u8]) {
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    let Ok(mut stream) = load(checkpoint, &mut arena) else { return };
    let prediction = step(&mut stream, black_box(&[0.0; CHOSEN_ROW]));
    #[cfg(feature = "panic-control")]
    black_box(prediction.mean()[black_box(0)]);
    black_box(prediction.surprise());
}
