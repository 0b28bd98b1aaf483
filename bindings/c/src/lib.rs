//! The runtime of Quaver behind a C interface.
//!
//! `include/quaver.h` is made from this crate by cbindgen; `cargo test` checks that it is current. The caller
//! owns all memory: a handle is a pointer into an arena of the caller, there is no heap, no global state and
//! nothing to free.
//!
//! - `ffi`: the functions.
//! - `boundary`: pointers become slices and streams. All `unsafe` code is there.
//! - `streams`: the kinds of handles, and what they have in common.
//! - `results`: structs of results.
//! - `codes`, `status`, `sizes`: numbers of the header.

#![cfg_attr(not(test), no_std)]

mod boundary;
mod codes;
mod ffi;
mod results;
mod sizes;
mod status;
mod streams;

/// The library has no panic path: the function that this one calls
/// exists nowhere, so that a program with one does not link.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[allow(unsafe_code)] // an undefined function that must not be needed
    mod nowhere {
        unsafe extern "C" {
            pub(super) safe fn quaver_can_panic() -> !;
        }
    }
    nowhere::quaver_can_panic()
}
