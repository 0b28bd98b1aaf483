//! The package in an empty folder, with nothing but a C compiler and CMake.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::machine::MACHINES;
use crate::setup::programs::{self, ARM_GCC, QEMU_ARM};
use crate::shell::Shell;

/// A row of the example, and the same with a missing channel.
const ROWS: &str = "14 9.5 8 4.25 6 11.5 20.25 17\n14 9.5 nan 4.25 6 11.5 20.25 17\n";
const LIMIT: Duration = Duration::from_secs(300);

/// Unpacks an archive, checks its checksums, builds the examples with CMake and with pkg-config, and runs them; with
/// the tools for it, also the firmware.
pub(super) fn unpacked(archive: &Path) -> Result<String> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let unpack = Shell::new("tar").argument("-xzf").argument(archive.display().to_string()).argument("-C");
    unpack.argument(folder.path().display().to_string()).run()?;
    let name = archive.file_name().context("an archive has a name")?.to_string_lossy();
    let package = folder.path().join(name.trim_end_matches(".tar.gz"));
    let in_package = |program: &str| Shell::new(program).in_folder(&package).limit(LIMIT);
    in_package("sha256sum").words("--check --quiet SHA256SUMS").run()?;
    in_package("cmake").words("-S examples -B build").argument(prefix(&package)).run()?;
    in_package("cmake").words("--build build").run()?;
    let printed = ["build/predict_c", "build/predict_cpp"].map(|program| predictions(&package, program));
    let [c, cpp] = printed;
    let (c, cpp) = (c?, cpp?);
    ensure!(c == cpp && c.lines().count() == 2, "the examples print {c:?} and {cpp:?}");
    in_package("build/control_loop").words("--fast --seconds 1").run()?;
    by_pkg_config(&package)?;
    let firmware = firmware(&package)?;
    Ok(format!("{}, {firmware}", archive.display()))
}

fn prefix(package: &Path) -> String {
    format!("-DCMAKE_PREFIX_PATH={}", package.display())
}

/// What an example prints for the rows.
fn predictions(package: &Path, program: &str) -> Result<String> {
    let command = format!("printf '{ROWS}' | {program}");
    Shell::new("sh").argument("-c").argument(command).in_folder(package).limit(LIMIT).run()
}

/// The C example by one line with pkg-config, against the static library.
fn by_pkg_config(package: &Path) -> Result<()> {
    let line = "cc -Iexamples/models examples/predict/predict.c \
                $(PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags --libs quaver) -lm -o predict";
    Shell::new("sh").argument("-c").argument(line).in_folder(package).run()?;
    ensure!(
        predictions(package, "./predict")?.lines().count() == 2,
        "the example built by pkg-config prints nothing"
    );
    Ok(())
}

/// The firmware example by CMake, on an emulated core.
fn firmware(package: &Path) -> Result<String> {
    if let Some(line) = programs::missing(&[ARM_GCC, QEMU_ARM]) {
        return Ok(format!("firmware skipped, {line}"));
    }
    let toolchain = package.join("examples/toolchains/cortex-m4f.cmake");
    let cmake = |arguments: &str| Shell::new("cmake").words(arguments).in_folder(package);
    cmake("-S examples -B build-m4f")
        .argument(prefix(package))
        .argument(format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display()))
        .run()?;
    cmake("--build build-m4f").run()?;
    let machine = MACHINES.iter().find(|machine| machine.core == "M4F").context("there is no M4F")?;
    let shown = machine.run(&package.join("build-m4f/cortex_m4f/grip_force.elf"))?;
    ensure!(shown.matches(" +- ").count() == 3, "the firmware shows no prediction: {shown}");
    Ok("firmware runs".into())
}
