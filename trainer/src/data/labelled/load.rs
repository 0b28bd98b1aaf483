//! Reads the labelled sequences of a `[data]` section.

use anyhow::{Context, Result, ensure};
use quaver::checkpoint::{MAX_WIDTH, Target};

use super::classes::{Classes, excludes};
use super::cut::{Piece, cut};
use super::read::LabelledReading;
use super::split::stratified;
use super::{LabelledSequences, class_of, sequence};
use crate::config::{Columns, DataConfig, DataSource, LabelsConfig};
use crate::data::augment::Augmentation;
use crate::data::dataset::{Dataset, EpochChanges};
use crate::data::input_gaps::InputGaps;
use crate::data::overlap::{SplitRows, UsedRows};
use crate::data::rows::Sequence;
use crate::data::table::listed;
use crate::data::uninformative::uninformative;

/// The sequences of a split before their labels have indices.
type Split = Vec<Piece>;

/// Seed of the draw of test sequences where the config sets none.
const DEFAULT_TEST_SEED: u64 = 1;

impl DataConfig {
    /// Reads files with labels.
    pub(in crate::data) fn load_labelled(&self) -> Result<Dataset> {
        let labels = self.labels.clone().unwrap_or_default();
        let (mut names, mut read) = (None, LabelledReading::default());
        let mut splits = SplitRows::default();
        let mut split = |key: &'static str, sources: &[DataSource]| -> Result<Split> {
            let found = self.labelled_split(sources, &mut names, &mut read);
            let (pieces, used) = found.with_context(|| format!("data.{key}"))?;
            // Validation data may be training data where the last state is kept.
            if key != "valid" {
                splits.add(key, used)?;
            }
            Ok(pieces)
        };
        let (train, valid, test) =
            (split("train", &self.train)?, split("valid", &self.valid)?, split("test", &self.test)?);
        let classes = Classes::of_training(train.iter().map(|piece| &piece.label), &labels)?;
        let numbered = |key, pieces: Vec<Piece>| numbered(key, pieces, &classes, &labels);
        let train = numbered("train", without_excluded(train, &labels))?;
        let valid = numbered("valid", without_excluded(valid, &labels))?;
        let ([train, valid, test], validation) =
            self.set_parts_aside(&labels, train, valid, numbered("test", test)?)?;
        check_every_class(&train, &classes.names)?;
        let input_names = names.context("data.train names no file; name at least one")?;
        let kept = self.informative(&train, &input_names, &mut read.notes)?;
        let [train, valid, test] = [train, valid, test].map(|split| with_inputs(split, &kept));
        let input_names: Vec<String> = kept.iter().map(|column| input_names[*column].clone()).collect();
        ensure!(
            input_names.len() <= usize::from(MAX_WIDTH) && classes.names.len() <= usize::from(MAX_WIDTH),
            "{} inputs and {} classes; a model takes at most {MAX_WIDTH} of each",
            input_names.len(),
            classes.names.len()
        );
        let changes = self.labelled_changes(&input_names, &train)?;
        Ok(Dataset {
            train,
            valid,
            test,
            input_names,
            target_names: classes.names,
            target: Target::Columns,
            look_ahead: Vec::new(),
            validation,
            changes,
            files: read.files.0,
            notes: read.notes,
        })
    }

    /// Sets parts of the training data aside for testing and validation, where they have no files of their
    /// own; returns the three splits, and how validation data were chosen.
    fn set_parts_aside(
        &self,
        labels: &LabelsConfig,
        mut train: Vec<Sequence>,
        mut valid: Vec<Sequence>,
        mut test: Vec<Sequence>,
    ) -> Result<([Vec<Sequence>; 3], String)> {
        if let Some(fraction) = labels.test_fraction {
            let seed = labels.test_seed.unwrap_or(DEFAULT_TEST_SEED);
            (train, test) = set_aside(train, fraction, Some(seed));
        }
        let mut validation = "from files of its own".to_string();
        if let Some(fraction) = self.fraction_set_aside() {
            (train, valid) = set_aside(train, fraction, self.valid_seed);
            let which = if self.valid_seed.is_some() { "drawn at random" } else { "the last ones of each" };
            validation = format!("{} training sequences of all classes, {which}", valid.len());
        }
        ensure!(
            !train.is_empty() && !valid.is_empty(),
            "data.train: {} sequences are too few to set some of them aside; name files in data.valid",
            train.len()
        );
        Ok(([train, valid, test], validation))
    }

    /// Reads files with labels that may be none of the classes.
    pub(super) fn read_labelled(
        &self,
        sources: &[DataSource],
        classes: &[String],
    ) -> Result<LabelledSequences> {
        let labels = self.labels.clone().unwrap_or_default();
        let (split, _) = self.labelled_split(sources, &mut None, &mut LabelledReading::default())?;
        let known = Classes::new(classes.to_vec());
        let number = |piece: Piece| {
            let class = known.index(&piece.label, &labels);
            sequence(piece.rows, piece.warm_up, class)
        };
        let sequences: Vec<Sequence> = split.into_iter().map(number).collect();
        Ok(LabelledSequences::of(&sequences, classes))
    }

    fn labelled_split(
        &self,
        sources: &[DataSource],
        names: &mut Option<Vec<String>>,
        read: &mut LabelledReading,
    ) -> Result<(Split, Vec<UsedRows>)> {
        let labels = self.labels.clone().unwrap_or_default();
        let (mut sequences, mut used) = (Vec::new(), Vec::new());
        for source in sources {
            let found = self.read_recordings(source, read)?;
            used.extend(found.used);
            let settled = names.get_or_insert(found.inputs.clone());
            ensure!(
                *settled == found.inputs,
                "{}: the inputs here are {}, but those of the first file are {}; name the inputs in data.inputs",
                source.file.display(),
                listed(&found.inputs),
                listed(settled)
            );
            let pieces = cut(found.recordings, &labels)?;
            ensure!(
                !pieces.is_empty(),
                "{}: no sequence with a class; if recordings are cut into windows, they may be too short",
                source.file.display()
            );
            sequences.extend(pieces);
        }
        Ok((sequences, used))
    }

    /// The input columns to use: where the config asks for all columns of CSV files, those that say nothing
    /// are left out.
    fn informative(
        &self,
        train: &[Sequence],
        names: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Vec<usize>> {
        let all: Vec<usize> = (0..names.len()).collect();
        if self.inputs != Columns::All || !self.has_named_columns()? {
            return Ok(all);
        }
        let found = uninformative(train);
        let is_kept = |column: &usize| found.iter().all(|(index, _)| index != column);
        let kept: Vec<usize> = all.iter().copied().filter(is_kept).collect();
        if kept.is_empty() {
            return Ok(all);
        }
        let note = |column: usize, reason: &dyn std::fmt::Display| {
            format!("`{}` is not read: {reason}; name it in data.inputs to read it", names[column])
        };
        notes.extend(found.iter().map(|(column, reason)| note(*column, reason)));
        Ok(kept)
    }

    fn labelled_changes(&self, names: &[String], train: &[Sequence]) -> Result<EpochChanges> {
        let augment = |asked| Augmentation::new(asked, names, train, false);
        let transforms = self.augment.as_ref().filter(|asked| asked.transforms_rows());
        let augmentation = transforms.map(augment).transpose().map_err(anyhow::Error::msg)?;
        Ok(EpochChanges {
            augmentation,
            fresh_noise: None,
            gaps: InputGaps::new(self.augment.as_ref(), train),
        })
    }
}

/// The sequences of classes that are not excluded.
fn without_excluded(split: Split, labels: &LabelsConfig) -> Split {
    let kept = |piece: &Piece| piece.label.as_ref().is_none_or(|label| !excludes(labels, label));
    split.into_iter().filter(kept).collect()
}

/// The sequences of a split with the indices of their classes.
fn numbered(key: &str, split: Split, classes: &Classes, labels: &LabelsConfig) -> Result<Vec<Sequence>> {
    let number = |piece: Piece| {
        let class = classes.known(key, &piece.label, labels)?;
        Ok(sequence(piece.rows, piece.warm_up, class))
    };
    split.into_iter().map(number).collect()
}

/// The sequences with some of their inputs.
fn with_inputs(sequences: Vec<Sequence>, kept: &[usize]) -> Vec<Sequence> {
    if sequences.first().is_none_or(|first| first.inputs.channels == kept.len()) {
        return sequences;
    }
    sequences.iter().map(|sequence| sequence.map(|rows| rows.columns(kept), Clone::clone)).collect()
}

/// Separates a part of every class: what stays, and what is set aside.
fn set_aside(train: Vec<Sequence>, fraction: f64, seed: Option<u64>) -> (Vec<Sequence>, Vec<Sequence>) {
    let classes: Vec<Option<usize>> = train.iter().map(class_of).collect();
    let chosen = stratified(&classes, fraction, seed);
    let (aside, kept): (Vec<_>, Vec<_>) = train.into_iter().zip(chosen).partition(|(_, chosen)| *chosen);
    let sequences = |part: Vec<(Sequence, bool)>| part.into_iter().map(|(sequence, _)| sequence).collect();
    (sequences(kept), sequences(aside))
}

/// Refuses training data without a sequence of one of the classes, which can happen by setting some aside.
fn check_every_class(train: &[Sequence], classes: &[String]) -> Result<()> {
    let counts = LabelledSequences::of(train, classes).counts();
    let missing = counts.iter().position(|count| *count == 0);
    ensure!(
        missing.is_none(),
        "data.train: no sequence of class `{}` is left for training",
        missing.map_or("", |class| classes[class].as_str())
    );
    Ok(())
}
