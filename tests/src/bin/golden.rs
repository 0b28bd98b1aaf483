//! Prints the lines of `tests/golden/streams.txt` as this machine computes them.

use quaver_tests::{golden, golden_adaptive, golden_latent, golden_pruned, golden_reducer, golden_text};

fn main() {
    let networks = golden::cases().into_iter().chain(golden_latent::cases()).chain(golden_adaptive::cases());
    let others =
        golden_pruned::cases().into_iter().chain(golden_text::cases()).chain(golden_reducer::cases());
    for case in networks.chain(others) {
        println!("{}", golden::replay(&case));
    }
}
