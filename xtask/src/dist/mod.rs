//! `cargo xtask dist`: the package for C and C++: headers, libraries, examples, licences and checksums, for CMake,
//! pkg-config, Arduino, PlatformIO and Zephyr.

mod check;
mod licences;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bindings::library::{BOARDS, FOLDER, HOST, M4F, Variant};
use crate::bindings::scratch;
use crate::setup::{self, Needs};
use crate::shell::{Shell, root};

/// Libraries of the Arduino package: the folder that Arduino looks into, and the library. A core whose floats are
/// passed in general registers takes the one without FPU, even if it has one.
const ARDUINO: [(&str, &str); 10] = [
    ("cortex-m0", "cortex-m0"),
    ("cortex-m0plus", "cortex-m0"),
    ("cortex-m3", "cortex-m3"),
    ("cortex-m4", "cortex-m4"),
    ("cortex-m4/fpv4-sp-d16-softfp", "cortex-m4"),
    ("cortex-m4/fpv4-sp-d16-hard", "cortex-m4f"),
    ("cortex-m7", "cortex-m4"),
    ("cortex-m7/fpv5-d16-hard", "cortex-m4f"),
    ("cortex-m33", "cortex-m33"),
    ("cortex-m33/fpv5-sp-d16-hard", "cortex-m33f"),
];

/// Files and folders of `bindings/c` that are part of the package.
const COPIED: [(&str, &str); 6] = [
    ("include", "include"),
    ("examples", "examples"),
    ("README.md", "README.md"),
    ("package/zephyr", "zephyr"),
    ("package/cmake", "lib/cmake/quaver"),
    ("package/pkgconfig", "lib/pkgconfig"),
];

/// Makes the package with the libraries of all cores, and tries it in an empty folder.
pub(crate) fn run() -> Result<()> {
    setup::ensure(&Needs::everything()?)?;
    let folder = scratch("dist")?;
    let archive = make(&folder, &[&[HOST][..], &BOARDS].concat())?;
    println!("{}", archive.display());
    println!("{}", check::unpacked(&archive)?);
    Ok(())
}

/// The same with the libraries of this machine and of the one board that QEMU runs: quick enough for every change.
pub(crate) fn check_small() -> Result<String> {
    check::unpacked(&make(&scratch("dist-small")?, &[HOST, M4F])?)
}

/// Makes the package in a folder, and an archive next to it.
fn make(folder: &Path, variants: &[Variant]) -> Result<PathBuf> {
    let host = host()?;
    let name = format!("quaver-{}", version()?);
    let package = folder.join(&name);
    if package.exists() {
        fs::remove_dir_all(&package).with_context(|| format!("cannot empty {}", package.display()))?;
    }
    for (from, to) in COPIED {
        copy(&root().join(FOLDER).join(from), &package.join(to), &host)?;
    }
    for variant in variants {
        let core = if variant.target.is_some() { variant.name } else { &host };
        variant.package(&package.join("lib").join(core))?;
    }
    fs::copy(HOST.shared()?, package.join("lib").join(&host).join("libquaver.so"))?;
    cores(&package, variants)?;
    arduino(&package, &host)?;
    licences::collect(&package)?;
    checksums(&package)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    // The same files give the same archive.
    Shell::new("tar")
        .words("--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf")
        .argument(archive.display().to_string())
        .argument("-C")
        .argument(folder.display().to_string())
        .argument(name)
        .run()?;
    Ok(archive)
}

/// A table of the libraries: which core, which flags.
fn cores(package: &Path, variants: &[Variant]) -> Result<()> {
    let mut text = String::from("library\tcores\tflags of GCC\n");
    for variant in variants.iter().filter(|variant| variant.target.is_some()) {
        text.push_str(&format!("{}\t{}\t{}\n", variant.name, variant.cores, variant.flags));
    }
    fs::write(package.join("lib/cores.tsv"), text).context("cannot write lib/cores.tsv")
}

/// The library for Arduino and PlatformIO, with those of its cores that the package has.
fn arduino(package: &Path, host: &str) -> Result<()> {
    let folder = package.join("arduino/Quaver");
    let source = root().join(FOLDER);
    copy(&source.join("package/arduino"), &folder, host)?;
    fs::create_dir_all(folder.join("src"))?;
    fs::rename(folder.join("Quaver.h"), folder.join("src/Quaver.h"))?;
    copy(&source.join("include"), &folder.join("src"), host)?;
    fs::copy(source.join("examples/models/grip_force.h"), folder.join("examples/GripForce/grip_force.h"))?;
    for (place, core) in ARDUINO {
        let library = package.join("lib").join(core).join("libquaver.a");
        if library.exists() {
            fs::create_dir_all(folder.join("src").join(place))?;
            fs::copy(library, folder.join("src").join(place).join("libquaver.a"))?;
        }
    }
    Ok(())
}

/// Checksums of all files, as sha256sum writes and checks them.
fn checksums(package: &Path) -> Result<()> {
    let list = "find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum > SHA256SUMS";
    Shell::new("sh").argument("-c").argument(list).in_folder(package).run()?;
    Ok(())
}

/// Copies a file or a folder; in text files `@VERSION@` and the names of the host are filled in.
fn copy(from: &Path, to: &Path, host: &str) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()), host)?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = fs::read_to_string(from).with_context(|| format!("cannot read {}", from.display()))?;
    fs::write(to, filled_in(&text, &version()?, host))
        .with_context(|| format!("cannot write {}", to.display()))
}

fn filled_in(text: &str, version: &str, host: &str) -> String {
    let processor = host.split('-').next().unwrap_or(host);
    let system = if host.contains("linux") { "linux" } else { "other" };
    text.replace("@VERSION@", version)
        .replace("@HOST_PROCESSOR@", processor)
        .replace("@HOST_SYSTEM@", system)
        .replace("@HOST@", host)
}

/// The version of the crate.
fn version() -> Result<String> {
    let path = root().join(FOLDER).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(&path)?.parse()?;
    let version = manifest["package"]["version"].as_str().context("the crate has no version")?;
    Ok(version.into())
}

/// The target of this machine.
fn host() -> Result<String> {
    let version = Shell::new("rustc").argument("-vV").run()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    ensure!(host.contains("linux"), "packages are made on Linux; this is {host}");
    Ok(host.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in() {
        let text =
            filled_in("@VERSION@ @HOST@ @HOST_PROCESSOR@-@HOST_SYSTEM@", "1.2.3", "x86_64-unknown-linux-gnu");
        assert_eq!(text, "1.2.3 x86_64-unknown-linux-gnu x86_64-linux");
    }

    #[test]
    fn every_library_of_arduino_exists() {
        for (place, core) in ARDUINO {
            assert!(BOARDS.iter().any(|board| board.name == core), "{place}: {core}");
        }
    }
}
