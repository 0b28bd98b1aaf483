//! A panic or a fault ends the emulator with an error.

#![allow(unsafe_code, reason = "the handler of faults is an unsafe function")]

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{eprintln, process};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    eprintln!("{info}");
    process::exit(1)
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    eprintln!("hard fault at {:#010x}", frame.pc());
    process::exit(1)
}
