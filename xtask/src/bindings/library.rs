//! The libraries of `bindings/c`: built, made into one object, and looked into.
//!
//! What cargo calls a static library is an archive of hundreds of objects whose symbols are global: those of
//! the compiler's own library among them, so that two Rust libraries in one program collide. All objects that
//! the interface needs become one here, and every symbol but the interface's own is made local.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::archive::archive;
use crate::elf;
use crate::shell::Shell;

/// The folder of the crate.
pub(crate) const FOLDER: &str = "bindings/c";

/// What every global symbol begins with.
const PREFIX: &str = "quaver_";
/// What a host's C library has to provide: compilers call these for copies and comparisons.
const FROM_C_LIBRARY: [&str; 5] = ["memcpy", "memmove", "memset", "memcmp", "bcmp"];

/// What to build a library for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    /// The name of its folder in a package.
    pub(crate) name: &'static str,
    /// The target of the compiler; that of this machine if there is none.
    pub(crate) target: Option<&'static str>,
    /// A feature that forces kernels.
    pub(crate) feature: Option<&'static str>,
    /// Which cores it is for.
    pub(crate) cores: &'static str,
    /// Flags of GCC that fit it.
    pub(crate) flags: &'static str,
}

const fn board(
    name: &'static str,
    target: &'static str,
    cores: &'static str,
    flags: &'static str,
) -> Variant {
    Variant { name, target: Some(target), feature: None, cores, flags }
}

/// The library for this machine.
pub(crate) const HOST: Variant =
    Variant { name: "host", target: None, feature: None, cores: "this kind of computer", flags: "" };

/// The libraries for boards.
pub(crate) const BOARDS: [Variant; 8] = [
    board("cortex-m0", "thumbv6m-none-eabi", "Cortex-M0, M0+, M1", "-mcpu=cortex-m0 -mthumb"),
    board("cortex-m3", "thumbv7m-none-eabi", "Cortex-M3", "-mcpu=cortex-m3 -mthumb"),
    board(
        "cortex-m4",
        "thumbv7em-none-eabi",
        "Cortex-M4, M7 without FPU",
        "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft",
    ),
    M4F,
    board(
        "cortex-m33-nodsp",
        "thumbv8m.main-none-eabi",
        "Cortex-M33, M35P without DSP and FPU",
        "-mcpu=cortex-m33+nodsp -mthumb -mfloat-abi=soft",
    ),
    Variant {
        feature: Some("kernel-dsp"),
        ..board(
            "cortex-m33",
            "thumbv8m.main-none-eabi",
            "Cortex-M33, M35P, M55, M85 with DSP, without FPU",
            "-mcpu=cortex-m33 -mthumb -mfloat-abi=soft",
        )
    },
    Variant {
        feature: Some("kernel-dsp"),
        ..board(
            "cortex-m33f",
            "thumbv8m.main-none-eabihf",
            "Cortex-M33, M35P, M55, M85 with DSP and FPU",
            "-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
        )
    },
    board("riscv32imac", "riscv32imac-unknown-none-elf", "RV32IMAC", "-march=rv32imac -mabi=ilp32"),
];

/// The one that is tested in QEMU.
pub(crate) const M4F: Variant = board(
    "cortex-m4f",
    "thumbv7em-none-eabihf",
    "Cortex-M4F, M7F",
    "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
);

impl Variant {
    /// On this machine both libraries are made at once; boards have no shared ones.
    fn build_command(&self) -> Shell {
        let build = if self.target.is_none() { "build" } else { "rustc --crate-type staticlib" };
        let build = Shell::cargo(build)
            .words("--quiet --release --message-format json-render-diagnostics")
            .in_folder(FOLDER);
        let options = [("--target", self.target), ("--features", self.feature)];
        options
            .into_iter()
            .filter_map(|(option, value)| Some((option, value?)))
            .fold(build, |build, (option, value)| build.argument(option).argument(value))
    }

    /// Builds the shared library and returns its path.
    pub(crate) fn shared(&self) -> Result<PathBuf> {
        let path = artifact(&self.build_command(), ".so")?;
        let globals: Vec<String> =
            elf::dynamic_symbols(&path)?.into_iter().filter(|name| !name.starts_with(PREFIX)).collect();
        ensure!(globals.is_empty(), "{} exports {globals:?}", path.display());
        Ok(path)
    }

    /// Builds the static library, makes it one object with the symbols of the interface alone, and writes
    /// `libquaver.a` into a folder.
    pub(crate) fn package(&self, folder: &Path) -> Result<PathBuf> {
        let library = artifact(&self.build_command(), ".a")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let object = folder.join("quaver.o");
        let packed = self.one_object(&library, &object).with_context(|| format!("for {}", self.name));
        let symbols = packed?;
        let bytes = fs::read(&object).with_context(|| format!("cannot read {}", object.display()))?;
        fs::remove_file(&object)?;
        let path = folder.join("libquaver.a");
        fs::write(&path, archive("quaver.o", &bytes, &symbols))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Links the objects that the interface needs into one, and checks its symbols: those that it has and those
    /// that it needs. Returns the former.
    fn one_object(&self, library: &Path, object: &Path) -> Result<Vec<String>> {
        let linked = object.with_extension("linked.o");
        let interface = interface()?;
        let roots = interface.iter().fold(linker()?, |link, name| link.argument("-u").argument(name));
        roots
            .words("-r --gc-sections -o")
            .argument(linked.display().to_string())
            .argument(library.display().to_string())
            .run()?;
        objcopy()?
            .words("--strip-debug --remove-section .llvmbc --remove-section .llvmcmd --wildcard")
            .argument(format!("--keep-global-symbol={PREFIX}*"))
            .argument(linked.display().to_string())
            .argument(object.display().to_string())
            .run()?;
        fs::remove_file(&linked)?;
        let elf::Linkage { defined, undefined } = elf::linkage(object)?;
        check_linkage(&interface, &defined, &undefined, self.target.is_none())?;
        Ok(defined)
    }
}

/// No symbol but the interface, all of it, and nothing needed: a panic path would need `quaver_can_panic`, a heap
/// `malloc`.
fn check_linkage(interface: &[String], defined: &[String], undefined: &[String], host: bool) -> Result<()> {
    let foreign: Vec<_> = defined.iter().filter(|name| !interface.contains(name)).collect();
    ensure!(foreign.is_empty(), "the library defines {foreign:?}, which is not in quaver.h");
    let lacking: Vec<_> = interface.iter().filter(|name| !defined.contains(name)).collect();
    ensure!(lacking.is_empty(), "the library lacks {lacking:?}, which is in quaver.h");
    let allowed = |name: &String| host && FROM_C_LIBRARY.contains(&name.as_str());
    let needed: Vec<_> = undefined.iter().filter(|name| !allowed(name)).collect();
    ensure!(
        needed.is_empty(),
        "the library needs {needed:?}; quaver_can_panic stands for a panic path, malloc for a heap"
    );
    Ok(())
}

/// The functions that the header declares.
fn interface() -> Result<Vec<String>> {
    let path = crate::shell::root().join(FOLDER).join("include/quaver.h");
    let header = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let function = |line: &str| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        (!line.starts_with([' ', '#', '/']) && name.starts_with(PREFIX)).then(|| name.to_string())
    };
    let names: Vec<String> = header.lines().filter_map(function).collect();
    ensure!(names.len() > 50, "quaver.h declares {} functions alone", names.len());
    Ok(names)
}

/// The file with this ending that a build made.
fn artifact(build: &Shell, ending: &str) -> Result<PathBuf> {
    let messages = build.run()?;
    let mut made = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let names = message.get("filenames")?.as_array()?.clone();
        names.iter().filter_map(Value::as_str).find(|name| name.ends_with(ending)).map(PathBuf::from)
    });
    made.next_back().with_context(|| format!("no {ending} came of: {build}"))
}

/// A program of the compiler's own: its linker and its objcopy come with every toolchain of rustup.
fn compiler_tool(name: &str) -> Result<(Shell, PathBuf)> {
    let sysroot = PathBuf::from(Shell::new("rustc").words("--print sysroot").run()?.trim());
    let version = Shell::new("rustc").argument("-vV").run()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let path = sysroot.join("lib/rustlib").join(host).join("bin").join(name);
    if !path.exists() {
        bail!("the toolchain has no {name}; type: rustup component add llvm-tools");
    }
    Ok((Shell::new(path.display().to_string()), sysroot.join("lib")))
}

fn linker() -> Result<Shell> {
    Ok(compiler_tool("rust-lld")?.0.words("-flavor gnu"))
}

fn objcopy() -> Result<Shell> {
    let (shell, libraries) = compiler_tool("rust-objcopy")?;
    Ok(shell.variable("LD_LIBRARY_PATH", libraries.display().to_string()))
}

/// A panic path that is put in on purpose is found.
pub(super) fn check_panic_control(folder: &Path) -> Result<()> {
    let control = Variant { feature: Some("panic-control"), ..M4F };
    match control.package(folder) {
        Err(error) if format!("{error:#}").contains("quaver_can_panic\"") => Ok(()),
        Err(error) => Err(error),
        Ok(_) => bail!("a library with a panic path passes all the same: the check proves nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(String::from).collect()
    }

    #[test]
    fn foreign_missing_and_needed_symbols_are_found() {
        let interface = names(&["quaver_a", "quaver_b"]);
        let check = |defined: &[&str], undefined: &[&str], host| {
            check_linkage(&interface, &names(defined), &names(undefined), host)
        };
        assert!(check(&["quaver_a", "quaver_b"], &[], false).is_ok());
        assert!(check(&["quaver_a", "quaver_b"], &["memcpy"], true).is_ok());
        assert!(
            check(&["quaver_a", "quaver_b"], &["memcpy"], false).is_err(),
            "a board may have no C library"
        );
        assert!(check(&["quaver_a", "quaver_b"], &["quaver_can_panic"], true).is_err());
        assert!(check(&["quaver_a", "quaver_b", "rust_begin_unwind"], &[], true).is_err());
        assert!(check(&["quaver_a"], &[], true).is_err());
    }

    #[test]
    fn the_header_is_read() {
        let interface = interface().expect("the header");
        for name in
            ["quaver_version", "quaver_predictor_step", "quaver_rollouts_quantile", "quaver_splitmix64"]
        {
            assert!(interface.iter().any(|found| found == name), "{name}");
        }
    }
}
