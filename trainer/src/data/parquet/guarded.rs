//! Damaged files, on which the decoder panics.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use anyhow::{Result, anyhow};

thread_local! {
    /// Whether a panic of this thread is going to be an error with a message of its own.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the decoder. A panic in it becomes an error, and nothing else is printed about it. What was being
/// decoded must not be used again.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                usual(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(false);
    result.unwrap_or_else(|_| Err(anyhow!("the file is damaged; write it again")))
}
