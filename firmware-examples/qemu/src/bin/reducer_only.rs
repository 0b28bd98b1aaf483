//! A reducer with nothing around it, linked only if it cannot panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver::{Arena, Error, Reducer};
use quaver_qemu::jobs::{REDUCER, REDUCER_ARENA, REDUCER_FUTURES, REDUCER_ROW};

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    loop {
        // Hidden from the optimiser: the check must hold for any bytes and any row.
        black_box(reduce(black_box(REDUCER[0].model)).is_ok());
    }
}

fn reduce(model: &[u8]) -> Result<(), Error> {
    let (mut arena, mut memory) = (Arena::<REDUCER_ARENA>::new(), [0.0; REDUCER_FUTURES]);
    let reducer = Reducer::load(model, &mut arena)?;
    let mut reducer = reducer.teach_in(black_box(&mut memory), black_box(1))?;
    let mut saved = [0.0; 2 * REDUCER_ARENA];
    let row = black_box([0.0; REDUCER_ROW]);
    reducer.begin();
    reducer.step(&row);
    reducer.step_uncertain(&row, black_box(&row));
    #[cfg(feature = "panic-control")]
    black_box(reducer.embedding().map(|embedding| embedding.mean[black_box(0)]));
    black_box(reducer.embedding().is_some());
    black_box(reducer.teach(black_box(0)));
    black_box(reducer.classify().map(|class| (class.probability(), class.name())));
    black_box(reducer.taught());
    black_box(reducer.restore_taught(black_box(&row)));
    reducer.forget_taught();
    let words = reducer.model().saved_words();
    if let Some(saved) = saved.get_mut(..words) {
        reducer.save(black_box(saved))?;
        reducer.restore(black_box(saved))?;
    }
    reducer.check_state()
}
