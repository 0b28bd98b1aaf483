//! `cargo xtask boards`: builds, links and sizes the images of every board, and executes those that an
//! emulator can run: what they send must be what this machine predicts, bit for bit.

mod execute;
mod images;
mod readme;
mod rp2040js;
pub(crate) mod watch;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::shell::Shell;
use crate::{elf, image, table};
use execute::Emulator;
use images::{BOARDS, Board, Image};

/// What the boards share.
pub(crate) const COMMON: &str = "firmware-examples/common";
/// A negative control that hangs has failed; one that passes does so in a few seconds.
const CONTROL_LIMIT: Duration = Duration::from_secs(30);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only boards whose folders begin so, such as rp2040
    #[arg(value_name = "BOARD", default_value = "")]
    only: String,
    /// Write the table of sizes into firmware-examples/README.md
    #[arg(long)]
    write: bool,
}

/// An image that was built.
struct Built {
    board: &'static Board,
    image: &'static Image,
    flash: u64,
    ram: u64,
    /// What came of executing it, if it can be.
    executed: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let boards: Vec<&'static Board> =
        BOARDS.iter().filter(|board| board.folder.starts_with(&arguments.only)).collect();
    anyhow::ensure!(!boards.is_empty(), "no board's folder begins with `{}`", arguments.only);
    let mut built = Vec::new();
    for (board, image) in
        boards.iter().flat_map(|board| board.images.iter().map(move |image| (*board, image)))
    {
        eprintln!("building {}, {}", board.title(), image.title());
        built.push(build(board, image)?);
        built.last().map(row).into_iter().for_each(|row| eprintln!("  {}", row[2..].join(", ")));
    }
    let mut rows = vec![["board", "image", "flash", "RAM", "executed"].map(String::from).to_vec()];
    rows.extend(built.iter().map(row));
    table::print(&rows);
    if arguments.write {
        anyhow::ensure!(arguments.only.is_empty(), "--write needs the sizes of all boards");
        readme::write(&rows)?;
    }
    Ok(())
}

/// The stage of `cargo xtask test`: everything, in one line.
pub(crate) fn check() -> Result<String> {
    common("test --quiet --release --locked")?.run()?;
    let mut built = Vec::new();
    for board in BOARDS {
        built.extend(build_all(board)?);
    }
    let executed = built.iter().filter_map(|built| {
        let Built { board, image, executed, .. } = built;
        executed.as_ref().map(|line| format!("{} {}: {line}", board.folder, image.title()))
    });
    let executed: Vec<String> = executed.chain([fitted()?]).collect();
    Ok(format!("{} images of {} boards; {}", built.len(), BOARDS.len(), executed.join("; ")))
}

/// A model as `quaver fit` leaves it, in place of the demo's: built in by `QUAVER_FIT` and executed.
fn fitted() -> Result<String> {
    let is_emulated = |board: &&Board| board.folder == "netduinoplus2";
    let board = BOARDS.iter().find(is_emulated).context("no emulated board")?;
    let image = &board.images[0];
    let place = tempfile::tempdir().context("cannot make a temporary folder")?;
    fs::copy("firmware-examples/models/imu.qvr", place.path().join("model.qvr"))
        .context("no model of an IMU")?;
    let row = |step: u32| (0..6).map(|axis| format!("{}", f64::from(step * (axis + 1) % 17) / 8.0)).collect();
    let rows: Vec<Vec<String>> = (0..32).map(row).collect();
    let rows: Vec<String> = rows.iter().map(|cells| cells.join(",")).collect();
    let head = "# rate_hz = 50\n# input_units = m/s²\n# output_units = m/s²,°/s\nax,ay,az,gx,gy,gz\n";
    let text = format!("{head}{}\n,1,,1,1,1\n", rows.join("\n"));
    fs::write(place.path().join("replay.csv"), text).context("cannot write rows")?;
    let build = build_command(board, image)?.variable("QUAVER_FIT", place.path().display().to_string());
    let path = image::path_of(&build).context("a model of `quaver fit`")?;
    let emulator = image.emulator.as_ref().context("no emulator")?;
    Ok(format!("a fitted model: {}", execute(emulator, &path, image, execute::LIMIT, Some(place.path()))?))
}

/// The folders of all boards, each with a target.
pub(crate) fn folders() -> impl Iterator<Item = (PathBuf, &'static str)> {
    BOARDS.iter().map(|board| (board.path(), board.target))
}

/// One line of the table.
fn row(built: &Built) -> Vec<String> {
    let Built { board, image, flash, ram, executed } = built;
    let executed = executed.clone().unwrap_or_else(|| "linked".into());
    vec![board.title(), image.title(), flash.to_string(), ram.to_string(), executed]
}

fn build_all(board: &'static Board) -> Result<Vec<Built>> {
    board.images.iter().map(|image| build(board, image)).collect()
}

/// Builds an image, looks into it, and executes it. Images of several boards have the same name and share a
/// folder, in which the next one replaces it.
fn build(board: &'static Board, image: &'static Image) -> Result<Built> {
    let path = image::path_of(&build_command(board, image)?)
        .with_context(|| format!("{} {}", board.folder, image.name))?;
    let heap = elf::heap_symbols(&elf::symbols(&path)?);
    anyhow::ensure!(heap.is_empty(), "{} {} holds heap functions: {heap:?}", board.folder, image.name);
    let executed = match &image.emulator {
        Some(emulator) if image.must_fail => Some(fail(emulator, &path, image)?),
        Some(emulator) => Some(execute(emulator, &path, image, execute::LIMIT, None)?),
        None => None,
    };
    Ok(Built { board, image, flash: elf::flash_bytes(&path)?, ram: elf::ram_bytes(&path)?, executed })
}

fn build_command(board: &Board, image: &Image) -> Result<Shell> {
    let build = Shell::cargo("build --quiet --release --locked --bin")
        .argument(image.name)
        .words("--target")
        .argument(board.target)
        .in_folder(board.path());
    let build = build.variable("CARGO_TARGET_DIR", target_folder()?.display().to_string());
    Ok(image.feature.into_iter().fold(build, |build, feature| build.words("--features").argument(feature)))
}

/// Cargo for what the boards share, on this machine.
fn common(arguments: &str) -> Result<Shell> {
    let cargo = Shell::cargo(arguments).in_folder(COMMON);
    Ok(cargo.variable("CARGO_TARGET_DIR", target_folder()?.display().to_string()))
}

/// One folder for all boards, so that what they have in common is built once for each core.
fn target_folder() -> Result<PathBuf> {
    let folder = image::target_folder()?.join("boards");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// Runs a negative control. It may send wrong bits, crash or hang, but not pass.
fn fail(emulator: &Emulator, path: &Path, image: &Image) -> Result<String> {
    if let Some(missing) = emulator.missing()? {
        return Ok(format!("skipped, {missing}"));
    }
    let outcome = execute(emulator, path, image, CONTROL_LIMIT, None);
    anyhow::ensure!(outcome.is_err(), "{} passes, though it is made to fail", image.title());
    Ok("fails, as it must".into())
}

/// Runs an image, of the model in the folder `fit` if there is one, and compares what it sent with what this
/// machine predicts.
fn execute(
    emulator: &Emulator,
    path: &Path,
    image: &Image,
    limit: Duration,
    fit: Option<&Path>,
) -> Result<String> {
    if let Some(missing) = emulator.missing()? {
        return Ok(format!("skipped, {missing}"));
    }
    let out = tempfile::tempdir().context("cannot make a temporary folder")?;
    let sent = out.path().join("sent.bin");
    emulator.run(path, &sent, limit)?;
    // An emulator is ended after so many bytes, and frames of six outputs are longer than those of one.
    let rows = if fit.is_some() { execute::ROWS / 2 } else { execute::ROWS };
    let check = common("run --quiet --release --locked --features check --bin check --")?
        .argument(sent.display().to_string())
        .argument(rows.to_string());
    let check = fit.iter().fold(check, |check, fit| check.variable("QUAVER_FIT", fit.display().to_string()));
    let line = check.run().with_context(|| format!("{} differs from this machine", image.name))?;
    Ok(line.trim().into())
}
