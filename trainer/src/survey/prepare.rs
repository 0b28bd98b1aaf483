//! Files cut at gaps and changes of recording, and resampled: as the rest of the trainer reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::clock::{Clock, TimeUnit};
use super::file::FileSurvey;
use super::roles::Roles;
use crate::data::csv::{CellValue, RowReader, spreadsheet};
use crate::data::open_rows;
use crate::files;

/// How files are prepared.
#[derive(Clone, Debug)]
pub struct Preparation<'a> {
    /// Roles of the columns.
    pub roles: &'a Roles,
    /// Columns to write.
    pub columns: &'a [String],
    /// Rate to resample to, in hertz.
    pub resample: Option<f64>,
    /// The longest step of time that is no gap, in seconds.
    pub max_gap: Option<f64>,
}

/// A file that was written, or can be read as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedFile {
    /// Its path.
    pub path: PathBuf,
    /// Rows of every sequence.
    pub sequences: Vec<usize>,
}

impl Preparation<'_> {
    /// The clock of a file, if it has one.
    pub fn clock(&self, file: &FileSurvey) -> Option<Clock> {
        let (name, unit) = self.roles.time.as_ref()?;
        let times = file.column(name)?.times.as_ref()?;
        Clock::new(times, time_unit(file, name, *unit), &file.starts)
    }

    /// Rows in which sequences start: those that the file marks, changes of the recording column, gaps, and
    /// steps back in time.
    pub fn starts(&self, file: &FileSurvey) -> Vec<usize> {
        let mut starts: BTreeSet<usize> = file.starts.iter().copied().collect();
        let recording = self.roles.recording.as_ref().and_then(|name| file.column(name));
        starts.extend(recording.and_then(|column| column.changes.as_ref()).into_iter().flatten());
        let so_far: Vec<usize> = starts.iter().copied().collect();
        starts.extend(self.clock(file).map_or(Vec::new(), |clock| clock.breaks(&so_far, self.max_gap)));
        starts.into_iter().collect()
    }

    /// Whether a file can be read as it is.
    pub fn is_ready(&self, file: &FileSurvey) -> bool {
        self.resample.is_none() && file.starts == self.starts(file)
    }

    /// A file that can be read as it is.
    pub fn as_it_is(&self, file: &FileSurvey) -> PreparedFile {
        PreparedFile { path: file.path.clone(), sequences: lengths(&file.starts, file.rows) }
    }
}

/// Time stamps are in seconds, whatever the numbers of the column would be in.
fn time_unit(file: &FileSurvey, name: &str, unit: TimeUnit) -> TimeUnit {
    let stamped = file.column(name).is_some_and(|column| column.stamps > 0);
    if stamped { TimeUnit::Seconds } else { unit }
}

/// Prepares a file: writes its columns, cut into sequences and resampled, to `out`.
///
/// # Errors
/// When the file cannot be read, has no usable clock to resample by, or `out` cannot be written.
pub fn prepare(preparation: &Preparation<'_>, file: &FileSurvey, out: &Path) -> Result<PreparedFile> {
    let starts = preparation.starts(file);
    let table = TextTable::read(file, preparation.columns)?;
    let mut sequences: Vec<TextTable> = cut(&table, &starts);
    if let Some(rate) = preparation.resample {
        let clock = preparation.clock(file).with_context(|| {
            format!("{}: --resample needs a time column; name it with --time-column", file.path.display())
        })?;
        let of = |(index, sequence): (usize, &TextTable)| {
            let end = starts.get(index + 1).copied().unwrap_or(file.rows);
            resampled(sequence, &clock.seconds[starts[index]..end], rate)
        };
        sequences = sequences.iter().enumerate().map(of).collect();
    }
    sequences.retain(|sequence| !sequence.rows.is_empty());
    ensure!(!sequences.is_empty(), "{}: no rows are left", file.path.display());
    write(out, preparation.columns, &sequences)?;
    Ok(PreparedFile {
        path: out.to_path_buf(),
        sequences: sequences.iter().map(|sequence| sequence.rows.len()).collect(),
    })
}

fn lengths(starts: &[usize], rows: usize) -> Vec<usize> {
    let ends = starts.iter().skip(1).copied().chain([rows]);
    starts.iter().zip(ends).map(|(start, end)| end - start).collect()
}

/// Some columns of a file as text, with numbers in one form.
#[derive(Clone, Debug, Default)]
struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    fn read(file: &FileSurvey, columns: &[String]) -> Result<Self> {
        let name = file.path.display().to_string();
        if !file.format.has_text_rows() {
            let table = crate::config::DataSource::whole(&file.path).read_all()?.select(&name, columns)?;
            let text = |value: &f32| if value.is_nan() { String::new() } else { value.to_string() };
            let row = |row: &[f32]| row.iter().map(text).collect();
            return Ok(TextTable {
                rows: table.sequences.iter().flat_map(|rows| rows.iter().map(row)).collect(),
            });
        }
        let mut reader = RowReader::new(open_rows(&file.path, file.format)?, &name, file.has_header)?;
        let places = reader.positions(columns)?;
        reader.select(&[])?;
        let mut rows = Vec::with_capacity(file.rows);
        while reader.next_row(&mut [])?.is_some() {
            rows.push(places.iter().map(|place| plain(reader.text(*place))).collect());
        }
        Ok(TextTable { rows })
    }
}

/// A cell with a decimal point, or as it is.
fn plain(cell: &str) -> String {
    match CellValue::of(cell) {
        CellValue::Missing => String::new(),
        CellValue::Number(_) => cell.replace(',', "."),
        CellValue::Text => cell.to_string(),
    }
}

fn cut(table: &TextTable, starts: &[usize]) -> Vec<TextTable> {
    let ends = starts.iter().skip(1).copied().chain([table.rows.len()]);
    starts.iter().zip(ends).map(|(start, end)| TextTable { rows: table.rows[*start..end].to_vec() }).collect()
}

/// Rows at equal steps, by linear interpolation between the two rows around each; text is that of the row
/// before. A value is missing where one of the two is. Rows whose time is missing or not later than that of
/// the row before are left out.
fn resampled(sequence: &TextTable, seconds: &[f64], rate: f64) -> TextTable {
    let mut known: Vec<(f64, &Vec<String>)> = Vec::new();
    for (time, row) in seconds.iter().zip(&sequence.rows) {
        if known.last().map_or(!time.is_nan(), |(before, _)| time > before) {
            known.push((*time, row));
        }
    }
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else {
        return TextTable::default();
    };
    // A hair more than the last step, so that rounding does not lose a row.
    let count = ((last - first) * rate + 1e-6).floor() as usize + 1;
    let mut at = 0;
    let row = |index: usize| {
        let time = first + index as f64 / rate;
        while at + 2 < known.len() && known[at + 1].0 <= time {
            at += 1;
        }
        let (before, row) = known[at];
        let Some((after, next)) = known.get(at + 1) else { return row.clone() };
        let share = ((time - before) / (after - before)).clamp(0.0, 1.0);
        row.iter().zip(*next).map(|(one, other)| between(one, other, share)).collect()
    };
    TextTable { rows: (0..count).map(row).collect() }
}

fn between(one: &str, other: &str, share: f64) -> String {
    match (CellValue::of(one), CellValue::of(other)) {
        (CellValue::Number(one), CellValue::Number(other)) => (one + share * (other - one)).to_string(),
        (CellValue::Text, _) if share < 1.0 => one.to_string(),
        (_, CellValue::Text) => other.to_string(),
        (CellValue::Number(_), CellValue::Missing) if share == 0.0 => one.to_string(),
        (CellValue::Missing, CellValue::Number(_)) if share == 1.0 => other.to_string(),
        _ => String::new(),
    }
}

fn write(path: &Path, columns: &[String], sequences: &[TextTable]) -> Result<()> {
    files::replace_with(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        let header = columns.iter().map(|name| spreadsheet::guarded(name).into_owned());
        writer.write_record(std::iter::once("sequence".to_string()).chain(header))?;
        for (index, sequence) in sequences.iter().enumerate() {
            let number = index.to_string();
            for row in &sequence.rows {
                writer.write_record(std::iter::once(&number).chain(row))?;
            }
        }
        Ok(writer.flush()?)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{RoleOptions, Survey, TaskRequest, guess_roles};
    use super::*;

    fn prepared(text: &str, resample: Option<f64>) -> (Vec<usize>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let survey = Survey::read(std::slice::from_ref(&path)).unwrap();
        let roles = guess_roles(&survey, TaskRequest::Next, &RoleOptions::default()).unwrap();
        let columns = roles.named(super::super::ColumnRole::Input);
        let preparation = Preparation { roles: &roles, columns: &columns, resample, max_gap: None };
        let out = folder.path().join("out.csv");
        if preparation.is_ready(&survey.files[0]) {
            return (preparation.as_it_is(&survey.files[0]).sequences, None);
        }
        let found = prepare(&preparation, &survey.files[0], &out).unwrap();
        (found.sequences, Some(std::fs::read_to_string(out).unwrap()))
    }

    fn timed(times: &[f64]) -> String {
        let rows = times.iter().map(|time| format!("{time},{}\n", (time * 3.0).sin()));
        format!("time,a\n{}", rows.collect::<String>())
    }

    #[test]
    fn a_file_without_gaps_stays_as_it_is() {
        let times: Vec<f64> = (0..50).map(|row| 0.01 * f64::from(row)).collect();
        assert_eq!(prepared(&timed(&times), None), (vec![50], None));
    }

    #[test]
    fn gaps_start_sequences() {
        let times: Vec<f64> =
            (0..50).map(|row| 0.01 * f64::from(row) + if row < 20 { 0.0 } else { 5.0 }).collect();
        let (sequences, text) = prepared(&timed(&times), None);
        assert_eq!(sequences, [20, 30]);
        let text = text.unwrap();
        assert!(text.starts_with("sequence,a\n0,0\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("1,")).count(), 30);
    }

    #[test]
    fn resampling_interpolates_and_keeps_gaps() {
        // 40 rows at 10 Hz, value = time, one missing.
        let row = |row: i32| {
            let time = 0.1 * f64::from(row);
            if row == 7 {
                format!("{time},,x\n")
            } else {
                format!("{time},{},x\n", if row == 3 { 9.0 } else { time })
            }
        };
        let text = format!("time,a,b\n{}", (0..40).map(row).collect::<String>().replace('x', "1"));
        let text = text.replacen(",1\n", ",2\n", 1);
        let (sequences, out) = prepared(&text, Some(20.0));
        assert_eq!(sequences, [79]);
        let out = out.unwrap();
        let cell = |row: usize| out.lines().nth(row + 1).unwrap().split(',').nth(1).unwrap().to_string();
        assert_eq!(cell(2), "0.1");
        assert!((cell(5).parse::<f64>().unwrap() - 4.6).abs() < 1e-9, "half way from 0.2 to 9");
        assert_eq!(
            (cell(13), cell(15)),
            (String::new(), String::new()),
            "on both sides of the missing value"
        );
    }

    #[test]
    fn changes_of_the_recording_start_sequences() {
        let rows: String = (0..60).map(|row| format!("{},{}\n", row / 30, (f64::from(row)).sin())).collect();
        assert_eq!(prepared(&format!("session,a\n{rows}"), None).0, [30, 30]);
    }
}
