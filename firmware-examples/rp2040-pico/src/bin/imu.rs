//! A MPU-6050: the next row with its error bars, and the surprise of each row.
#![no_std]
#![no_main]

use board::{Board, NAME, sample_imu};
use embassy_executor::Spawner;
use quaver_firmware::programs;

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let board = Board::start(spawner);
    board.sampling.spawn(defmt::unwrap!(sample_imu(board.imu)));
    programs::imu(NAME).await
}
