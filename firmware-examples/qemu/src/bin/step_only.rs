//! Loading and stepping with nothing around them, linked only if neither can panic.
//!
//! The panic handler calls a function that exists nowhere. As long as no panic path is left, the linker drops
//! the handler and never misses that function; a single path makes the link fail with its name.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use quaver::Arena;
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job, follow, load, step};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;

#[cfg_attr(target_os = "none", entry)]
#[cfg_attr(not(target_os = "none"), allow(unsafe_code), unsafe(export_name = "_start"))] // linked, not run
fn main() -> ! {
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

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[allow(unsafe_code)] // an undefined function that must not be needed
    mod nowhere {
        unsafe extern "C" {
            pub(super) safe fn loading_or_stepping_can_panic() -> !;
        }
    }
    nowhere::loading_or_stepping_can_panic()
}
