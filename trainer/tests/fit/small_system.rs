//! Recordings of a small system, as text.

use std::fmt::Write;

/// Rows of a small system: a force that follows two sensors, one step late.
fn rows(count: usize) -> Vec<[f64; 3]> {
    let mut force = 0.0;
    let row = |t: usize| {
        let (a, b) = ((t as f64 * 0.37).sin(), (t as f64 * 0.113).cos());
        let row = [a, b, force];
        force = 0.6 * force + a * b + 0.3 * a;
        row
    };
    (0..count).map(row).collect()
}

/// A CSV file of these rows, each written by `line`.
pub(crate) fn csv(header: &str, count: usize, line: impl Fn(usize, [f64; 3]) -> String) -> String {
    let mut text = String::from(header);
    text.push('\n');
    for (t, row) in rows(count).into_iter().enumerate() {
        writeln!(text, "{}", line(t, row)).expect("a string takes any text");
    }
    text
}

pub(crate) fn plain(t: usize, [a, b, force]: [f64; 3]) -> String {
    let _ = t;
    format!("{a:.4},{b:.4},{force:.4}")
}
