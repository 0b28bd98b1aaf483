//! Prints the lines of `tests/golden/streams.txt` as this machine computes them.

use quaver_tests::{golden, golden_adaptive, golden_latent, golden_pruned, golden_text};

fn main() {
    let networks = golden::cases().into_iter().chain(golden_latent::cases()).chain(golden_adaptive::cases());
    for case in networks.chain(golden_pruned::cases()).chain(golden_text::cases()) {
        println!("{}", golden::replay(&case));
    }
}
