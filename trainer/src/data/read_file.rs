//! Data files with a checksum of what was read, so that a resumed run notices when they have changed.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use crc::{CRC_64_XZ, Crc, Digest, Table};
use serde::{Deserialize, Serialize};

use super::lines::cannot_read;
use super::watch::WatchedSource;

/// A change of the file goes unnoticed with probability 2⁻⁶⁴, unless somebody intends it.
static CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

/// A data file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Its path.
    pub path: PathBuf,
    /// Its contents.
    pub checksum: FileChecksum,
}

/// The contents of a data file in short, with its name but not its folder, so that a state does not depend on
/// the place of its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChecksum {
    /// Name of the file.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// CRC-64/XZ of the bytes.
    pub crc: u64,
}

/// Reads a file and sums up what passes.
pub(super) struct ChecksumReader {
    file: WatchedSource<File>,
    path: PathBuf,
    bytes: u64,
    digest: Digest<'static, u64, Table<16>>,
}

impl ChecksumReader {
    /// Opens a file; the error names it.
    pub(super) fn open(path: &Path) -> Result<BufReader<Self>> {
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        let reader = ChecksumReader {
            file: WatchedSource(file),
            path: path.to_path_buf(),
            bytes: 0,
            digest: CRC.digest(),
        };
        Ok(BufReader::with_capacity(1 << 16, reader))
    }

    /// Reads a whole file, and adds it to those read.
    pub(super) fn read_whole(path: &Path, read: &mut ReadFiles) -> Result<Vec<u8>> {
        let mut reader = Self::open(path)?.into_inner();
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| cannot_read(path, &error))?;
        reader.finish(read)?;
        Ok(bytes)
    }

    /// Adds the file to those read, with whatever its parser has left over.
    pub(super) fn finish(mut self, read: &mut ReadFiles) -> Result<()> {
        io::copy(&mut self, &mut io::sink()).map_err(|error| cannot_read(&self.path, &error))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let checksum = FileChecksum { name, bytes: self.bytes, crc: self.digest.finalize() };
        read.add(ReadFile { path: self.path, checksum });
        Ok(())
    }
}

impl Read for ChecksumReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.digest.update(&buffer[..length]);
        self.bytes += length as u64;
        Ok(length)
    }
}

/// The files of a data set in the order of reading, each once.
#[derive(Debug, Default)]
pub(super) struct ReadFiles(pub(super) Vec<ReadFile>);

impl ReadFiles {
    /// Adds files that were read elsewhere.
    pub(super) fn add_all(&mut self, files: ReadFiles) {
        files.0.into_iter().for_each(|file| self.add(file));
    }

    fn add(&mut self, file: ReadFile) {
        if !self.0.contains(&file) {
            self.0.push(file);
        }
    }
}

/// The first difference between the files that a run started with and those read now, for people.
pub fn changed_file(before: &[FileChecksum], now: &[ReadFile]) -> Option<String> {
    for (before, now) in before.iter().zip(now) {
        let path = now.path.display();
        if before.name != now.checksum.name {
            return Some(format!("`{path}` is read in the place of `{}`", before.name));
        }
        if *before != now.checksum {
            let (then, today) = (before.bytes, now.checksum.bytes);
            return Some(format!("`{path}` has changed ({then} bytes then, {today} bytes now)"));
        }
    }
    if let Some(absent) = before.get(now.len()) {
        return Some(format!("`{}` is no longer read", absent.name));
    }
    now.get(before.len()).map(|added| format!("`{}` is read as well", added.path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;

    use super::*;

    fn read(files: &[(&str, &str)]) -> Vec<ReadFile> {
        let folder = tempfile::tempdir().unwrap();
        let mut read = ReadFiles::default();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            ChecksumReader::read_whole(&path, &mut read).unwrap();
        }
        read.0
    }

    #[test]
    fn the_checksum_is_that_of_the_whole_file_however_much_was_parsed() {
        // The check value of CRC-64/XZ: https://reveng.sourceforge.io/crc-catalogue/17plus.htm
        let whole = read(&[("a", "123456789")]);
        assert_eq!(
            whole[0].checksum,
            FileChecksum { name: "a".into(), bytes: 9, crc: 0x995d_c9bb_df19_39fa }
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "123456789").unwrap();
        let (mut partly, mut files) = (ChecksumReader::open(&path).unwrap(), ReadFiles::default());
        assert_eq!(partly.read_until(b'3', &mut Vec::new()).unwrap(), 3);
        partly.into_inner().finish(&mut files).unwrap();
        assert_eq!(files.0[0].checksum, whole[0].checksum);
    }

    #[test]
    fn a_file_that_is_read_twice_counts_once() {
        assert_eq!(read(&[("a", "1"), ("b", "1")]).len(), 2);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1").unwrap();
        let mut files = ReadFiles::default();
        (0..2).for_each(|_| drop(ChecksumReader::read_whole(&path, &mut files).unwrap()));
        assert_eq!(files.0.len(), 1);
    }

    #[test]
    fn the_file_that_differs_is_named() {
        let before: Vec<FileChecksum> =
            read(&[("a", "1\n2\n"), ("b", "3\n")]).into_iter().map(|f| f.checksum).collect();
        assert_eq!(changed_file(&before, &read(&[("a", "1\n2\n"), ("b", "3\n")])), None);
        let found = |now: &[(&str, &str)]| changed_file(&before, &read(now)).unwrap();
        let changed = found(&[("a", "1\n2\n"), ("b", "4\n")]);
        assert!(changed.ends_with("/b` has changed (2 bytes then, 2 bytes now)"), "{changed}");
        assert!(found(&[("c", "1\n2\n"), ("b", "3\n")]).ends_with("/c` is read in the place of `a`"));
        assert_eq!(found(&[("a", "1\n2\n")]), "`b` is no longer read");
        assert!(found(&[("a", "1\n2\n"), ("b", "3\n"), ("c", "")]).ends_with("/c` is read as well"));
    }
}
