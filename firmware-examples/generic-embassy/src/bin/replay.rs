//! Rows stored in flash, predictions with error bars, in tasks of embassy.
#![no_std]
#![no_main]

use board::port::Port;
use board::{NAME, start_sampling, start_time, tick};
use cortex_m_rt::exception;
use embassy_executor::Spawner;
use quaver_firmware::programs::{self, LINE};

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let core = cortex_m::Peripherals::take().expect("nobody else takes them");
    start_time(core.SYST);
    let port = Port::open().expect("an emulator or a debugger");
    spawner.spawn(send(port).expect("a task that was not started before"));
    start_sampling().spawn(programs::replay().expect("a task that was not started before"));
    programs::replayed(NAME).await
}

#[embassy_executor::task]
async fn send(mut port: Port) {
    LINE.drain(&mut port).await
}

#[exception]
fn SysTick() {
    tick();
}
