//! The Python package: its wheel, built and tested in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::environment::Environment;
use super::host::golden_files;
use super::{SKIPPED, scratch};
use crate::image;
use crate::shell::{Shell, root};

/// The folder of the package.
pub(crate) const FOLDER: &str = "bindings/python";

/// What the tests need, in fixed versions.
const REQUIREMENTS: &str = "tests/requirements.txt";
/// Where the command line is put for the wheel.
const PROGRAM: &str = "python/quaver/bin";
/// Tests end within a minute or two, training included.
const LIMIT: Duration = Duration::from_secs(900);

/// Formatting and lints of the compiled half. Building it needs no Python.
pub(super) fn crate_lints() -> Result<String> {
    Shell::cargo("fmt --check").in_folder(FOLDER).run()?;
    Shell::cargo("clippy --quiet --release --locked -- -D warnings").in_folder(FOLDER).run()?;
    Ok("no warning".into())
}

/// Builds the wheel, installs it and runs its tests, the golden streams and the notebook among them.
pub(super) fn wheel() -> Result<String> {
    let environment = match environment()? {
        Ok(environment) => environment,
        Err(reason) => return Ok(format!("{SKIPPED}{reason}")),
    };
    let wheel = build(&environment)?;
    let install = environment.python("-m pip install --quiet --no-deps --no-index --force-reinstall");
    install.argument(wheel.display().to_string()).run()?;
    let tests = environment.python("-m pytest --quiet --color=no -p no:cacheprovider").in_folder(FOLDER);
    let printed =
        tests.variable("QUAVER_GOLDEN", golden_files()?.display().to_string()).limit(LIMIT).run()?;
    let summary = printed.lines().last().unwrap_or_default().to_string();
    ensure!(!summary.contains("skipped"), "tests of the wheel were skipped: {summary}");
    let bytes = fs::metadata(&wheel).with_context(|| format!("cannot read {}", wheel.display()))?.len();
    Ok(format!("{summary}; {:.1} MB, {}", bytes as f64 / 1e6, wheel.display()))
}

/// The environment with what the tests need.
fn environment() -> Result<Result<Environment, String>> {
    let path = root().join(FOLDER).join(REQUIREMENTS);
    let list = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let packages: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Environment::ready("python", &packages)
}

/// The wheel, with the command line in it.
fn build(environment: &Environment) -> Result<PathBuf> {
    copy_program(&root().join(FOLDER).join(PROGRAM))?;
    let folder = scratch("python")?.join("wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let maturin = Shell::new(environment.program("maturin")).words("build --quiet --release --locked --out");
    maturin.argument(folder.display().to_string()).in_folder(FOLDER).run()?;
    let wheels = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let wheels: Vec<PathBuf> = wheels.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let [wheel] = &wheels[..] else { anyhow::bail!("maturin has made {wheels:?}") };
    Ok(wheel.clone())
}

/// Puts the command line into a folder, without its debug symbols where there is a `strip`.
fn copy_program(folder: &Path) -> Result<()> {
    // As part of the workspace, for which Burn is built already.
    let program = image::path_of(&Shell::cargo("build --quiet --release --workspace --bin quaver"))?;
    let name = program.file_name().context("the program has no name")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let copy = folder.join(name);
    fs::copy(&program, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    if let Err(error) = Shell::new("strip").argument(copy.display().to_string()).run() {
        eprintln!("the wheel keeps the debug symbols of the program: {error}");
    }
    Ok(())
}
