//! Cycles of a step on this board.
#![no_std]
#![no_main]

use board::{NAME, start_clocks};
use embassy_executor::Spawner;
use quaver_firmware::programs;

#[embassy_executor::main]
async fn main(_: Spawner) {
    programs::bench(NAME, start_clocks());
}
