//! Piano rolls: one line per sequence, steps separated by `;`, the sounding notes of a step by `,`.
//!
//! Notes are MIDI numbers from 21 to 108, the keys of a piano; an empty step is silence. Every key is a
//! column of zeros and ones, named n21 to n108.

use std::io::BufRead;
use std::ops::RangeInclusive;

use anyhow::{Result, bail};

use super::lines::Lines;
use super::rows::Rows;
use super::table::Table;

/// MIDI numbers of the lowest and the highest key of a piano.
const KEYS: RangeInclusive<usize> = 21..=108;

/// Number of keys, hence of columns.
const CHANNELS: usize = *KEYS.end() - *KEYS.start() + 1;

/// Reads all sequences. `file` names the source in errors.
pub fn read<R: BufRead>(source: R, file: &str) -> Result<Table> {
    let mut lines = Lines::new(source, file);
    let mut sequences = Vec::new();
    while let Some(line) = lines.next_line()? {
        // Empty steps between separators are silence, but an empty line is not a sequence: most likely the
        // end of the file.
        if line.trim().is_empty() {
            continue;
        }
        match parse_line(line) {
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

fn parse_line(line: &str) -> Result<Rows, String> {
    let mut rows = Rows::new(CHANNELS);
    for (step, notes) in line.split(';').enumerate() {
        rows.values.resize((step + 1) * CHANNELS, 0.0);
        let keys = &mut rows.values[step * CHANNELS..];
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
    fn errors_name_line_and_step() {
        let error = |text: &str| read(text.as_bytes(), "f.txt").unwrap_err().to_string();
        assert_eq!(error("60\n60;61,20\n"), "f.txt:2: step 2: found `20`, expected a note from 21 to 108");
        assert_eq!(error("60;c4\n"), "f.txt:1: step 2: found `c4`, expected a note from 21 to 108");
        assert_eq!(error("60,,61\n"), "f.txt:1: step 1: found ``, expected a note from 21 to 108");
        assert!(error("\n").starts_with("f.txt: no sequences; write one per line"));
    }
}
