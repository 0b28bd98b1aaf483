//! Rows of the test data, for a firmware that replays them to the model.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use super::understand::Understanding;
use crate::auto::Budget;
use crate::files;

/// Rows that are written, at most: some kilobytes of flash.
const MOST_ROWS: usize = 200;

/// Rows per second where nobody has said.
const DEFAULT_RATE_HZ: f64 = 10.0;

/// Boards whose firmware is in this repository, in folders of their names.
const WITH_FIRMWARE: [&str; 6] =
    ["netduinoplus2", "nrf52840-dk", "nucleo-f446re", "nucleo-h743zi", "rp2040-pico", "rp2350-pico2"];

/// Writes the first rows of the test data, or of the validation data without any, with rate and units.
pub(super) fn write(found: &Understanding, budget: &Budget, out: &Path) -> Result<()> {
    let data = &found.data;
    let sequence = data.test.first().or(data.valid.first());
    // A timer counts whole rows per second.
    let rate = budget.rate_hz.unwrap_or(DEFAULT_RATE_HZ).round().max(1.0);
    let units = |names: &[String]| -> String {
        names.iter().map(|name| found.unit(name).unwrap_or("")).collect::<Vec<_>>().join(",")
    };
    let mut text = format!(
        "# rate_hz = {rate}\n# input_units = {}\n# output_units = {}\n{}\n",
        units(&data.input_names),
        units(&data.target_names),
        data.input_names.iter().map(|name| plain(name)).collect::<Vec<_>>().join(",")
    );
    for row in sequence.iter().flat_map(|sequence| sequence.inputs.iter()).take(MOST_ROWS) {
        let cell = |value: &f32| if value.is_nan() { String::new() } else { value.to_string() };
        writeln!(text, "{}", row.iter().map(cell).collect::<Vec<_>>().join(","))
            .expect("a string takes any text");
    }
    files::replace(&out.join("replay.csv"), text.as_bytes())
}

/// A name as a cell of a line that is no comment.
fn plain(name: &str) -> String {
    name.replace(|character: char| ",#".contains(character) || character.is_control(), " ")
}

/// The command that flashes the model to the board of the budget, if its firmware is in this repository.
pub(super) fn flash_command(budget: &Budget, layout: &str, out: &str) -> Option<String> {
    let board = &budget.board.as_ref()?.name;
    let board = WITH_FIRMWARE.iter().find(|name| *name == board)?;
    // What an emulated board sends comes to the terminal, where lines are easier to read than frames.
    let features = match (layout == "float", *board == "netduinoplus2") {
        (false, false) => "",
        (true, false) => " --features float",
        (false, true) => " --features text",
        (true, true) => " --features float,text",
    };
    Some(format!("(cd firmware-examples/{board} && QUAVER_FIT={out} cargo run --release{features})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::{board, boards};

    #[test]
    fn names_leave_the_header_one_line_that_is_no_comment() {
        assert_eq!(["# of, steps", "a\nb"].map(plain), ["  of  steps", "a b"]);
    }

    #[test]
    fn every_board_with_firmware_has_its_folder_and_its_command() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-examples");
        let boards = boards(None).expect("built-in boards");
        for name in WITH_FIRMWARE {
            assert!(root.join(name).join("Cargo.toml").exists(), "{name}");
            let board = board(&boards, name).expect("a built-in board");
            let budget = Budget { board: Some(board), ..Budget::default() };
            let command = flash_command(&budget, "float", "/fitted").expect("a command");
            assert!(
                command.starts_with(&format!("(cd firmware-examples/{name} && QUAVER_FIT=/fitted ")),
                "{command}"
            );
            assert!(command.contains("--features float"), "{command}");
        }
        assert_eq!(flash_command(&Budget::default(), "fast", "/fitted"), None);
    }
}
