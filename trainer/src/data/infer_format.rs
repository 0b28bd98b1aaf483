//! Inferring the format of a data file.

use std::path::Path;

use super::bag::mcap;
use super::npy;
use crate::config::FileFormat;

/// The first bytes of every Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

impl FileFormat {
    /// Bytes from the start of a file that [`FileFormat::infer`] needs.
    pub(crate) const HEAD: usize = 512;

    /// The format of a file, from its first bytes and, where these are ambiguous, from its extension.
    pub fn infer(path: &Path, head: &[u8]) -> FileFormat {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match extension.as_str() {
            _ if head.starts_with(npy::MAGIC) => FileFormat::Npy,
            _ if head.starts_with(mcap::MAGIC) => FileFormat::Mcap,
            _ if head.starts_with(PARQUET_MAGIC) => FileFormat::Parquet,
            "npy" => FileFormat::Npy,
            "parquet" => FileFormat::Parquet,
            // Bags in other containers, which are refused with a line that converts them.
            "mcap" | "bag" | "db3" => FileFormat::Mcap,
            "csv" => FileFormat::Csv,
            "txt" if looks_like_notes(head) => FileFormat::PianoRoll,
            _ if looks_like_notes(head) && head.contains(&b';') => FileFormat::PianoRoll,
            _ => FileFormat::Csv,
        }
    }
}

/// Whether there are only notes and their separators.
fn looks_like_notes(head: &[u8]) -> bool {
    head.iter().all(|byte| byte.is_ascii_digit() || b",; \r\n".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let infer = |path: &str, head: &[u8]| FileFormat::infer(Path::new(path), head);
        assert_eq!(infer("a.csv", b"60,61\n"), FileFormat::Csv);
        assert_eq!(infer("a.CSV", b"a;b\n"), FileFormat::Csv);
        assert_eq!(infer("a.npy", b""), FileFormat::Npy);
        assert_eq!(infer("a.bin", b"\x93NUMPY\x01\x00"), FileFormat::Npy);
        assert_eq!(infer("a.bin", b"\x89MCAP0\r\n"), FileFormat::Mcap);
        assert_eq!(infer("a.bin", b"PAR1\x15\x00"), FileFormat::Parquet);
        assert_eq!(infer("a.db3", b"SQLite format 3\0"), FileFormat::Mcap);
        assert_eq!(infer("a.txt", b"60,61\n"), FileFormat::PianoRoll);
        assert_eq!(infer("a.txt", b"time,force\n"), FileFormat::Csv);
        assert_eq!(infer("a", b"60;;61\n"), FileFormat::PianoRoll);
        assert_eq!(infer("a", b"60,61\n"), FileFormat::Csv);
    }
}
