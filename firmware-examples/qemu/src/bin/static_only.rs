//! Stepping a model that is known while compiling, with nothing around it, linked only if it cannot panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver_qemu::jobs::{CHOSEN_ROW, Known, follow_known, step_known};

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    let mut arena = Known::arena();
    let mut stream = Known::start(&mut arena);
    let mut row = [0.0; CHOSEN_ROW];
    loop {
        // Hidden from the optimiser: the check must hold for any row.
        let prediction = step_known(&mut stream, black_box(&row));
        #[cfg(feature = "panic-control")]
        black_box(prediction.mean()[black_box(0)]);
        black_box(prediction.surprise());
        black_box(prediction.anomaly());
        row.iter_mut().zip(prediction.iter()).for_each(|(value, output)| *value = output.std_dev());
        follow_known(&mut stream, black_box(&row));
    }
}
