//! Loading and stepping with nothing around them, linked only if neither can panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver::Arena;
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job, follow, load, step};

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    // Hidden from the optimiser: the check must hold for any bytes and any row.
    let mut loaded = load(black_box(Job::chosen().model), &mut arena);
    let mut row = [0.0; CHOSEN_ROW];
    loop {
        let Ok(stream) = &mut loaded else { continue };
        let prediction = step(stream, black_box(&row));
        #[cfg(feature = "panic-control")]
        black_box(prediction.mean()[black_box(0)]);
        black_box(prediction.surprise());
        black_box(prediction.anomaly());
        row.iter_mut().zip(prediction.iter()).for_each(|(value, output)| *value = output.std_dev());
        follow(stream, black_box(&row));
    }
}
