//! What concerns the library as a whole.

use core::ffi::c_char;

use crate::codes::QUAVER_ABI_VERSION;
use crate::status::Status;

/// The version of the interface that this library has; a program compares it with `QUAVER_ABI_VERSION` of its
/// header.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_abi_version() -> u32 {
    QUAVER_ABI_VERSION
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn quaver_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// A sentence about a status, in English. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_status_text(status: i32) -> *const c_char {
    Status::text(status).as_ptr()
}
