//! Assembly next to that of the runtime, as any other crate may have it.
//!
//! With link-time optimisation all assembly is one text. An instruction that only Armv8-M has does not
//! assemble if a directive of the runtime leaks into it.

#![allow(unsafe_code)] // assembler

use core::arch::naked_asm;

/// Loads a word before all later accesses.
///
/// # Safety
/// `address` must point to a word.
#[unsafe(naked)]
pub unsafe extern "C" fn load_acquire(address: *const u32) -> u32 {
    naked_asm!("lda     r0, [r0]", "bx      lr")
}
