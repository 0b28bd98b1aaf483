//! Electrodes: grip force with its error bar.
#![no_std]
#![no_main]

use board::{Board, NAME, sample_emg};
use embassy_executor::Spawner;
use quaver_firmware::programs;

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let board = Board::start(spawner);
    board.sampling.spawn(defmt::unwrap!(sample_emg(board.emg)));
    programs::grip_force(NAME).await
}
