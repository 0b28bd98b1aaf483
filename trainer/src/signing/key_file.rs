//! Key files: two lines of text, the kind of key with the version of the format, and 64 hexadecimal digits.
//!
//! ```text
//! quaver public key 1
//! decf70e7671851b6e199dc49944da2d632976b44b207114a378119b5371373bb
//! ```

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use ed25519_dalek::SigningKey;
use quaver::signed::PublicKey;

use super::SecretKey;
use crate::files::{Access, create};

/// The version of the format of key files.
const VERSION: &str = "1";
/// Digits of a key: two per byte.
const DIGITS: usize = 64;

/// What a key file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Secret,
    Public,
}

impl Kind {
    const fn title(self) -> &'static str {
        match self {
            Kind::Secret => "quaver secret key",
            Kind::Public => "quaver public key",
        }
    }

    /// What is wrong if this kind was given where the other is needed.
    const fn swapped(self) -> &'static str {
        match self {
            Kind::Secret => "it holds a secret key, and a public one is needed: give the .pub file",
            Kind::Public => "it holds a public key, and a secret one is needed: give the .key file",
        }
    }
}

/// Writes a secret key to a new file that its owner alone can read.
pub(crate) fn create_secret(path: &Path, key: &SecretKey) -> Result<()> {
    create(path, text(Kind::Secret, key.0.as_bytes()).as_bytes(), Access::Owner)
}

/// Writes a public key to a new file.
pub(crate) fn create_public(path: &Path, key: &PublicKey) -> Result<()> {
    create(path, text(Kind::Public, key.as_bytes()).as_bytes(), Access::Everybody)
}

/// Writes a public key to a new Rust file, for firmware.
pub(crate) fn create_rust(path: &Path, key: &PublicKey) -> Result<()> {
    create(path, rust_constant(key).as_bytes(), Access::Everybody)
}

/// Reads a secret key.
///
/// # Errors
/// Names the file, what is wrong in it, and what is expected.
pub(crate) fn read_secret(path: &Path) -> Result<SecretKey> {
    read(path, Kind::Secret).map(|seed| SecretKey(SigningKey::from_bytes(&seed)))
}

/// Reads a public key, and checks that it can be used.
///
/// # Errors
/// Names the file, what is wrong in it, and what is expected.
pub(crate) fn read_public(path: &Path) -> Result<PublicKey> {
    let key = PublicKey::new(read(path, Kind::Public)?);
    key.check().with_context(|| path.display().to_string())?;
    Ok(key)
}

fn read(path: &Path, kind: Kind) -> Result<[u8; 32]> {
    let shown = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read the key file {shown}"))?;
    let text = str::from_utf8(&bytes).ok().context("it is not text");
    text.and_then(|text| parse(text, kind)).with_context(|| {
        format!("{shown} is not a usable key file; `quaver keygen` writes a .key and a .pub file")
    })
}

fn parse(text: &str, kind: Kind) -> Result<[u8; 32]> {
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default();
    let kinds = [Kind::Secret, Kind::Public];
    let found = kinds.into_iter().find_map(|kind| Some((kind, title.strip_prefix(kind.title())?)));
    let Some((found, version)) = found else {
        bail!("its first line is not `{} {VERSION}`", kind.title());
    };
    let version = version.trim();
    ensure!(
        version == VERSION,
        "its format has version `{version}`, and this program reads version {VERSION}"
    );
    ensure!(found == kind, "{}", found.swapped());
    let digits = lines.next().unwrap_or_default();
    ensure!(
        lines.next().is_none() && !digits.is_empty(),
        "a key file has two lines, a title and {DIGITS} hexadecimal digits; this one has {}",
        text.lines().count()
    );
    let count = digits.chars().count();
    if let Some(index) = digits.chars().position(|digit| !digit.is_ascii_hexdigit()) {
        // The line is not shown: it may be a secret.
        bail!("line 2, column {}: not a hexadecimal digit", index + 1);
    }
    ensure!(count == DIGITS, "line 2 has {count} hexadecimal digits, and a key has {DIGITS}");
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(digits.as_bytes().as_chunks::<2>().0) {
        *byte = pair.iter().fold(0, |sum, digit| 16 * sum + hex_value(*digit));
    }
    Ok(key)
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

fn text(kind: Kind, key: &[u8; 32]) -> String {
    format!("{} {VERSION}\n{}\n", kind.title(), hex(key))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes every digit");
        text
    })
}

/// A public key as a constant of a firmware.
pub(crate) fn rust_constant(key: &PublicKey) -> String {
    let line = |bytes: &[u8]| {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
        format!("    {},\n", bytes.join(", "))
    };
    let lines: String = key.as_bytes().chunks(16).map(line).collect();
    format!(
        "/// The key whose signatures this device accepts. Written by `quaver keygen`.\n\
         pub const PUBLIC_KEY: quaver::signed::PublicKey = quaver::signed::PublicKey::new([\n{lines}]);\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "quaver secret key 1\n\
                          000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

    fn error(text: &str, kind: Kind) -> String {
        format!("{:#}", parse(text, kind).unwrap_err())
    }

    #[test]
    fn what_is_written_is_read() {
        let key: [u8; 32] = core::array::from_fn(|index| index as u8);
        assert_eq!(parse(SECRET, Kind::Secret).unwrap(), key);
        for kind in [Kind::Secret, Kind::Public] {
            assert_eq!(parse(&text(kind, &key), kind).unwrap(), key);
            assert_eq!(parse(text(kind, &key).trim_end(), kind).unwrap(), key, "without a last line break");
            assert_eq!(parse(&text(kind, &key).replace('\n', "\r\n"), kind).unwrap(), key, "from Windows");
        }
    }

    #[test]
    fn errors_name_what_is_wrong_and_never_the_key() {
        let cases = [
            (SECRET.replace("quaver", "other"), "first line is not `quaver secret key 1`"),
            (String::new(), "first line is not"),
            (SECRET.replace("key 1", "key 2"), "version `2`"),
            (SECRET.replace("secret", "public"), "it holds a public key"),
            (SECRET.replace("0a0b", "0g0b"), "line 2, column 22: not a hexadecimal digit"),
            (SECRET.replace("0a0b", "0ä0b"), "line 2, column 22: not a hexadecimal digit"),
            (SECRET.replace("0a0b", "0a"), "62 hexadecimal digits"),
            (SECRET.replace("0a0b", "0a0b0c"), "66 hexadecimal digits"),
            ("quaver secret key 1\n".into(), "has 1"),
            (format!("{SECRET}more\n"), "has 3"),
        ];
        for (text, expected) in cases {
            let error = error(&text, Kind::Secret);
            assert!(error.contains(expected), "{error:?} should contain {expected:?}");
            assert!(!error.contains("0102"), "{error:?} shows the key");
        }
        assert!(error(SECRET, Kind::Public).contains("it holds a secret key"));
    }

    #[test]
    fn a_new_key_signs_what_its_public_key_opens() {
        let key = SecretKey::generate().unwrap();
        let envelope = key.seal(b"any bytes", 4).unwrap();
        let opened = quaver::signed::open(&envelope, &key.public(), 4).unwrap();
        assert_eq!(opened.checkpoint, b"any bytes");
        assert_ne!(SecretKey::generate().unwrap().public(), key.public());
    }
}
