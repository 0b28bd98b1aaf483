//! Telling file formats apart.

use std::path::Path;

use super::npy;
use crate::config::Format;

impl Format {
    /// How many bytes from the start of a file [`Format::infer`] wants to see.
    pub(super) const HEAD: usize = 512;

    /// The format of a file, from its first bytes and, where these leave room for doubt, from its extension.
    pub fn infer(path: &Path, head: &[u8]) -> Format {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match extension.as_str() {
            _ if head.starts_with(npy::MAGIC) => Format::Npy,
            "npy" => Format::Npy,
            "csv" => Format::Csv,
            "txt" if looks_like_notes(head) => Format::PianoRoll,
            _ if looks_like_notes(head) && head.contains(&b';') => Format::PianoRoll,
            _ => Format::Csv,
        }
    }
}

/// Whether nothing but notes and their separators is there.
fn looks_like_notes(head: &[u8]) -> bool {
    head.iter().all(|byte| byte.is_ascii_digit() || b",; \r\n".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let infer = |path: &str, head: &[u8]| Format::infer(Path::new(path), head);
        assert_eq!(infer("a.csv", b"60,61\n"), Format::Csv);
        assert_eq!(infer("a.CSV", b"a;b\n"), Format::Csv);
        assert_eq!(infer("a.npy", b""), Format::Npy);
        assert_eq!(infer("a.bin", b"\x93NUMPY\x01\x00"), Format::Npy);
        assert_eq!(infer("a.txt", b"60,61\n"), Format::PianoRoll);
        assert_eq!(infer("a.txt", b"time,force\n"), Format::Csv);
        assert_eq!(infer("a", b"60;;61\n"), Format::PianoRoll);
        assert_eq!(infer("a", b"60,61\n"), Format::Csv);
    }
}
