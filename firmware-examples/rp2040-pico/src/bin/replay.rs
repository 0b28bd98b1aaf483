//! Rows stored in flash, predictions with error bars: nothing to wire.
#![no_std]
#![no_main]

use board::{Board, NAME};
use embassy_executor::Spawner;
use quaver_firmware::programs;

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let board = Board::start(spawner);
    board.sampling.spawn(defmt::unwrap!(programs::replay()));
    programs::replayed(NAME).await
}
