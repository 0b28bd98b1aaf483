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

/// Few or unequal recordings are cut into blocks instead: whole ones would leave less than this share of the
/// rows for training.
const TRAIN_SHARE: f64 = 0.5;

/// Or less than this share for one of the other parts.
const PART_SHARE: f64 = 0.05;

/// From so many recordings on, at least two are for validation: one says nothing about how much they differ.
const MANY_RECORDINGS: usize = 8;

/// Shorter recordings are not cut into blocks.
const FEWEST_BLOCK_ROWS: usize = 40;

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

/// Splits files; `valid` and `test` are files that the user has chosen for validation and for testing,
/// `test_share` the share of the rows for testing where there are none.
///
/// # Errors
/// When there are too few rows.
pub fn split(files: &[PreparedFile], [valid, test]: [&[PreparedFile]; 2], test_share: f64) -> Result<Splits> {
    let recordings: Vec<Recording> =
        (0..).zip(files).flat_map(|(file, prepared)| recordings(file, prepared)).collect();
    let rows: usize = recordings.iter().map(|recording| recording.rows).sum();
    ensure!(
        rows >= FEWEST_ROWS,
        "{rows} rows are too few to learn from and to test on; give at least {FEWEST_ROWS}"
    );
    let test_share = if test.is_empty() { test_share } else { 0.0 };
    let whole = |files: &[PreparedFile]| -> Vec<DataSource> {
        files.iter().map(|file| DataSource::whole(&file.path)).collect()
    };
    let mut splits = match valid.is_empty() {
        true => by_recordings(files, &recordings, rows, test_share)
            .unwrap_or_else(|| by_blocks(files, &recordings, test_share)),
        false => {
            ensure!(
                test_share == 0.0,
                "--valid without --test: name the files to test on too, so that no file is cut into parts"
            );
            let how = format!("validation: {} as given", counted(valid.len(), "file"));
            Splits { train: whole(files), valid: whole(valid), test: Vec::new(), how, train_rows: rows }
        }
    };
    if !test.is_empty() {
        splits.test = whole(test);
        splits.how += &format!("; test: {} as given", counted(test.len(), "file"));
    }
    Ok(splits)
}

fn recordings(file: usize, prepared: &PreparedFile) -> impl Iterator<Item = Recording> + '_ {
    prepared.sequences.iter().enumerate().map(move |(index, rows)| Recording { file, index, rows: *rows })
}

/// The last recordings are for testing, those before them for validation; nothing if a part would be too
/// small.
fn by_recordings(
    files: &[PreparedFile],
    recordings: &[Recording],
    rows: usize,
    test_share: f64,
) -> Option<Splits> {
    let mut end = recordings.len();
    let mut take = |share: f64, fewest: usize, keep: usize| {
        let (last, mut taken) = (end, 0);
        // At least `fewest`, as many as come closest to the share, and `keep` are left.
        while share > 0.0 && end > keep {
            let next = recordings[end - 1].rows;
            let (now, then) = (taken as f64 / rows as f64, (taken + next) as f64 / rows as f64);
            if last - end >= fewest && (now - share).abs() <= (then - share).abs() {
                break;
            }
            taken += next;
            end -= 1;
        }
        end..last
    };
    let test = take(test_share, 1, 2);
    let valid = take(VALID_SHARE, if recordings.len() >= MANY_RECORDINGS { 2 } else { 1 }, 1);
    let train = 0..valid.start;
    let count = |range: &Range<usize>| counted(range.len(), "recording");
    let mut how = format!("by recording: {} for training, {} for validation", count(&train), count(&valid));
    if !test.is_empty() {
        how += &format!(", {} for testing, the last ones", count(&test));
    }
    let sources = |range: &Range<usize>| sources(files, &recordings[range.clone()]);
    let share = |range: &Range<usize>| -> f64 {
        recordings[range.clone()].iter().map(|recording| recording.rows as f64).sum::<f64>() / rows as f64
    };
    let is_tested = test_share == 0.0 || share(&test) >= PART_SHARE;
    if share(&train) < TRAIN_SHARE || share(&valid) < PART_SHARE || !is_tested {
        return None;
    }
    let train_rows = recordings[train.clone()].iter().map(|recording| recording.rows).sum();
    Some(Splits { train: sources(&train), valid: sources(&valid), test: sources(&test), how, train_rows })
}

/// Neighbouring recordings of a file become one source.
fn sources(files: &[PreparedFile], recordings: &[Recording]) -> Vec<DataSource> {
    let same_file =
        |one: &Recording, other: &Recording| one.file == other.file && one.index + 1 == other.index;
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

/// Of every recording the first part is for training, the next for validation, the last for testing; short
/// ones are for training as a whole.
fn by_blocks(files: &[PreparedFile], recordings: &[Recording], test_share: f64) -> Splits {
    let per_cent = |share: f64| (1000.0 * share).round() / 10.0;
    let test_from = 1.0 - test_share;
    let valid_from = test_from - VALID_SHARE.min(0.3 * test_from);
    let range = |from: f64, to: f64| {
        let to = if to >= 1.0 { String::new() } else { format!("{}%", per_cent(to)) };
        let from = if from <= 0.0 { String::new() } else { format!("{}%", per_cent(from)) };
        format!("{from}..{to}")
    };
    let is_long = |recording: &Recording| recording.rows >= FEWEST_BLOCK_ROWS;
    let (long, short): (Vec<Recording>, Vec<Recording>) = recordings.iter().copied().partition(is_long);
    let sources = |range: &str| -> Vec<DataSource> {
        let rows = range.parse().ok().map(RowSelection::Range);
        let part = |source: DataSource| DataSource { rows: rows.clone(), ..source };
        self::sources(files, &long).into_iter().map(part).collect()
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
    let rows = |recordings: &[Recording]| recordings.iter().map(|recording| recording.rows).sum::<usize>();
    let train_rows = ((valid_from - MARGIN) * rows(&long) as f64) as usize + rows(&short);
    if !short.is_empty() {
        how += &format!(
            "; {} shorter than {FEWEST_BLOCK_ROWS} rows for training",
            counted(short.len(), "recording")
        );
    }
    let train = [sources(&train), self::sources(files, &short)].concat();
    Splits { train, valid: sources(&valid), test, how, train_rows }
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
        let found =
            split(&files(&[&[100], &[100], &[100], &[100], &[100], &[100]]), [&[], &[]], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv", "1.csv", "2.csv", "3.csv"]);
        assert_eq!((text(&found.valid), text(&found.test)), (vec!["4.csv".into()], vec!["5.csv".into()]));
        assert!(found.how.starts_with("by recording: 4 recordings for training"), "{}", found.how);
        assert_eq!(found.train_rows, 400);
        let found = split(&files(&[&[50, 50, 50, 50, 50, 50, 50]]), [&[], &[]], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv 0..5"]);
        assert_eq!(
            (text(&found.valid), text(&found.test)),
            (vec!["0.csv 5..6".into()], vec!["0.csv 6..7".into()])
        );
    }

    #[test]
    fn one_recording_is_cut_into_blocks_with_margins() {
        let found = split(&files(&[&[1000]]), [&[], &[]], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv rows ..69%"]);
        assert_eq!(text(&found.valid), ["0.csv rows 70%..84%"]);
        assert_eq!(text(&found.test), ["0.csv rows 85%.."]);
        // So are recordings of which one has most of the rows.
        let found = split(&files(&[&[100], &[100], &[1000]]), [&[], &[]], 0.5).unwrap();
        assert_eq!(text(&found.test), ["0.csv rows 50%..", "1.csv rows 50%..", "2.csv rows 50%.."]);
        assert_eq!(text(&found.train)[0], "0.csv rows ..34%");
    }

    #[test]
    fn short_recordings_are_not_cut() {
        let found = split(&files(&[&[500, 3, 8, 600]]), [&[], &[]], 0.15).unwrap();
        assert_eq!(text(&found.test), ["0.csv 0..1 rows 85%..", "0.csv 3..4 rows 85%.."]);
        assert_eq!(text(&found.train).last().unwrap(), "0.csv 1..3");
        assert!(found.how.ends_with("2 recordings shorter than 40 rows for training"), "{}", found.how);
    }

    #[test]
    fn among_many_recordings_two_are_for_validation() {
        let valid = |rows: &[usize]| {
            let recordings: Vec<&[usize]> = rows.iter().map(std::slice::from_ref).collect();
            split(&files(&recordings), [&[], &[]], 0.1).unwrap().valid.len()
        };
        assert_eq!(valid(&[100, 100, 100, 100, 100, 150, 100]), 1);
        assert_eq!(valid(&[100, 100, 100, 100, 100, 100, 150, 100]), 2);
    }

    #[test]
    fn files_for_testing_are_left_alone() {
        let all = files(&[&[100], &[100], &[90], &[80]]);
        let found = split(&all[..3], [&[], &all[3..]], 0.15).unwrap();
        assert_eq!(
            (text(&found.train), text(&found.valid)),
            (vec!["0.csv".into(), "1.csv".into()], vec!["2.csv".into()])
        );
        assert_eq!(text(&found.test), ["3.csv"]);
        assert!(found.how.ends_with("test: 1 file as given"), "{}", found.how);
    }

    #[test]
    fn files_for_validation_are_whole_and_so_are_all_others() {
        let all = files(&[&[100], &[200], &[50], &[60]]);
        let found = split(&all[..2], [&all[2..3], &all[3..]], 0.15).unwrap();
        assert_eq!(text(&found.train), ["0.csv", "1.csv"]);
        assert_eq!([text(&found.valid), text(&found.test)], [["2.csv"], ["3.csv"]]);
        assert_eq!(found.how, "validation: 1 file as given; test: 1 file as given");
        let error = split(&all[..2], [&all[2..3], &[]], 0.15).unwrap_err().to_string();
        assert!(error.contains("--valid without --test"), "{error}");
    }

    #[test]
    fn too_few_rows_are_refused() {
        assert!(
            split(&files(&[&[40]]), [&[], &[]], 0.15)
                .unwrap_err()
                .to_string()
                .contains("40 rows are too few")
        );
    }
}
