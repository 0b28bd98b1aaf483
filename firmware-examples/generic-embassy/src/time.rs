//! Embassy's time by SysTick: a hundred ticks per second, which an emulator keeps up with on a busy machine.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use critical_section::Mutex;
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

/// The core's clock on the machine that the target's runner starts.
pub const CLOCK_HZ: u32 = if cfg!(target_abi = "eabihf") { 168_000_000 } else { 16_000_000 };

struct SysTickDriver {
    ticks: Mutex<Cell<u64>>,
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver {
    ticks: Mutex::new(Cell::new(0)),
    queue: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for SysTickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|cs| self.ticks.borrow(cs).get())
    }

    /// The next tick looks for what is due.
    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|cs| self.queue.borrow_ref_mut(cs).schedule_wake(at, waker));
    }
}

/// Starts the ticks.
pub fn start(mut systick: SYST) {
    systick.set_clock_source(SystClkSource::Core);
    systick.set_reload(CLOCK_HZ / TICK_HZ as u32 - 1);
    systick.clear_current();
    systick.enable_counter();
    systick.enable_interrupt();
}

/// What a program calls from its handler of SysTick.
pub fn tick() {
    critical_section::with(|cs| {
        let now = DRIVER.ticks.borrow(cs).get() + 1;
        DRIVER.ticks.borrow(cs).set(now);
        DRIVER.queue.borrow_ref_mut(cs).next_expiration(now);
    });
}
