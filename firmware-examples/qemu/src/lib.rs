//! What the images share: the embedded models, their streams, and the way out.
//!
//! One body for every core. Nothing here depends on the machine except the choice of start-up crate and, for
//! the measuring image, [`meter`]. On a host only the images whose names end in `_only` are built, to be
//! linked and not run.

#![no_std]

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

#[cfg(armv8m_main)]
pub mod armv8m;
pub mod jobs;
#[cfg(target_os = "none")]
pub mod meter;
#[cfg(target_os = "none")]
mod report;

#[cfg(target_os = "none")]
pub use report::{
    check_square_roots, done, fail, print_acceleration, print_adaptive_fingerprints, print_fingerprint,
    print_fingerprints, print_known_denoiser, print_known_fingerprint, print_known_sampler,
    print_reducer_fingerprints, print_text_fingerprints,
};

/// The whole of an image that replays golden cases: its entry point and its panic handler. The build
/// script writes the cases and the sizes of their arena, futures and rows.
#[macro_export]
macro_rules! golden_image {
    ($cases:ident, $arena:ident, $futures:ident, $row:ident) => {
        use core::panic::PanicInfo;

        use quaver_qemu::jobs::{$arena, $cases, $futures, $row};
        use quaver_qemu::{done, entry, fail, print_fingerprints};

        #[entry]
        fn main() -> ! {
            print_fingerprints::<$arena, $futures, $row>(&$cases);
            done()
        }

        #[panic_handler]
        fn panic(info: &PanicInfo<'_>) -> ! {
            fail(info)
        }
    };
}

/// The frame of an image that links only if it cannot panic: its entry point, which runs the given function,
/// and its panic handler.
///
/// The handler calls a function that exists nowhere. As long as no panic path is left, the linker drops the
/// handler and never misses that function; a single path makes the link fail with its name.
#[macro_export]
macro_rules! panic_free_image {
    ($run:ident) => {
        use core::panic::PanicInfo;

        #[cfg(target_os = "none")]
        use quaver_qemu::entry;

        #[cfg_attr(target_os = "none", entry)]
        #[cfg_attr(not(target_os = "none"), allow(unsafe_code), unsafe(export_name = "_start"))] // not run
        fn main() -> ! {
            $run()
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
    };
}
