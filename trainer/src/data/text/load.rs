//! Reads the text of a `[data]` section.

use anyhow::{Context, Result, ensure};
use quaver::checkpoint::Target;

use super::tokens::decode;
use super::vocabulary::Vocabulary;
use crate::config::{DataConfig, DataSource, TokenKind};
use crate::data::dataset::{Dataset, EpochChanges};
use crate::data::read_file::{ChecksumReader, ReadFiles};
use crate::data::rows::{Rows, Sequence};
use crate::memory;

/// A file of text.
struct TextFile {
    name: String,
    bytes: Vec<u8>,
}

impl TextFile {
    fn read(source: &DataSource, read: &mut ReadFiles) -> Result<Self> {
        let bytes = ChecksumReader::read_whole(&source.file, read)?;
        Ok(TextFile { name: source.file.display().to_string(), bytes })
    }

    fn text(&self) -> Result<&str> {
        decode(&self.bytes, &self.name)
    }
}

impl DataConfig {
    /// Reads files of text: every split is one stream.
    pub(in crate::data) fn load_text(&self, kind: TokenKind) -> Result<Dataset> {
        let mut files = ReadFiles::default();
        let mut read = |key: &str, sources: &[DataSource]| -> Result<Vec<TextFile>> {
            let files = sources.iter().map(|source| TextFile::read(source, &mut files));
            files.collect::<Result<_>>().with_context(|| format!("data.{key}"))
        };
        let (train, valid, test) =
            (read("train", &self.train)?, read("valid", &self.valid)?, read("test", &self.test)?);
        let vocabulary = match &self.vocabulary {
            Some(path) => {
                let bytes = ChecksumReader::read_whole(path, &mut files).context("data.vocabulary")?;
                Vocabulary::read(&bytes, &path.display().to_string()).context("data.vocabulary")?
            }
            None => {
                let texts =
                    train.iter().map(TextFile::text).collect::<Result<Vec<_>>>().context("data.train")?;
                Vocabulary::of_texts(&texts, kind).context("data.train")?
            }
        };
        let stream = |key: &str, files: &[TextFile]| {
            stream(files, &vocabulary, kind).with_context(|| format!("data.{key}"))
        };
        let (mut train, mut valid, test) =
            (stream("train", &train)?, stream("valid", &valid)?, stream("test", &test)?);
        let mut validation = "from files of its own".to_string();
        if let Some(fraction) = self.fraction_set_aside() {
            (train, valid) = set_aside(&train, fraction)?;
            validation = format!(
                "the last {} tokens of the training text",
                valid.iter().map(Sequence::len).sum::<usize>()
            );
        }
        let names = vocabulary.names();
        Ok(Dataset {
            train,
            valid,
            test,
            input_names: names.clone(),
            target_names: names,
            target: Target::Next,
            look_ahead: Vec::new(),
            validation,
            changes: EpochChanges::default(),
            files: files.0,
            notes: Vec::new(),
        })
    }
}

/// The files of a split, one after the other; nothing if there is none.
fn stream(files: &[TextFile], vocabulary: &Vocabulary, kind: TokenKind) -> Result<Vec<Sequence>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    // Each byte is at most one token, and a line of words has one more.
    let bytes = files.iter().map(|file| (file.bytes.len() + 1) * size_of::<f32>()).sum::<usize>() as u64;
    memory::check("the text", bytes, memory::available(), "use a part of it")?;
    let mut rows = Rows::new(1);
    for file in files {
        rows.values.extend(vocabulary.encode(file.text()?, kind, &file.name)?.values);
    }
    ensure!(rows.len() >= 2, "{} tokens; a model of text needs two", rows.len());
    Ok(vec![Sequence::next(rows)])
}

/// Separates the end of the only stream.
fn set_aside(train: &[Sequence], fraction: f64) -> Result<(Vec<Sequence>, Vec<Sequence>)> {
    let whole = train.first().context("data.train names no file; name at least one")?;
    let first = ((1.0 - fraction) * whole.len() as f64).round() as usize;
    ensure!(
        first > 0 && first < whole.len(),
        "data.valid_fraction: {} tokens are too few to set some of them aside; name a file in data.valid",
        whole.len()
    );
    Ok((vec![whole.slice(0..first)], vec![whole.slice(first..whole.len())]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::config::Config;
    use crate::data::Dataset;

    const SHORT: &str =
        "[data]\nformat = 'words'\ntrain = 'a.txt'\ntargets = 'next'\n[model]\nlikelihood = 'categorical'\n";

    fn load(files: &[(&str, &[u8])], overrides: &[&str]) -> anyhow::Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let path = folder.path().join("c.toml");
        fs::write(&path, SHORT).unwrap();
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        Config::load(&path, &overrides)?.load_data()
    }

    #[test]
    fn a_split_is_one_stream_of_indices() {
        let files: [(&str, &[u8]); 2] = [("a.txt", b"a b\nb a b\n"), ("b.txt", b"b\n")];
        let data = load(&files, &["data.valid=b.txt", "data.test=['a.txt', 'b.txt']"]).unwrap();
        assert_eq!(data.input_names, ["b", "<eos>", "a"]);
        assert_eq!(data.train[0].targets.values, [2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0]);
        assert_eq!((data.valid[0].len(), data.test.len(), data.test[0].len()), (2, 1, 9));
        assert_eq!(data.files.len(), 2);
        let data = load(&files, &["data.valid_fraction=0.3"]).unwrap();
        assert_eq!(
            (data.train[0].len(), data.valid[0].targets.values.as_slice()),
            (5, [0.0, 1.0].as_slice())
        );
    }

    #[test]
    fn problems_of_text_are_located() {
        let error = |files: &[(&str, &[u8])], set: &[&str]| format!("{:#}", load(files, set).unwrap_err());
        let found = error(&[("a.txt", b"a b\nc\xff")], &[]);
        assert!(found.starts_with("data.train: ") && found.contains("a.txt:2:2: not UTF-8"), "{found}");
        let found = error(&[("a.txt", b"a b\n"), ("b.txt", b"a\nx b\n")], &["data.test=b.txt"]);
        assert!(
            found.starts_with("data.test: ") && found.contains("b.txt:2:1: `x` is not in the vocabulary"),
            "{found}"
        );
        assert!(error(&[("a.txt", b"")], &[]).contains("0 different tokens"));
        assert!(error(&[("a.txt", b"a b\n")], &["data.test=no.txt"]).contains("no.txt: no such file"));
        let found = error(&[("a.txt", b"a b\n"), ("v.txt", b"a\na\n")], &["data.vocabulary=v.txt"]);
        assert!(
            found.starts_with("data.vocabulary: ") && found.contains("v.txt:2: `a` is in line 1"),
            "{found}"
        );
    }
}
