//! Prints the lines of `tests/golden/streams.txt` as this machine computes them.

fn main() {
    for case in quaver_tests::golden::cases() {
        println!("{}", quaver_tests::golden::replay(&case));
    }
}
