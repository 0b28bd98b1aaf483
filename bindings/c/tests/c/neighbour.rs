//! Another Rust library in the same C program: with the standard library, a heap and panics of its own.

#![crate_type = "staticlib"]

/// Allocates, formats and parses; -1 for what is no number.
#[unsafe(no_mangle)]
pub extern "C" fn neighbour_sum(count: u32) -> i64 {
    let texts: Vec<String> = (0..count).map(|number| format!("{number}")).collect();
    std::panic::catch_unwind(|| texts.iter().map(|text| text.parse::<i64>().unwrap()).sum()).unwrap_or(-1)
}
