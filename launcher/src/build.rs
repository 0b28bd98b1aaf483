//! The build before the program: as cargo shows it the first time, and without cargo's closing lines
//! afterwards.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write, stderr};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Brings the program up to date.
pub(crate) fn build(package: &OsStr, program: &OsStr, path: &Path) -> io::Result<ExitStatus> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--manifest-path"]);
    cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("Cargo.toml"));
    cargo.arg("--package").arg(package).arg("--bin").arg(program);
    cargo.stdin(Stdio::null()).stdout(Stdio::null());
    if path.exists() {
        return without_closing_lines(cargo);
    }
    eprintln!("building `{}` for the first time: {}", program.display(), duration(package));
    cargo.status()
}

/// How long the first build takes.
fn duration(package: &OsStr) -> &'static str {
    match package.to_str() {
        Some("quaver-trainer") => "about five minutes on two cores, nearly all of it for Burn, once",
        _ => "about half a minute on two cores, once",
    }
}

/// Shows what is compiled and what goes wrong; where nothing is to be done, nothing.
fn without_closing_lines(mut cargo: Command) -> io::Result<ExitStatus> {
    if stderr().is_terminal() && env::var_os("CARGO_TERM_COLOR").is_none() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = cargo.stderr(Stdio::piped()).spawn()?;
    if let Some(pipe) = child.stderr.take() {
        filter(pipe, stderr())?;
    }
    child.wait()
}

fn filter(from: impl Read, mut to: impl Write) -> io::Result<()> {
    for line in BufReader::new(from).split(b'\n') {
        let line = line?;
        if !is_closing(&String::from_utf8_lossy(&line)) {
            to.write_all(&line)?;
            to.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Whether it is cargo's ``Finished `release` profile …``, in colours or not.
fn is_closing(line: &str) -> bool {
    line.contains("Finished") && line.contains("`release`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut to = Vec::new();
        filter(text.as_bytes(), &mut to).expect("a write into memory");
        String::from_utf8(to).expect("text")
    }

    #[test]
    fn a_build_with_nothing_to_do_shows_nothing() {
        let plain = "    Finished `release` profile [optimized + debuginfo] target(s) in 0.20s\n";
        let coloured =
            "\x1b[1m\x1b[92m    Finished\x1b[0m `release` profile [optimized] target(s) in 0.20s\n";
        assert_eq!(shown(plain), "");
        assert_eq!(shown(coloured), "");
    }

    #[test]
    fn what_is_compiled_and_what_fails_is_shown() {
        let text = "   Compiling quaver v0.1.0\nerror[E0425]: cannot find value `x`\n\n  --> src/lib.rs\n";
        assert_eq!(shown(text), text);
    }
}
