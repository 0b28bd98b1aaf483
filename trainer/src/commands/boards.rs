//! `quaver boards`: the boards that `quaver fit` knows by name.

use std::path::PathBuf;

use anyhow::Result;

use super::print::{print_json, print_text};
use super::text_table;
use crate::auto::{Board, boards, user_file};

/// List the boards that `quaver fit --board` knows
///
/// Core, clock, flash and RAM of each. Boards of your own go into a file with sections
/// [[board]] name, chip, core, clock_mhz, flash_kib, ram_kib: in quaver/boards.toml in your config folder
/// ($XDG_CONFIG_HOME or ~/.config), or given by --boards. One of the same name replaces a built-in one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver boards
  quaver boards --boards lab.toml --json")]
pub struct Arguments {
    /// A file with further boards.
    #[arg(long, value_name = "FILE.toml")]
    boards: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let found = boards(arguments.boards.as_deref())?;
    if arguments.json {
        return print_json(&serde_json::json!({ "boards": found }));
    }
    let mut rows = vec![["board", "chip", "core", "clock", "flash", "RAM"].map(String::from).to_vec()];
    rows.extend(found.iter().map(row));
    let own = user_file()
        .map_or(String::new(), |path| format!("\nyour own boards: --boards FILE, or {}\n", path.display()));
    print_text(&(text_table::render(&rows) + &own))
}

fn row(board: &Board) -> Vec<String> {
    let Board { name, chip, core, clock_mhz, flash_kib, ram_kib } = board;
    let mib = |kib: u32| {
        if kib >= 1024 { format!("{} MiB", f64::from(kib) / 1024.0) } else { format!("{kib} KiB") }
    };
    vec![
        name.clone(),
        chip.clone(),
        core.to_string(),
        format!("{clock_mhz} MHz"),
        mib(*flash_kib),
        mib(*ram_kib),
    ]
}
