//! Splits: by recording where there are several, else by blocks of time with a margin; never at random over
//! neighbouring rows.

use std::ops::Range;

use anyhow::{Result, ensure};

use crate::config::{DataSource, RowSelection};
use crate::survey::PreparedFile;

/// Share of the rows for validation.
const VALID_SHARE: f64 = 0.15;

/// Share of a recording between two blocks that belongs to neither: their rows are alike.
const MARGIN: f64 = 0.01;

/// Recordings of very different length are cut into blocks instead: if one has more than this share of all
/// rows, either nearly all training rows or nearly all others would be of it.
const LARGEST_SHARE: f64 = 0.6;

/// With fewer rows there is nothing to learn from and nothing to compare by.
const FEWEST_ROWS: usize = 60;

/// Files of each split, and how they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// Training data.
    pub train: Vec<DataSource>,
    /// Validation data.
    pub valid: Vec<DataSource>,
    /// Test data.
    pub test: Vec<DataSource>,
    /// How they were chosen, for people.
    pub how: String,
    /// Training rows, as far as they are known.
    pub train_rows: usize,
}

/// A recording: sequence `index` of a file, with its rows.
#[derive(Clone, Copy, Debug)]
struct Recording {
    file: usize,
    index: usize,
    rows: usize,
}

/// Splits files; `test` are files that the user keeps for testing, `test_share` the share of the rows for
/// testing where there are none.
///
/// # Errors
/// When there are too few rows.
pub fn split(files: &[PreparedFile], test: &[PreparedFile], test_share: f64) -> Result<Splits> {
    let recordings: Vec<Recording> =
        (0..).zip(files).flat_map(|(file, prepared)| recordings(file, prepared)).collect();
    let rows: usize = recordings.iter().map(|recording| recording.rows).sum();
    ensure!(
        rows >= FEWEST_ROWS,
        "{rows} rows are too few to learn from and to test on; give at least {FEWEST_ROWS}"
    );
    let test_share = if test.is_empty() { test_share } else { 0.0 };
    let parts = if test.is_empty() { 3 } else { 2 };
    let largest = recordings.iter().map(|recording| recording.rows).max().unwrap_or(0);
    let by_recording = recordings.len() >= parts && largest as f64 <= LARGEST_SHARE * rows as f64;
    let mut splits = match by_recording {
        true => by_recordings(files, &recordings, rows, test_share),
        false => by_blocks(files, rows, test_share),
    };
    if !test.is_empty() {
        splits.test = test.iter().map(|file| DataSource::whole(&file.path)).collect();
        splits.how += &format!("; test: {} as given", counted(test.len(), "file"));
    }
    Ok(splits)
}

fn recordings(file: usize, prepared: &PreparedFile) -> impl Iterator<Item = Recording> + '_ {
    prepared.sequences.iter().enumerate().map(move |(index, rows)| Recording { file, index, rows: *rows })
}

/// The last recordings are for testing, those before them for validation.
fn by_recordings(files: &[PreparedFile], recordings: &[Recording], rows: usize, test_share: f64) -> Splits {
    let mut end = recordings.len();
    let mut take = |share: f64, keep: usize| {
        let (last, mut taken) = (end, 0);
        // At least one, as many as come closest to the share, and `keep` are left.
        while share > 0.0 && end > keep {
            let next = recordings[end - 1].rows;
            let (now, then) = (taken as f64 / rows as f64, (taken + next) as f64 / rows as f64);
            if end < last && (now - share).abs() <= (then - share).abs() {
                break;
            }
            taken += next;
            end -= 1;
        }
        end..last
    };
    let test = take(test_share, 2);
    let valid = take(VALID_SHARE, 1);
    let train = 0..valid.start;
    let count = |range: &Range<usize>| counted(range.len(), "recording");
    let mut how = format!("by recording: {} for training, {} for validation", count(&train), count(&valid));
    if !test.is_empty() {
        how += &format!(", {} for testing, the last ones", count(&test));
    }
    let sources = |range: &Range<usize>| sources(files, &recordings[range.clone()]);
    let train_rows = recordings[train.clone()].iter().map(|recording| recording.rows).sum();
    Splits { train: sources(&train), valid: sources(&valid), test: sources(&test), how, train_rows }
}

/// Neighbouring recordings of a file become one source.
fn sources(files: &[PreparedFile], recordings: &[Recording]) -> Vec<DataSource> {
    let same_file = |one: &Recording, other: &Recording| one.file == other.file;
    let source = |group: &[Recording]| {
        let whole = DataSource::whole(&files[group[0].file].path);
        let (first, end) = (group[0].index, group[group.len() - 1].index + 1);
        if group.len() == files[group[0].file].sequences.len() {
            return whole;
        }
        let range = format!("{first}..{end}").parse().ok();
        DataSource { sequences: range, ..whole }
    };
    recordings.chunk_by(same_file).map(source).collect()
}

/// Of every recording the first part is for training, the next for validation, the last for testing.
fn by_blocks(files: &[PreparedFile], rows: usize, test_share: f64) -> Splits {
    let per_cent = |share: f64| (1000.0 * share).round() / 10.0;
    let test_from = 1.0 - test_share;
    let valid_from = test_from - VALID_SHARE.min(0.3 * test_from);
    let range = |from: f64, to: f64| {
        let to = if to >= 1.0 { String::new() } else { format!("{}%", per_cent(to)) };
        let from = if from <= 0.0 { String::new() } else { format!("{}%", per_cent(from)) };
        format!("{from}..{to}")
    };
    let sources = |range: &str| -> Vec<DataSource> {
        let rows = range.parse().ok().map(RowSelection::Range);
        files.iter().map(|file| DataSource { rows: rows.clone(), ..DataSource::whole(&file.path) }).collect()
    };
    let train = range(0.0, valid_from - MARGIN);
    let valid = range(valid_from, if test_share > 0.0 { test_from - MARGIN } else { 1.0 });
    let test = range(test_from, 1.0);
    let of =
        if files.len() == 1 && files[0].sequences.len() == 1 { "the recording" } else { "every recording" };
    let mut how = format!(
        "by blocks of time with a margin of 1 %: rows {train} of {of} for training, {valid} for validation"
    );
    if test_share > 0.0 {
        how += &format!(", {test} for testing");
    }
    let test = if test_share > 0.0 { sources(&test) } else { Vec::new() };
    let train_rows = ((valid_from - MARGIN) * rows as f64) as usize;
    Splits { train: sources(&train), valid: sources(&valid), test, how, train_rows }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(sequences: &[&[usize]]) -> Vec<PreparedFile> {
        let file = |(index, rows): (usize, &&[usize])| PreparedFile {
            path: format!("{index}.csv").into(),
            sequences: rows.to_vec(),
        };
        sequences.iter().enumerate().map(file).collect()
    }

    fn text(sources: &[DataSource]) -> Vec<String> {
        let one = |source: &DataSource| {
            let sequences = source.sequences.map_or(String::new(), |range| format!(" {range}"));
            let rows = match &source.rows {
                Some(RowSelection::Range(range)) => format!(" rows {range}"),
                _ => String::new(),
            };
            format!("{}{sequences}{rows}", source.file.display())
        };
        sources.iter().map(one).collect()
    }

    #[test]
    fn several_recordings_are_kept_whole() {
        let found = split(&files(&[&[100], &[100], &[100], &[100], &[100], &[100]]), &[], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv", "1.csv", "2.csv", "3.csv"]);
        assert_eq!((text(&found.valid), text(&found.test)), (vec!["4.csv".into()], vec!["5.csv".into()]));
        assert!(found.how.starts_with("by recording: 4 recordings for training"), "{}", found.how);
        assert_eq!(found.train_rows, 400);
        let found = split(&files(&[&[50, 50, 50, 50, 50, 50, 50]]), &[], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv 0..5"]);
        assert_eq!(
            (text(&found.valid), text(&found.test)),
            (vec!["0.csv 5..6".into()], vec!["0.csv 6..7".into()])
        );
    }

    #[test]
    fn one_recording_is_cut_into_blocks_with_margins() {
        let found = split(&files(&[&[1000]]), &[], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv rows ..69%"]);
        assert_eq!(text(&found.valid), ["0.csv rows 70%..84%"]);
        assert_eq!(text(&found.test), ["0.csv rows 85%.."]);
        // So are recordings of which one has most of the rows.
        let found = split(&files(&[&[1000], &[100], &[100]]), &[], 0.5).unwrap();
        assert_eq!(text(&found.test), ["0.csv rows 50%..", "1.csv rows 50%..", "2.csv rows 50%.."]);
        assert_eq!(text(&found.train)[0], "0.csv rows ..34%");
    }

    #[test]
    fn files_for_testing_are_left_alone() {
        let all = files(&[&[100], &[100], &[90]]);
        let found = split(&all[..2], &all[2..], 0.15).unwrap();
        assert_eq!((text(&found.train), text(&found.valid)), (vec!["0.csv".into()], vec!["1.csv".into()]));
        assert_eq!(text(&found.test), ["2.csv"]);
        assert!(found.how.ends_with("test: 1 file as given"), "{}", found.how);
    }

    #[test]
    fn too_few_rows_are_refused() {
        assert!(split(&files(&[&[40]]), &[], 0.15).unwrap_err().to_string().contains("40 rows are too few"));
    }
}
