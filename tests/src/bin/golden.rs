//! Prints the lines of `tests/golden/streams.txt` as this machine computes them.

use quaver_tests::{golden, golden_latent};

fn main() {
    for case in golden::cases().into_iter().chain(golden_latent::cases()) {
        println!("{}", golden::replay(&case));
    }
}
