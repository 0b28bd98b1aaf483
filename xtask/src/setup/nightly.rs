//! Tools that need a nightly toolchain: Miri and cargo-fuzz.
//!
//! Components go into the user's own toolchain without asking. A whole toolchain and a program are larger:
//! [`Permission`] decides.

use std::path::Path;

use anyhow::{Result, bail};

use super::permission::Permission;
use crate::shell::Shell;

/// A tool that runs on a nightly toolchain alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The interpreter that finds undefined behaviour.
    Miri,
    /// The driver of libFuzzer.
    Fuzz,
}

/// Something that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    name: &'static str,
    /// The command that installs it.
    command: &'static str,
    needs_permission: bool,
}

const TOOLCHAIN: Part = Part {
    name: "a nightly toolchain",
    command: "rustup toolchain install nightly --profile minimal",
    needs_permission: true,
};
const MIRI: Part = Part {
    name: "Miri",
    command: "rustup component add --toolchain nightly miri rust-src",
    needs_permission: false,
};
const FUZZ: Part =
    Part { name: "cargo-fuzz", command: "cargo install --locked cargo-fuzz", needs_permission: true };

/// A command of the nightly toolchain; it never installs one.
pub(crate) fn nightly(arguments: &str) -> Shell {
    Shell::new("rustup").words("run nightly").words(arguments)
}

/// In one line, what the tool lacks and what to type; `None` if it is ready.
pub(crate) fn missing(tool: Tool) -> Option<String> {
    in_one_line(&missing_parts(tool))
}

/// Installs what the tool lacks, as far as that is permitted.
///
/// # Errors
/// In one line, what to type.
pub(crate) fn ensure(tool: Tool) -> Result<()> {
    for part in missing_parts(tool) {
        if part.needs_permission && !Permission::here().grants(part.name, part.command) {
            break;
        }
        eprintln!("\nrunning: {}", part.command);
        let (program, arguments) = part.command.split_once(' ').unwrap_or((part.command, ""));
        if let Err(error) = Shell::new(program).words(arguments).show() {
            eprintln!("{error:#}");
        }
    }
    if let Some(line) = missing(tool) {
        bail!("{line}");
    }
    Ok(())
}

fn missing_parts(tool: Tool) -> Vec<Part> {
    let has_toolchain = starts(&nightly("rustc --version"));
    let (part, is_there) = match tool {
        Tool::Miri => (MIRI, has_toolchain && starts(&nightly("cargo miri --version")) && has_source()),
        Tool::Fuzz => (FUZZ, starts(&Shell::new("cargo-fuzz").argument("--version"))),
    };
    let parts = [(TOOLCHAIN, has_toolchain), (part, is_there)];
    parts.into_iter().filter_map(|(part, is_there)| (!is_there).then_some(part)).collect()
}

fn starts(command: &Shell) -> bool {
    command.capture().is_ok_and(|captured| captured.status.success())
}

/// Whether the nightly has the source of the standard library, which Miri builds for itself.
fn has_source() -> bool {
    let sysroot = nightly("rustc --print sysroot").run();
    sysroot.is_ok_and(|folder| Path::new(folder.trim()).join("lib/rustlib/src/rust/library").exists())
}

fn in_one_line(parts: &[Part]) -> Option<String> {
    let list =
        |part: fn(&Part) -> &'static str, between| parts.iter().map(part).collect::<Vec<_>>().join(between);
    let (names, commands) = (list(|part| part.name, " and "), list(|part| part.command, " && "));
    (!parts.is_empty()).then(|| format!("{names} missing; type: {commands}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_one_line_with_the_commands() {
        assert_eq!(in_one_line(&[]), None);
        assert_eq!(
            in_one_line(&[TOOLCHAIN, FUZZ]).as_deref(),
            Some(
                "a nightly toolchain and cargo-fuzz missing; type: rustup toolchain install nightly --profile \
                 minimal && cargo install --locked cargo-fuzz"
            )
        );
    }
}
