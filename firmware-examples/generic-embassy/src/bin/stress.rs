//! Kernels under interrupts: a handler at prime periods destroys everything that a handler may, while the
//! model steps. Frames are those of `replay`; the last line is a count of interrupts.
//!
//! With the feature `trespass` the handler also changes r4 to r6, which it may not. Such an image has to
//! fail: it shows that the comparison would find a kernel that an interrupt disturbs.
#![no_std]
#![no_main]
#![allow(unsafe_code, reason = "destroying registers takes assembler")]

use core::arch::global_asm;
use core::cell::Cell;

use board::NAME;
use board::port::Port;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{entry, exception};
use critical_section::Mutex;
use quaver_firmware::models::{GRIP_FORCE, GripForceArena, grip_force_labels};
use quaver_firmware::{Load, Row, Stepper, rows};
use semihosting::process;

/// Passes over the rows.
const PASSES: usize = 5;
/// Cycles between interrupts: primes, so that they meet every instruction of a loop. The handler takes some
/// 500.
const PERIODS: [u32; 8] = [1009, 1531, 2039, 2557, 3067, 3583, 4091, 5119];

static INTERRUPTS: Mutex<Cell<usize>> = Mutex::new(Cell::new(0));

// What a function may change, by the procedure call standard for Arm: r0 to r3, r12, flags, s0 to s15 and
// FPSCR. And 384 bytes below the stack pointer, which belong to nobody.
global_asm!(
    ".thumb_func",
    ".global destroy",
    "destroy:",
    "mov r0, sp",
    "movs r1, #96",
    "ldr r2, =0xDEADBEEF",
    "1:",
    "subs r0, #4",
    "str r2, [r0]",
    "subs r1, #1",
    "bne 1b",
    "mov r0, r2",
    "mov r1, r2",
    "mov r3, r2",
    "mov r12, r2",
    "msr APSR, r2",
    "bx lr",
    ".ltorg",
);

#[cfg(target_abi = "eabihf")]
global_asm!(
    // Named here because an incremental build assembles this without the features of the target.
    #[cfg(not(has_vectors))]
    ".fpu fpv4-sp-d16",
    #[cfg(has_vectors)]
    ".cpu cortex-m55",
    ".thumb_func",
    ".global destroy_fp",
    "destroy_fp:",
    "ldr r0, =0xDEADBEEF",
    "vmov s0, r0",
    "vmov s1, r0",
    "vmov s2, r0",
    "vmov s3, r0",
    "vmov s4, r0",
    "vmov s5, r0",
    "vmov s6, r0",
    "vmov s7, r0",
    "vmov s8, r0",
    "vmov s9, r0",
    "vmov s10, r0",
    "vmov s11, r0",
    "vmov s12, r0",
    "vmov s13, r0",
    "vmov s14, r0",
    "vmov s15, r0",
    "vmsr fpscr, r0",
    "bx lr",
    ".ltorg",
);

// With vectors also their predicates.
#[cfg(has_vectors)]
global_asm!(
    ".cpu cortex-m55",
    ".thumb_func",
    ".global destroy_predicates",
    "destroy_predicates:",
    "ldr r0, =0xDEADBEEF",
    "vmsr p0, r0",
    "bx lr",
    ".ltorg",
);

// What a function may not change: a bit of registers that belong to its caller.
#[cfg(feature = "trespass")]
global_asm!(
    ".thumb_func",
    ".global trespass",
    "trespass:",
    "movs r0, #4",
    "eors r4, r0",
    "eors r5, r0",
    "eors r6, r0",
    "bx lr",
);

unsafe extern "C" {
    fn destroy();
    #[cfg(feature = "trespass")]
    fn trespass();
    #[cfg(target_abi = "eabihf")]
    fn destroy_fp();
    #[cfg(has_vectors)]
    fn destroy_predicates();
}

#[exception]
fn SysTick() {
    let count = critical_section::with(|cs| {
        let count = INTERRUPTS.borrow(cs).get() + 1;
        INTERRUPTS.borrow(cs).set(count);
        count
    });
    // SAFETY: SysTick belongs to this handler alone once it is started.
    let systick = unsafe { &*SYST::PTR };
    let period = PERIODS[count % PERIODS.len()];
    // SAFETY: the functions follow the procedure call standard, except for `trespass`, which is there to
    // break it in an image that must fail; nothing lives below the stack pointer.
    unsafe {
        systick.rvr.write(period - 1);
        systick.cvr.write(0);
        #[cfg(target_abi = "eabihf")]
        destroy_fp();
        #[cfg(has_vectors)]
        destroy_predicates();
        destroy();
        #[cfg(feature = "trespass")]
        trespass();
    }
}

#[entry]
fn main() -> ! {
    let mut port = Port::open().expect("an emulator or a debugger");
    let core = cortex_m::Peripherals::take().expect("nobody else takes them");
    let mut arena = GripForceArena::new();
    let mut stepper = Stepper::load(GRIP_FORCE, &mut arena, grip_force_labels(NAME)).expect("a model");
    let mut systick = core.SYST;
    systick.set_clock_source(SystClkSource::Core);
    systick.set_reload(PERIODS[0] - 1);
    systick.clear_current();
    systick.enable_interrupt();
    systick.enable_counter();
    for _ in 0..PASSES {
        for values in &rows::GRIP_FORCE {
            stepper.step(
                &Row { time_us: 0, values: *values },
                Load::default(),
                || 0,
                |frame| port.send(frame),
            );
        }
    }
    systick.disable_counter();
    let count = critical_section::with(|cs| INTERRUPTS.borrow(cs).get());
    semihosting::println!("{count} interrupts");
    process::exit(0)
}
