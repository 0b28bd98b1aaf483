//! What a stretch of code costs: instructions executed, and bytes of stack touched.
//!
//! The one file with `unsafe` code: a clock register of the core and the memory below the stack pointer have
//! no safe door. Only the measuring image uses it.

#![allow(unsafe_code)]

use core::arch::asm;

/// Counts instructions by the core's own clock, which QEMU's `-icount` ties to executed instructions.
///
/// How many instructions a tick stands for differs from machine to machine; it is measured with a loop of
/// known length, not assumed.
pub struct Meter {
    /// Ticks of the calibration loop.
    ticks: u64,
}

const CALIBRATION_TURNS: u32 = 1_000_000;
const CALIBRATION_INSTRUCTIONS: u64 = 2 * CALIBRATION_TURNS as u64;

impl Meter {
    /// Starts the clock and measures its rate.
    ///
    /// `None` if a shorter loop does not come out within a thousandth of its length: the clock then follows
    /// something else than instructions, as it does without `-icount`.
    pub fn calibrate() -> Option<Self> {
        const CHECK_TURNS: u32 = CALIBRATION_TURNS / 8;
        clock::start();
        let meter = Meter { ticks: ticks(|| spin(CALIBRATION_TURNS))? };
        let found = meter.instructions(|| spin(CHECK_TURNS))?;
        let expected = 2 * u64::from(CHECK_TURNS);
        (found.abs_diff(expected) * 1000 <= expected).then_some(meter)
    }

    /// Instructions that `work` executes, to a tick's precision; `None` if the clock overran.
    pub fn instructions(&self, work: impl FnOnce()) -> Option<u64> {
        (ticks(work)? * CALIBRATION_INSTRUCTIONS).checked_div(self.ticks)
    }
}

/// Runs `work` between two instructions that do nothing, which tell a profiler of instruction traces where it
/// begins and ends.
#[inline(always)]
pub fn marked(work: impl FnOnce()) {
    // SAFETY: copies registers onto themselves.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov r10, r10", options(nomem, nostack))
    };
    #[cfg(target_arch = "riscv32")]
    // SAFETY: as above.
    unsafe {
        asm!("mv s10, s10", options(nomem, nostack))
    };
    work();
    // SAFETY: as above.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov r11, r11", options(nomem, nostack))
    };
    #[cfg(target_arch = "riscv32")]
    // SAFETY: as above.
    unsafe {
        asm!("mv s11, s11", options(nomem, nostack))
    };
}

fn ticks(work: impl FnOnce()) -> Option<u64> {
    let begin = clock::now();
    work();
    clock::since(begin)
}

/// Executes two instructions per turn.
#[inline(never)]
fn spin(turns: u32) {
    // SAFETY: counts a register down to zero, and touches nothing else but the flags.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("2:", "subs {n}, {n}, #1", "bne 2b", n = inout(reg) turns => _, options(nomem, nostack));
        #[cfg(target_arch = "riscv32")]
        asm!("2:", "addi {n}, {n}, -1", "bnez {n}, 2b", n = inout(reg) turns => _, options(nomem, nostack));
    }
}

/// SysTick: counts down in 24 bits at the core's clock (Armv7-M Architecture Reference Manual, B3.3).
#[cfg(target_arch = "arm")]
mod clock {
    const CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
    const RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
    const CURRENT: *mut u32 = 0xE000_E018 as *mut u32;
    const ENABLE_AT_CORE_CLOCK: u32 = 0b101;
    /// Set when the counter reached zero since the register was last read.
    const OVERRUN: u32 = 1 << 16;
    const MASK: u32 = 0x00FF_FFFF;

    pub(super) fn start() {
        // SAFETY: registers that every Cortex-M machine of QEMU has, used by nothing else in the image.
        unsafe {
            RELOAD.write_volatile(MASK);
            CURRENT.write_volatile(0);
            CONTROL.write_volatile(ENABLE_AT_CORE_CLOCK);
        }
    }

    /// Restarts the counter from the top and forgets earlier overruns.
    pub(super) fn now() -> u32 {
        // SAFETY: as in `start`.
        unsafe {
            CURRENT.write_volatile(0);
            CONTROL.read_volatile();
            CURRENT.read_volatile()
        }
    }

    pub(super) fn since(begin: u32) -> Option<u64> {
        // SAFETY: as in `start`.
        let (end, control) = unsafe { (CURRENT.read_volatile(), CONTROL.read_volatile()) };
        (control & OVERRUN == 0).then_some(u64::from(begin.wrapping_sub(end) & MASK))
    }
}

/// The counter of retired instructions, in whatever multiple the emulator keeps it.
#[cfg(target_arch = "riscv32")]
mod clock {
    use core::arch::asm;

    pub(super) fn start() {}

    pub(super) fn now() -> u32 {
        let count;
        // SAFETY: reads a counter that machine mode may always read.
        unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
        count
    }

    pub(super) fn since(begin: u32) -> Option<u64> {
        Some(now().wrapping_sub(begin).into())
    }
}

/// How far below the stack pointer the paint reaches: what the smallest machine can spare of its 16 KB with
/// every model, and enough for any on the others.
const PAINTED_BYTES: usize = if cfg!(ram_16k) { 9216 } else { 16_384 };
/// Bytes just below the stack pointer that are left alone: the frame of the painting function itself.
const SPARED_BYTES: usize = 128;
const PAINT: u32 = 0xC5A3_5C3A;

/// A stretch of stack filled with a pattern, to see later how far down it was overwritten.
pub struct PaintedStack {
    /// The stack pointer of whoever painted.
    top: usize,
}

impl PaintedStack {
    /// Paints the stack below the caller.
    #[inline(always)]
    pub fn paint() -> Self {
        let top = stack_pointer();
        paint_below(top);
        PaintedStack { top }
    }

    /// Bytes from the painter's stack pointer down to the deepest word overwritten since, never less than
    /// what the paint spared; `None` if all of it was overwritten.
    #[inline(always)]
    pub fn depth(&self) -> Option<usize> {
        let bottom = self.top - PAINTED_BYTES;
        let painted = bottom..self.top - SPARED_BYTES;
        let untouched = painted.step_by(4).take_while(|address| word(*address) == PAINT).count();
        (untouched > 0).then_some(PAINTED_BYTES - 4 * untouched)
    }
}

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: copies a register.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack));
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack));
    }
    pointer
}

#[inline(never)]
fn paint_below(top: usize) {
    for address in (top - PAINTED_BYTES..top - SPARED_BYTES).step_by(4) {
        // SAFETY: aligned RAM below this function's frame: no live object is there, and no interrupt is
        // enabled.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
    }
}

fn word(address: usize) -> u32 {
    // SAFETY: aligned RAM of the stack, as painted.
    unsafe { (address as *const u32).read_volatile() }
}
