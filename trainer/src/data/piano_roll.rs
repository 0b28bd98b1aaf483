//! Piano rolls: one line per sequence, steps separated by `;`, the sounding notes of a step by `,`.
//!
//! Notes are MIDI numbers from 21 to 108, the keys of a piano; an empty step is silence. Every key is a
//! column of zeros and ones, named n21 to n108.

use std::io::BufRead;
use std::ops::RangeInclusive;

use anyhow::{Result, bail};

use super::lines::{Encoding, Lines};
use super::rows::Rows;
use super::table::Table;
use crate::memory;

/// MIDI numbers of the lowest and the highest key of a piano.
const KEYS: RangeInclusive<usize> = 21..=108;

/// Number of keys, hence of columns.
const CHANNELS: usize = *KEYS.end() - *KEYS.start() + 1;

/// Reads all sequences. `file` names the source in errors.
pub fn read<R: BufRead>(source: R, file: &str) -> Result<Table> {
    let mut lines = Lines::new(source, file, Encoding::Utf8);
    let mut sequences = Vec::new();
    while let Some(line) = lines.next_line()? {
        // Empty steps between separators are silence, but an empty line is not a sequence: most likely the
        // end of the file.
        if line.trim().is_empty() {
            continue;
        }
        match parse_line(&line) {
            Ok(rows) => sequences.push(rows),
            Err(problem) => bail!("{}: {problem}", lines.place()),
        }
    }
    if sequences.is_empty() {
        bail!(
            "{file}: no sequences; write one per line, such as `60,64,67;;62,65` (chord, silence, two notes)"
        );
    }
    Ok(Table { names: KEYS.map(|note| format!("n{note}")).collect(), sequences })
}

/// Number of steps of a sequence.
fn count_steps(line: &str) -> usize {
    1 + line.bytes().filter(|byte| *byte == b';').count()
}

/// Refuses the contents of a file whose rolls do not fit into memory: a step of silence is one byte there,
/// and a number per key here.
///
/// # Errors
/// Says what is needed and what there is.
pub(super) fn check_size(text: &[u8], available: Option<u64>, file: &str) -> Result<()> {
    let steps = text.iter().filter(|byte| b";\n".contains(byte)).count() + 1;
    let bytes = (steps * CHANNELS * size_of::<f32>()) as u64;
    let what = format!("{file}: a piano roll of {steps} steps and {CHANNELS} keys");
    memory::check(&what, bytes, available, "split the file, and train on a part of it")
}

fn parse_line(line: &str) -> Result<Rows, String> {
    let mut rows = Rows { channels: CHANNELS, values: vec![0.0; count_steps(line) * CHANNELS] };
    let keys = rows.values.chunks_exact_mut(CHANNELS);
    for (step, (notes, keys)) in line.split(';').zip(keys).enumerate() {
        press(notes, keys).map_err(|problem| format!("step {}: {problem}", step + 1))?;
    }
    Ok(rows)
}

/// Sets the keys of one step.
fn press(notes: &str, keys: &mut [f32]) -> Result<(), String> {
    if notes.trim().is_empty() {
        return Ok(());
    }
    for note in notes.split(',') {
        let note = note.trim();
        match note.parse() {
            Ok(number) if KEYS.contains(&number) => keys[number - KEYS.start()] = 1.0,
            _ => return Err(format!("found `{note:.20}`, expected a note from 21 to 108")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(rows: &Rows, t: usize) -> Vec<usize> {
        (0..CHANNELS).filter(|&key| rows.row(t)[key] == 1.0).map(|key| key + 21).collect()
    }

    #[test]
    fn steps_and_silences() {
        let table = read("21,108;;60\n\n;\n".as_bytes(), "f.txt").unwrap();
        assert_eq!(
            (table.names.len(), table.names[0].as_str(), table.names[87].as_str()),
            (88, "n21", "n108")
        );
        assert_eq!(table.sequences.len(), 2);
        let first = &table.sequences[0];
        assert_eq!([notes(first, 0), notes(first, 1), notes(first, 2)], [vec![21, 108], vec![], vec![60]]);
        assert_eq!(table.sequences[1].len(), 2);
        assert_eq!(table.sequences[1].values.iter().sum::<f32>(), 0.0);
    }

    #[test]
    fn a_roll_that_does_not_fit_into_memory_is_refused_before_it_is_read() {
        assert_eq!((count_steps(";;"), count_steps("60")), (3, 1));
        let check = |text: &str, available| check_size(text.as_bytes(), available, "f.txt");
        let text = ";60\n".repeat(500);
        assert!(check(&text[1..], Some(352_000)).is_ok() && check(&text, None).is_ok());
        let error = check(&text, Some(352_000)).unwrap_err().to_string();
        assert!(
            error.starts_with("f.txt: a piano roll of 1001 steps and 88 keys needs about 344.1 KiB"),
            "{error}"
        );
    }

    /// Vectors that double as they grow take up to twice as much, and three times while they are copied.
    #[test]
    fn a_sequence_takes_no_more_than_its_rows() {
        let table = read(";".repeat(999).as_bytes(), "f.txt").unwrap();
        let values = &table.sequences[0].values;
        assert_eq!((values.len(), values.capacity()), (88_000, 88_000));
    }

    #[test]
    fn errors_name_line_and_step() {
        let error = |text: &str| read(text.as_bytes(), "f.txt").unwrap_err().to_string();
        assert_eq!(error("60\n60;61,20\n"), "f.txt:2: step 2: found `20`, expected a note from 21 to 108");
        assert_eq!(error("60;c4\n"), "f.txt:1: step 2: found `c4`, expected a note from 21 to 108");
        assert_eq!(error("60,,61\n"), "f.txt:1: step 1: found ``, expected a note from 21 to 108");
        assert!(error("\n").starts_with("f.txt: no sequences; write one per line"));
    }
}
