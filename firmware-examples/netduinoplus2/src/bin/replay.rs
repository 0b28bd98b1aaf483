//! Rows stored in flash, predictions with error bars by USART 1 (PA9): nothing to wire, and no executor.
//!
//! SysTick's interrupt offers rows; the main loop steps the model and sleeps while there is nothing to do.
#![no_std]
#![no_main]

use core::cell::Cell;

use cortex_m_rt::{entry, exception};
use critical_section::Mutex;
use panic_halt as _;
use quaver_firmware::programs::REPLAYED_ROWS;
use quaver_firmware::replayed::{MODEL, ModelArena, RATE_HZ, ROWS, labels};
use quaver_firmware::{CycleCounter, Row, Stepper};
use stm32f4xx_hal::pac::Peripherals;
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::Config;
use stm32f4xx_hal::timer::SysEvent;

/// Enough for rows of eight channels at 50 Hz, also as text.
const BAUD: u32 = 460_800;

static TICKS: Mutex<Cell<u32>> = Mutex::new(Cell::new(0));

#[entry]
fn main() -> ! {
    let (device, core) =
        Peripherals::take().zip(cortex_m::Peripherals::take()).expect("nobody else takes them");
    let mut rcc = device.RCC.freeze(Config::hsi());
    let clock_hz = u64::from(rcc.clocks.hclk().raw());
    let pins = device.GPIOA.split(&mut rcc);
    let mut port =
        device.USART1.tx(pins.pa9, BAUD.bps(), &mut rcc).expect("a rate that the clock can divide to");
    let cycles = CycleCounter::start_with(core.DCB, core.DWT);
    let mut ticks = core.SYST.counter_us(&rcc.clocks);
    ticks.start((1_000_000 / RATE_HZ).micros()).expect("a period that 24 bits can count");
    ticks.listen(SysEvent::Update);

    let mut arena = ModelArena::new();
    let mut stepper = Stepper::load(MODEL, &mut arena, labels("netduinoplus2 replay")).expect("a model");
    let now_ns = || u64::from(cycles.count()) * 1_000_000_000 / clock_hz;
    loop {
        while let Some(row) = REPLAYED_ROWS.try_next() {
            stepper.step(&row, REPLAYED_ROWS.load(), now_ns, |frame| _ = port.bwrite_all(frame));
        }
        cortex_m::asm::wfi();
    }
}

#[exception]
fn SysTick() {
    let tick = critical_section::with(|cs| TICKS.borrow(cs).replace(TICKS.borrow(cs).get() + 1));
    let time_us = u64::from(tick) * u64::from(1_000_000 / RATE_HZ);
    REPLAYED_ROWS.offer(Row { time_us, values: ROWS[tick as usize % ROWS.len()] });
}
