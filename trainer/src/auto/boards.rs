//! Boards by name: core, clock, flash and RAM.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// The boards that are built in.
const BUILT_IN: &str = include_str!("boards.toml");

/// A board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Its name on the command line.
    pub name: String,
    /// Its chip.
    #[serde(default)]
    pub chip: String,
    /// Its core.
    pub core: Core,
    /// Its clock in MHz.
    pub clock_mhz: f64,
    /// Its flash in KiB.
    pub flash_kib: u32,
    /// Its RAM in KiB.
    pub ram_kib: u32,
}

/// Cores that have a cost model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Core {
    /// Cortex-M0 and M0+.
    M0,
    /// Cortex-M3.
    M3,
    /// Cortex-M4 with floating point.
    M4F,
    /// Cortex-M7, costed as an M4F.
    M7,
    /// Cortex-M33 with DSP instructions.
    M33,
    /// Cortex-M55 with Helium.
    M55,
    /// 32-bit RISC-V with multiplication.
    RV32,
}

impl Core {
    /// The core that was measured in its place.
    pub fn measured(self) -> &'static str {
        match self {
            Core::M0 => "M0",
            Core::M3 => "M3",
            Core::M4F | Core::M7 => "M4F",
            Core::M33 => "M33",
            Core::M55 => "M55",
            Core::RV32 => "RV32",
        }
    }

    /// The core in a sentence, such as `a Cortex-M4F`.
    pub fn in_words(self) -> String {
        match self {
            Core::RV32 => "a RISC-V core (RV32)".into(),
            _ => format!("a Cortex-{self}"),
        }
    }
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFile {
    #[serde(default)]
    board: Vec<Board>,
}

/// All boards: those built in, then those of the user's config folder, then those of `file`. A later one
/// replaces an earlier one of the same name.
///
/// # Errors
/// When a file cannot be read or a board is not possible; the message names both.
pub fn boards(file: Option<&Path>) -> Result<Vec<Board>> {
    let mut found: BTreeMap<String, Board> = BTreeMap::new();
    let mut add = |boards: Vec<Board>| {
        boards.into_iter().for_each(|board| drop(found.insert(board.name.clone(), board)))
    };
    add(parse("the built-in boards", BUILT_IN)?);
    if let Some(path) = user_file().filter(|path| path.is_file()) {
        add(read(&path)?);
    }
    if let Some(path) = file {
        add(read(path)?);
    }
    Ok(found.into_values().collect())
}

/// The board of a name.
///
/// # Errors
/// When there is none; the message lists those there are.
pub fn board(boards: &[Board], name: &str) -> Result<Board> {
    let found = boards.iter().find(|board| board.name.eq_ignore_ascii_case(name));
    let Some(board) = found else {
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        bail!(
            "--board: no board `{name}`; there are {}. Give --flash, --ram and --core instead, or describe it in a \
             file (quaver boards --help)",
            names.join(", ")
        );
    };
    Ok(board.clone())
}

/// The user's file of boards, whether it exists or not.
pub fn user_file() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder =
        set("XDG_CONFIG_HOME").or_else(|| set("APPDATA")).or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("quaver").join("boards.toml"))
}

fn read(path: &Path) -> Result<Vec<Board>> {
    let shown = path.display().to_string();
    let text =
        fs::read_to_string(path).with_context(|| format!("{shown}: cannot read this file of boards"))?;
    parse(&shown, &text)
}

fn parse(file: &str, text: &str) -> Result<Vec<Board>> {
    let BoardFile { board: boards } = toml::from_str(text).with_context(|| {
        format!("{file}: a board is written\n\n[[board]]\nname = \"mine\"\ncore = \"M4F\"\nclock_mhz = 80\nflash_kib = 256\nram_kib = 64\n")
    })?;
    for board in &boards {
        let Board { name, clock_mhz, flash_kib, ram_kib, .. } = board;
        ensure!(
            !name.is_empty() && (0.001..=10_000.0).contains(clock_mhz) && *flash_kib > 0 && *ram_kib > 0,
            "{file}: board `{name}`: clock_mhz, flash_kib and ram_kib must be positive, and it needs a name"
        );
    }
    Ok(boards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_boards_are_possible_and_those_of_the_firmware_examples() {
        let boards = parse("built in", BUILT_IN).unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-examples");
        for name in
            ["rp2040-pico", "rp2350-pico2", "nrf52840-dk", "nucleo-f446re", "nucleo-h743zi", "netduinoplus2"]
        {
            assert!(boards.iter().any(|board| board.name == name), "{name}");
            assert!(examples.join(name).is_dir(), "{name}");
        }
    }

    #[test]
    fn a_file_adds_and_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards.toml");
        let entry = |name: &str| {
            format!(
                "[[board]]\nname = \"{name}\"\ncore = \"M3\"\nclock_mhz = 8\nflash_kib = 99\nram_kib = 4\n"
            )
        };
        fs::write(&path, entry("mine") + &entry("bluepill")).unwrap();
        let found = boards(Some(&path)).unwrap();
        assert_eq!(board(&found, "MINE").unwrap().flash_kib, 99);
        assert_eq!(board(&found, "bluepill").unwrap().flash_kib, 99);
        let error = board(&found, "yours").unwrap_err().to_string();
        assert!(error.contains("no board `yours`; there are") && error.contains("mine"), "{error}");
        fs::write(&path, entry("mine").replace("M3", "Z80")).unwrap();
        let error = format!("{:#}", boards(Some(&path)).unwrap_err());
        assert!(error.contains("boards.toml") && error.contains("Z80"), "{error}");
        fs::write(&path, entry("mine").replace("= 8", "= -8")).unwrap();
        assert!(boards(Some(&path)).unwrap_err().to_string().contains("board `mine`"));
    }
}
